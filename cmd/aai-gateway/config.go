package main

import (
	"bytes"
	"crypto/x509"
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
	"aai/internal/session"
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
	AllowPrivate    []string       // hosts on private networks that may be asked
	InsecureStorage bool           // the key of secrets may lie in a file
	roots           *x509.CertPool // authorities for sites; nil: the system's
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

	session  *session.Room // finds what the person's session is, for all rooms
	platform platform
	origins  map[string]string

	grounds     grounds
	standard    *config         // before anything was read
	found       *session.Room   // as session, whatever screen is chosen
	asks        askedScreen     // where a person is asked
	elsewhere   bool            // the installation is not the account's own
	insecure    bool            // the key of secrets may lie in a file, by the word of who started us, or root's
	seals       *seals          // what was confirmed
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

// source is where a configuration is read from.
type source struct {
	getenv   func(string) string
	home     string
	platform platform
	flags    cli.Flags
	grounds  grounds
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
		Profile:        profileApps,
		HTTPPort:       3000,
		HTTP:           defaultHTTP(),
		Policy:         defaultPolicy(),
		Web:            defaultWeb(),
		Login:          defaultLogin(),
		Journal:        defaultJournal(),
		platform:       s.platform,
		origins:        map[string]string{},

		AllowPrivate:    []string{},
		preapprovedJSON: []any{},
	}
	c.standard = c.copied()
	c.stand(s)
	if err := c.ofOthers(s); err != nil {
		return nil, err
	}
	if err := c.readPolicy(s); err != nil {
		return nil, err
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
		if err := c.set(s.home, "dev", true, "--dev"); err != nil {
			return nil, err
		}
	}
	if s.flags.InsecureStorage {
		if err := c.set(s.home, "keychain.insecure", true, "--insecure-storage"); err != nil {
			return nil, err
		}
	}
	c.session = session.New(session.Config{Getenv: s.getenv, Choice: c.Session, Accepts: s.platform.accepts})
	c.asks = c.screens(s)
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
	path = inHome(s.home, path) // no shell has seen what a client's own settings hold
	b, err := wholefile.Read(path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil
	}
	if err != nil {
		return invalid("%s: the configuration cannot be read: %w", path, err)
	}
	if s.grounds.mine != nil {
		if err := errors.Join(s.grounds.mine(path), s.grounds.mine(filepath.Dir(path))); err != nil {
			return refusedFile(err)
		}
	}
	values, err := parseConfig(b)
	if err != nil {
		return invalid("%s: %w", path, err)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := c.set(s.home, key, values[key], path); err != nil {
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
	before := c.copied()
	if err := known[i].set(c, home, value); err != nil {
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
