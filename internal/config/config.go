// Package config reads the configuration: its values, the layer that each value comes from, and
// the values that widen the rights of callers. Its Editor lists settings and edits them in the
// file.
//
// The layers are flags, the environment, the person's file, axterminator's files (TOML) and the
// defaults: earlier layers win. Root's policy overrides all of them. Unknown or invalid input is
// an error that names the place. A value that widens rights has an effect only if a person
// confirmed it or root set it; otherwise the package notes it and keeps the previous value.
//
// The package accesses only the configuration file. Functions in Source provide ownership checks,
// root's policy and confirmations. The packages that use a value define its limits. The program
// applies the values.
package config

import (
	"cmp"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// Values of Config.ToolNames: how the MCP tool list names tools.
const (
	NamesSafe      = "safe"      // names that the APIs of most models accept
	NamesCanonical = "canonical" // such as "aai:exec", which most of them refuse
)

// Values of Config.Profile: the contents of the MCP tool list.
const (
	ProfileApps    = "apps"    // an entry for each app, and aai_exec
	ProfileDesktop = "desktop" // only the desktop tools
	ProfileAll     = "all"     // both
)

// A Config is the configuration in effect.
type Config struct {
	ScanPaths           []string      // folders with descriptors, absolute
	DefaultTimeout      time.Duration // of a tool without its own timeout
	RescanInterval      time.Duration // zero: only after a notification of the watcher
	ScanInterval        time.Duration // between scans for integrations; zero: no scans
	LogLevel            slog.Level
	LogFile             string // empty: standard error
	AuditLog            string // the journal's file
	ToolNames           string // NamesSafe or NamesCanonical
	Profile             string // ProfileApps, ProfileDesktop or ProfileAll
	AllowSystemBus      bool
	Preapproved         []policy.Grant // calls allowed without a question
	DevMode             bool           // for app developers; see the guide
	AllowedPrivateHosts []string       // hosts on private networks that may be reached
	InsecureStorage     bool           // the key of secrets may be stored in a file
	// WebUI and HTTPPort are the AAI protocol's settings of a web page, which this version lacks.
	// Enabling it produces a notice.
	WebUI    bool
	HTTPPort int
	HTTP     HTTP
	Policy   Policy
	Web      Web
	Login    Login
	Journal  Journal
	// WorkflowMaxMB is the maximum size of the workflows' database, in megabytes.
	WorkflowMaxMB int
	Pinned        []string // tools that agents are shown by themselves
	AskForHelp    bool     // in the forms of agents' clients
	ProjectFolder string   // of clients without roots; "": none
	Cache         Cache
	Vision        Vision
	Session       string // the session to operate; see session.Config.Choice
	ActingSign    bool   // the screen shows that an agent acts
	StopKey       string // such as "super+escape"; "" for none

	// InsecureStorageAtStart reports that a flag, the environment or root allows storing the key
	// of secrets in a file. It is known before any file of the person is read.
	InsecureStorageAtStart bool
	Unconfirmed            []reauth.Setting // settings without effect until a person confirms them
	Notes                  []string         // notices about settings without effect

	preapprovedJSON any // as written
	source          Source
	path            string  // of the person's file
	defaults        *Config // the state before any layer was read
	origins         map[string]string
}

// A Source is the input of a configuration. All fields except Getenv may be nil.
type Source struct {
	Getenv   func(string) string
	Environ  []string // all variables, as "name=value", to note those that look like settings but are not
	Home     string   // the folder that "~" expands to
	AuditLog string   // the default file of the journal
	Flags    Flags
	// FileOverride replaces the contents of the person's file; nil: the file is read.
	FileOverride []byte
	// RootPolicy returns root's policy, or nil if there is none. A policy file that cannot be
	// trusted is an error.
	RootPolicy func() ([]byte, error)
	// CheckOwned returns an error, worded for callers, if accounts other than this one and root
	// may have changed the paths.
	CheckOwned func(paths ...string) error
	// Confirmed returns the channel by which a person confirmed a widening setting, or "". At
	// least root's part of the configuration has been read by then.
	Confirmed func(*Config, reauth.Setting) (aai.Channel, error)
}

// Flags are the flags common to all commands. The zero value sets nothing.
type Flags struct {
	File            string // the configuration file
	LogLevel        string // "debug", "info", "warn" or "error"
	Dev             bool
	DevClient       string // identity of the client that started the gateway with --dev; empty: none or unknown
	InsecureStorage bool   // the key of secrets may be stored in a file
}

// Read reads the configuration. Unknown or invalid input is an error that names the place,
// because ignoring a setting that a person relies on would be unsafe.
func Read(s Source) (*Config, error) {
	c := &Config{
		ScanPaths:      []string{filepath.Join(s.Home, ".aai")},
		DefaultTimeout: aai.DefaultTimeout,
		RescanInterval: time.Minute,
		AuditLog:       s.AuditLog,
		ToolNames:      NamesSafe,
		Profile:        ProfileApps,
		HTTPPort:       3000,
		HTTP:           defaultHTTP(),
		Policy:         defaultPolicy(),
		Web:            defaultWeb(),
		Login:          defaultLogin(),
		Journal:        defaultJournal(),
		WorkflowMaxMB:  defaultWorkflowSize,
		Pinned:         []string{},
		Cache:          defaultCache(),
		ActingSign:     true, StopKey: defaultStopKey,
		Vision:  defaultVision(),
		source:  s,
		origins: map[string]string{},

		AllowedPrivateHosts:    []string{},
		InsecureStorageAtStart: s.Flags.InsecureStorage || isTrueVariable(s.Getenv("AAI_INSECURE_STORAGE")),
		preapprovedJSON:        []any{},
	}
	c.defaults = c.clone()
	for _, layer := range []func() error{c.readRoot, c.readAxterminator, c.readFile, c.readEnvironment, c.readFlags} {
		if err := layer(); err != nil {
			return nil, err
		}
	}
	c.noteUnknown()
	return c, nil
}

// readFlags applies the common flags.
func (c *Config) readFlags() error {
	f := c.source.Flags
	for _, flag := range []struct {
		given     bool
		key, name string
		value     any
	}{
		{f.LogLevel != "", "logLevel", "--log-level", f.LogLevel},
		{f.Dev, "dev", devOrigin(f.DevClient), true},
		{f.InsecureStorage, "keychain.insecure", "--insecure-storage", true},
	} {
		if !flag.given {
			continue
		}
		if err := c.Set(flag.key, flag.value, flag.name); err != nil {
			return err
		}
	}
	return nil
}

// readEnvironment reads AAI_* and the accepted older spellings.
func (c *Config) readEnvironment() error {
	for _, setting := range settingSpecs() {
		for _, name := range setting.env {
			value := c.source.Getenv(name)
			if value == "" {
				continue
			}
			if err := c.Set(setting.key, value, name); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// setAll sets settings in the order of their names. The error lists all invalid ones.
func (c *Config) setAll(values map[string]any, origin string) error {
	var wrong []*aai.Error
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := c.Set(key, values[key], origin); err != nil {
			wrong = append(wrong, aai.AsError(err))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	all := *wrong[0]
	for _, e := range wrong[1:] {
		all.Message += "; " + strings.TrimPrefix(e.Message, origin+": ")
		all.Hint = cmp.Or(all.Hint, e.Hint)
		all.Candidates = append(all.Candidates, e.Candidates...)
	}
	return &all
}

// Set sets the setting key to a value from JSON or from text. The origin, such as "--port",
// appears in errors. If root has set the setting, or if a widening value is not confirmed, Set
// keeps the previous value and returns no error.
func (c *Config) Set(key string, value any, origin string) error {
	known := settingSpecs()
	i := slices.IndexFunc(known, func(s settingSpec) bool { return s.key == key })
	if i < 0 {
		var names []string
		for _, s := range known {
			names = append(names, s.key)
		}
		e := invalid("%s: there is no setting %q", origin, aai.CleanLabel(key, 60))
		e.Candidates = nearestSettings(key, origin, names)
		if e.Hint = "Without it, aai-gateway config lists all settings."; len(e.Candidates) == 0 {
			e.Hint = "The settings are: " + strings.Join(names, ", ") + "."
		}
		return e
	}
	before := c.clone()
	if err := known[i].set(c, c.source.Home, value); err != nil {
		return invalid("%s: %s: %w", origin, key, err)
	}
	if c.isSetByRoot(key, origin) || !c.confirmWidening(known[i], before, origin) {
		before.Notes, before.Unconfirmed = c.Notes, c.Unconfirmed
		*c = *before
		return nil
	}
	c.origins[key] = origin
	return nil
}

func invalid(format string, args ...any) *aai.Error {
	return aai.Errorf(aai.InvalidParams, format, args...)
}

// Default is the origin of settings that are not set.
const Default = "default"

// Origin returns the origin of a setting: Default, a file, a variable or a flag.
func (c *Config) Origin(key string) string {
	if from, ok := c.origins[key]; ok {
		return from
	}
	return Default
}

// File returns the path of the person's configuration file, which may not exist.
func (c *Config) File() string { return c.path }

// Value returns the value in effect of the setting key, or nil for an unknown key.
func (c *Config) Value(key string) any {
	for _, r := range settingSpecs() {
		if r.key == key {
			return r.get(c)
		}
	}
	return nil
}

// Settings returns all settings, in the order of settingSpecs.
func (c *Config) Settings() []answer.SettingOrigin {
	var all []answer.SettingOrigin
	for _, r := range settingSpecs() {
		all = append(all, answer.SettingOrigin{Name: r.key, Value: r.get(c), Origin: c.Origin(r.key)})
	}
	return all
}
