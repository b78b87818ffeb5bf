package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"aai"
	"aai/internal/doors/cli"
	"aai/internal/policy"
	"aai/internal/proof"
	"aai/internal/wholefile"
)

// How tools are named in the MCP list.
const (
	namesSafe      = "safe"
	namesCanonical = "canonical"
)

// What the MCP list has.
const (
	profileApps    = "apps"    // an entry for each app, and aai_exec
	profileDesktop = "desktop" // the tools of the desktop, and nothing else
	profileAll     = "all"     // both
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
	Profile         string
	AllowSystemBus  bool
	Preapproved     []policy.Grant
	Dev             bool
	AllowPrivate    []string // hosts on private networks that may be asked
	InsecureStorage bool     // the key of secrets may lie in a file
	preapprovedJSON any
	// WebUI and HTTPPort are the AAI protocol's settings of a web page, which
	// this version does not have; whoever switches it on is told so.
	WebUI    bool
	HTTPPort int
	HTTP     httpConfig // how agents are served over HTTP
	Policy   policyConfig
	Web      webConfig // how apps on the web are asked
	Login    loginConfig
	Journal  journalConfig
	Session  string // whose screen is taken; see session.Config.Choice

	source   source
	standard *config // before anything was read
	origins  map[string]string
	insecure bool // the key of secrets may lie in a file, by the word of who started us, or root's

	unconfirmed []proof.Setting // what does not hold
	notes       []string        // what the person must know of that
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

// A source is where a configuration is read from. What is nil says nothing.
type source struct {
	getenv   func(string) string
	home     string // the folder that "~" stands for
	auditLog string // the journal where nobody says another
	flags    cli.Flags
	// root returns what root says for everybody, nil for nothing.
	root func() ([]byte, error)
	// mine says why others than this account and root may have changed what is there.
	mine func(paths ...string) error
	// confirmed returns by which way a person has confirmed a setting that widens, "" for
	// none. Of the configuration root's part is read by then.
	confirmed func(*config, proof.Setting) (aai.Channel, error)
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
		AuditLog:       s.auditLog,
		ToolNames:      namesSafe,
		Profile:        profileApps,
		HTTPPort:       3000,
		HTTP:           defaultHTTP(),
		Policy:         defaultPolicy(),
		Web:            defaultWeb(),
		Login:          defaultLogin(),
		Journal:        defaultJournal(),
		source:         s,
		origins:        map[string]string{},
		insecure:       s.flags.InsecureStorage || truth(s.getenv("AAI_INSECURE_STORAGE")),

		AllowPrivate:    []string{},
		preapprovedJSON: []any{},
	}
	c.standard = c.copied()
	for _, layer := range []func() error{c.readRoot, c.readFile, c.readEnvironment, c.readFlags} {
		if err := layer(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// readFlags takes what the flags of every command say.
func (c *config) readFlags() error {
	f := c.source.flags
	for _, flag := range []struct {
		given     bool
		key, name string
		value     any
	}{
		{f.LogLevel != "", "logLevel", "--log-level", f.LogLevel},
		{f.Dev, "dev", "--dev", true},
		{f.InsecureStorage, "keychain.insecure", "--insecure-storage", true},
	} {
		if !flag.given {
			continue
		}
		if err := c.set(flag.key, flag.value, flag.name); err != nil {
			return err
		}
	}
	return nil
}

// readFile reads the file named by the flag, the environment, or nobody; only
// the last may be absent.
func (c *config) readFile() error {
	s := c.source
	path, named := s.flags.Config, true
	if path == "" {
		path = s.getenv("AAI_CONFIG")
	}
	if path == "" {
		path, named = filepath.Join(s.home, ".aai", "config.json"), false
	}
	path = inHome(s.home, path) // no shell has seen what a client's own settings hold
	b, err := wholefile.Read(path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil
	}
	if err != nil {
		return invalid("%s: the configuration cannot be read: %w", path, err)
	}
	if s.mine != nil {
		if err := s.mine(path, filepath.Dir(path)); err != nil {
			return err
		}
	}
	values, err := parseConfig(b)
	if err != nil {
		return invalid("%s: %w", path, err)
	}
	return c.setAll(values, path)
}

// setAll gives settings their values, in the order of their names.
func (c *config) setAll(values map[string]any, origin string) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := c.set(key, values[key], origin); err != nil {
			return err
		}
	}
	return nil
}

// parseConfig reads the settings of a file. A name that is given twice is an
// error, because one of the two would be ignored.
func parseConfig(b []byte) (map[string]any, error) {
	var value any
	if err := json.Unmarshal(b, &value); err != nil {
		return nil, jsonFault(b, err)
	}
	file, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("expected an object of settings")
	}
	return flatten(file)
}

// jsonFault says where in the file the fault is.
func jsonFault(b []byte, err error) error {
	var offset int64
	var place jsontext.Pointer
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset, place, err = e.ByteOffset, e.JSONPointer, e.Err
	} else if e, ok := errors.AsType[*json.SemanticError](err); ok && e.Err != nil {
		offset, place, err = e.ByteOffset, e.JSONPointer, e.Err
	}
	line := 1 + bytes.Count(b[:min(offset, int64(len(b)))], []byte("\n"))
	if place == "" {
		return fmt.Errorf("line %d: %w", line, err)
	}
	name := strings.ReplaceAll(strings.TrimPrefix(string(place), "/"), "/", ".")
	return fmt.Errorf("line %d: %s: %w", line, aai.CleanLabel(name, 60), err)
}

// flatten turns {"dbus": {"allowSystemBus": true}} into "dbus.allowSystemBus",
// which may also be written so, but not both.
func flatten(file map[string]any) (map[string]any, error) {
	values := make(map[string]any)
	for key, value := range file {
		group, ok := value.(map[string]any)
		if !ok || !isGroup(key) {
			values[key] = value
			continue
		}
		for name, inner := range group {
			full := key + "." + name
			if _, twice := file[full]; twice {
				return nil, fmt.Errorf("%q is given twice, once in its group", aai.CleanLabel(full, 60))
			}
			values[full] = inner
		}
	}
	return values, nil
}

// isGroup reports whether the key stands for several settings.
func isGroup(key string) bool {
	return slices.ContainsFunc(settings(), func(s setting) bool { return strings.HasPrefix(s.key, key+".") })
}

// readEnvironment reads AAI_* and the accepted older spellings.
func (c *config) readEnvironment() error {
	for _, setting := range settings() {
		for _, name := range setting.env {
			value := c.source.getenv(name)
			if value == "" {
				continue
			}
			if err := c.set(setting.key, value, name); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// set gives one setting a value, from JSON or from text.
func (c *config) set(key string, value any, origin string) error {
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
	before := c.copied()
	if err := known[i].set(c, c.source.home, value); err != nil {
		return invalid("%s: %s: %w", origin, key, err)
	}
	if c.fixed(key, origin) || !c.holds(known[i], before, origin) {
		before.notes, before.unconfirmed = c.notes, c.unconfirmed
		*c = *before
		return nil
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
