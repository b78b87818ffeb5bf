// Package config is what a person has configured: the values, which layer each is from, and
// which of them widen what callers may do.
//
// The layers are flags, the environment, the person's file, the files of the desktop tools
// (axterminator's, in TOML) and the standard values: each wins over those after it. What root says holds over all of them. What is not understood
// is an error that names the place, never passed over. A value that lets callers do more
// than the standard one holds only where a person has confirmed it, or root says it; what
// does not hold is noted, and the value before it stays.
//
// The package touches the configuration file and nothing else: whose a file is, what root
// says and what was confirmed it is told by functions. What a value may be is asked of the
// room that uses it. It makes nothing of the values: that is the program's.
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
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// How tools are named in the MCP list.
const (
	NamesSafe      = "safe"
	NamesCanonical = "canonical"
)

// What the MCP list has.
const (
	ProfileApps    = "apps"    // an entry for each app, and aai_exec
	ProfileDesktop = "desktop" // the tools of the desktop, and nothing else
	ProfileAll     = "all"     // both
)

// A Config is the configuration in effect.
type Config struct {
	ScanPaths           []string      // folders with descriptors, absolute
	DefaultTimeout      time.Duration // of a tool that says none
	RescanInterval      time.Duration // zero: only when the watcher says so
	ScanInterval        time.Duration // between looks for ways into apps; zero: none
	LogLevel            slog.Level
	LogFile             string // empty: standard error
	AuditLog            string // the journal's file
	ToolNames           string // NamesSafe or NamesCanonical
	Profile             string // ProfileApps, ProfileDesktop or ProfileAll
	AllowSystemBus      bool
	Preapproved         []policy.Grant // what callers may do without being asked
	DevMode             bool           // for those who make apps; see the guide
	AllowedPrivateHosts []string       // hosts on private networks that may be asked
	InsecureStorage     bool           // the key of secrets may lie in a file
	// WebUI and HTTPPort are the AAI protocol's settings of a web page, which
	// this version does not have; whoever switches it on is told so.
	WebUI       bool
	HTTPPort    int
	HTTP        HTTP
	Policy      Policy
	Web         Web
	Login       Login
	Journal     Journal
	Cache       Cache
	VisionModel string // which model looks at pictures, once there is a tool that has one do so
	Session     string // whose screen is taken; see session.Config.Choice

	// InsecureStorageAtStart says that the key of secrets may lie in a file by the word of
	// whoever started us, or root's: it is known before anything of the person's is read.
	InsecureStorageAtStart bool
	Unconfirmed            []reauth.Setting // what does not hold, because nobody has confirmed it
	Notes                  []string         // what the person must know of what does not hold

	preapprovedJSON any // as it was written
	source          Source
	path            string  // of the person's file
	defaults        *Config // before anything was read
	origins         map[string]string
}

// A Source is where a configuration is read from. What is nil, but for Getenv, says nothing.
type Source struct {
	Getenv   func(string) string
	Environ  []string // all variables, as "name=value": those that look like settings and are none are noted
	Home     string   // the folder that "~" stands for
	AuditLog string   // the journal's file where nobody says another
	Flags    Flags
	// FileOverride is read in the place of what the person's file holds; nil: that is read.
	FileOverride []byte
	// RootPolicy returns what root says for everybody, nil for nothing. What is there and cannot
	// be trusted is an error.
	RootPolicy func() ([]byte, error)
	// CheckOwned says, as an error for callers, why others than this account and root may have
	// changed what is at the paths.
	CheckOwned func(paths ...string) error
	// Confirmed returns by which way a person has confirmed a setting that widens, "" for
	// none. Of the configuration at least root's part is read by then.
	Confirmed func(*Config, reauth.Setting) (aai.Channel, error)
}

// Flags are those of every command. The zero value says nothing.
type Flags struct {
	File            string // the configuration file
	LogLevel        string // "debug", "info", "warn" or "error"
	Dev             bool
	InsecureStorage bool // the key of secrets may lie in a file
}

// Read reads the configuration. What it does not understand is an error
// that names the place: a setting that somebody relies on must not be ignored.
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
		Cache:          defaultCache(),
		VisionModel:    "auto",
		source:         s,
		origins:        map[string]string{},

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

// readFlags takes what the flags of every command say.
func (c *Config) readFlags() error {
	f := c.source.Flags
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

// setAll gives settings their values, in the order of their names. The error names all that
// are wrong.
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

// Set gives the setting of that key a value, from JSON or from text. The origin is who says
// so, such as "--port": it stands in errors. Where the value does not hold, the one before
// it stays, which is no error.
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

// Default is the origin of what nobody has set.
const Default = "default"

// Origin says where a setting comes from: Default, a file, a variable or a flag.
func (c *Config) Origin(key string) string {
	if from, ok := c.origins[key]; ok {
		return from
	}
	return Default
}

// File is the person's configuration file, which need not be there.
func (c *Config) File() string { return c.path }

// Value is the setting in effect, nil of one that there is not.
func (c *Config) Value(key string) any {
	for _, r := range settingSpecs() {
		if r.key == key {
			return r.get(c)
		}
	}
	return nil
}

// A Setting is a value in effect.
type Setting struct {
	Name   string // its key in the file
	Value  any    // as JSON has it
	Origin string
}

// Settings are all of them, in the order of their table.
func (c *Config) Settings() []Setting {
	var all []Setting
	for _, r := range settingSpecs() {
		all = append(all, Setting{Name: r.key, Value: r.get(c), Origin: c.Origin(r.key)})
	}
	return all
}
