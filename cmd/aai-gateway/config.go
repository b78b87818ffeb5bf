package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aai"
	"aai/internal/doors/cli"
	"aai/internal/policy"
)

// How tools are named in the MCP list.
const (
	namesSafe      = "safe"
	namesCanonical = "canonical"
)

// config is the configuration in effect: flags win over the environment, the
// environment over the file, the file over the defaults.
type config struct {
	ScanPaths       []string
	DefaultTimeout  time.Duration
	RescanInterval  time.Duration // zero: only when the watcher says so
	LogLevel        slog.Level
	LogFile         string // empty: standard error
	AuditLog        string
	ToolNames       string
	AllowSystemBus  bool
	Preapproved     []policy.Grant
	Dev             bool
	preapprovedJSON any
	// WebUI and HTTPPort are the AAI protocol's settings of a web page, which
	// this version does not have; whoever switches it on is told so.
	WebUI    bool
	HTTPPort int

	platform platform
	origins  map[string]string
}

// originDefault is the origin of what nobody has set.
const originDefault = "default"

// origin says where a setting comes from.
func (c *config) origin(key string) string {
	if from, ok := c.origins[key]; ok {
		return from
	}
	return originDefault
}

// source is where a configuration is read from.
type source struct {
	getenv   func(string) string
	home     string
	platform platform
	flags    cli.Flags
}

// maxConfig is how large a configuration file may be, in bytes.
const maxConfig = 1 << 20

// readConfig reads the configuration. What it does not understand is an error
// that names the place: a setting that somebody relies on must not be ignored.
func readConfig(s source) (*config, error) {
	c := &config{
		ScanPaths:      []string{filepath.Join(s.home, ".aai")},
		DefaultTimeout: aai.DefaultTimeout,
		RescanInterval: time.Minute,
		AuditLog:       filepath.Join(s.platform.data, "audit.jsonl"),
		ToolNames:      namesSafe,
		HTTPPort:       3000,
		platform:       s.platform,
		origins:        map[string]string{},
	}
	if err := c.readFile(s); err != nil {
		return nil, err
	}
	if err := c.readEnvironment(s); err != nil {
		return nil, err
	}
	if s.flags.LogLevel != "" {
		if err := c.set(s.home, "logLevel", s.flags.LogLevel, "--log-level"); err != nil {
			return nil, err
		}
	}
	if s.flags.Dev {
		c.Dev, c.origins["dev"] = true, "--dev"
	}
	return c, nil
}

// readFile reads the file named by the flag, the environment, or nobody; only
// the last may be absent.
func (c *config) readFile(s source) error {
	path, named := s.flags.Config, true
	if path == "" {
		path = s.getenv("AAI_CONFIG")
	}
	if path == "" {
		path, named = filepath.Join(s.home, ".aai", "config.json"), false
	}
	b, err := readLimited(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil
	}
	if err != nil {
		return invalid("%s: the configuration cannot be read: %w", path, err)
	}
	var file map[string]any
	if err := json.Unmarshal(b, &file); err != nil {
		return invalid("%s: %s", path, jsonFault(b, err))
	}
	values := flatten(file)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := c.set(s.home, key, values[key], path); err != nil {
			return err
		}
	}
	return nil
}

func readLimited(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxConfig {
		return nil, fmt.Errorf("expected a regular file of at most %d bytes", maxConfig)
	}
	return os.ReadFile(path)
}

// jsonFault says where in the file the fault is.
func jsonFault(b []byte, err error) string {
	offset := int64(-1)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = e.Offset
	}
	if offset < 0 || offset > int64(len(b)) {
		return "expected an object of settings: " + err.Error()
	}
	line := 1 + strings.Count(string(b[:offset]), "\n")
	return fmt.Sprintf("line %d: %s", line, err)
}

// flatten turns {"dbus": {"allowSystemBus": true}} into "dbus.allowSystemBus".
func flatten(file map[string]any) map[string]any {
	values := make(map[string]any)
	for key, value := range file {
		group, ok := value.(map[string]any)
		if !ok {
			values[key] = value
			continue
		}
		for name, inner := range group {
			values[key+"."+name] = inner
		}
	}
	return values
}

// readEnvironment reads AAI_* and the accepted older spellings.
func (c *config) readEnvironment(s source) error {
	for _, setting := range settings() {
		for _, name := range setting.env {
			value := s.getenv(name)
			if value == "" {
				continue
			}
			if err := c.set(s.home, setting.key, value, name); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// set gives one setting a value, from JSON or from text.
func (c *config) set(home, key string, value any, origin string) error {
	known := settings()
	i := slices.IndexFunc(known, func(s setting) bool { return s.key == key })
	if i < 0 {
		var names []string
		for _, s := range known {
			names = append(names, s.key)
		}
		e := invalid("%s: there is no setting %q", origin, aai.CleanLabel(key, 60))
		e.Candidates = aai.Nearest(key, names, 3)
		e.Hint = "The settings are: " + strings.Join(names, ", ") + "."
		return e
	}
	if err := known[i].set(c, home, value); err != nil {
		return invalid("%s: %s: %w", origin, key, err)
	}
	c.origins[key] = origin
	return nil
}

func invalid(format string, args ...any) *aai.Error {
	return aai.Errorf(aai.InvalidParams, format, args...)
}

// show lists the settings in effect, in the order of their table.
func (c *config) show() []cli.Setting {
	var shown []cli.Setting
	for _, s := range settings() {
		shown = append(shown, cli.Setting{Name: s.key, Value: s.get(c), Origin: c.origin(s.key)})
	}
	return shown
}
