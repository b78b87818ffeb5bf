package config

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway/internal/platform/linux/session"
)

// A settingSpec defines one setting.
type settingSpec struct {
	key    string // in the file; a dot separates the group
	widens wideningRule
	env    []string // the first that is set counts
	get    func(*Config) any
	// set takes a value from JSON or a string from the environment.
	set func(c *Config, home string, value any) error
}

// settingSpecs returns all settings.
func settingSpecs() []settingSpec {
	return slices.Concat([]settingSpec{
		{"scanPaths", widensIfChanged, []string{"AAI_SCAN_PATHS"}, func(c *Config) any { return c.ScanPaths }, setScanPaths},
		{"defaultTimeout", widensNever, []string{"AAI_DEFAULT_TIMEOUT"}, func(c *Config) any { return c.DefaultTimeout.Seconds() },
			durationSetter(false, func(c *Config, d time.Duration) { c.DefaultTimeout = d })},
		{"rescanInterval", widensNever, []string{"AAI_RESCAN_INTERVAL"}, func(c *Config) any { return c.RescanInterval.Seconds() },
			durationSetter(true, func(c *Config, d time.Duration) { c.RescanInterval = d })},
		{"logLevel", widensNever, []string{"AAI_LOG_LEVEL", "AXTERMINATOR_LOG_LEVEL"}, func(c *Config) any { return strings.ToLower(c.LogLevel.String()) }, setLogLevel},
		{"logFile", widensIfChanged, []string{"AAI_LOG_FILE"}, func(c *Config) any { return c.LogFile }, pathSetter(func(c *Config, p string) { c.LogFile = p })},
		{"auditLog", widensUnlessDefault, []string{"AAI_AUDIT_LOG", "AXTERMINATOR_AUDIT_LOG"}, func(c *Config) any { return c.AuditLog }, pathSetter(func(c *Config, p string) { c.AuditLog = p })},
		{"toolNames", widensNever, []string{"AAI_TOOL_NAMES"}, func(c *Config) any { return c.ToolNames }, setToolNames},
		{"profile", widensNever, []string{"AAI_PROFILE"}, func(c *Config) any { return c.Profile }, setProfile},
		{"dev", widensUnlessDefault, []string{"AAI_DEV"}, func(c *Config) any { return c.DevMode }, boolSetter(func(c *Config, b bool) { c.DevMode = b })},
		{"dbus.allowSystemBus", widensUnlessDefault, []string{"AAI_DBUS_ALLOW_SYSTEM_BUS"}, func(c *Config) any { return c.AllowSystemBus },
			boolSetter(func(c *Config, b bool) { c.AllowSystemBus = b })},
		{"keychain.insecure", widensInUserFile, []string{"AAI_INSECURE_STORAGE"}, func(c *Config) any { return c.InsecureStorage },
			boolSetter(func(c *Config, b bool) { c.InsecureStorage = b })},
		{"enableWebUI", widensNever, nil, func(c *Config) any { return c.WebUI }, boolSetter(func(c *Config, b bool) { c.WebUI = b })},
		{"httpPort", widensNever, nil, func(c *Config) any { return c.HTTPPort }, portSetter(func(c *Config, n int) { c.HTTPPort = n })},
		{"consent.preapproved", widensUnlessDefault, nil, func(c *Config) any { return c.preapprovedJSON }, setPreapproved},
	}, desktopSettings(), scanSettings(), journalSettings(), workflowSettings(), webSettings(), loginSettings(), httpSettings(), policySettings(), axterminatorSettings())
}

func setScanPaths(c *Config, home string, value any) error {
	var paths []string
	switch v := value.(type) {
	case string:
		paths = filepath.SplitList(v)
	case []any:
		for i, item := range v {
			s, ok := item.(string)
			if !ok {
				return fmt.Errorf("[%d]: expected a path", i)
			}
			paths = append(paths, s)
		}
	default:
		return errors.New("expected a list of paths")
	}
	absolute := make([]string, len(paths))
	for i, path := range paths {
		p, err := absolutePath(home, path)
		if err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
		absolute[i] = p
	}
	c.ScanPaths = absolute
	return nil
}

func setLogLevel(c *Config, _ string, value any) error {
	s, _ := value.(string)
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "warning": slog.LevelWarn, "error": slog.LevelError}
	level, ok := levels[strings.ToLower(s)]
	if !ok {
		return errors.New(`expected "debug", "info", "warn" or "error"`)
	}
	c.LogLevel = level
	return nil
}

func setToolNames(c *Config, _ string, value any) error {
	s, _ := value.(string)
	if s != NamesSafe && s != NamesCanonical {
		return fmt.Errorf("expected %q or %q", NamesSafe, NamesCanonical)
	}
	c.ToolNames = s
	return nil
}

func setProfile(c *Config, _ string, value any) error {
	s, _ := value.(string)
	if s != ProfileApps && s != ProfileDesktop && s != ProfileAll {
		return fmt.Errorf("expected %q, %q or %q", ProfileApps, ProfileDesktop, ProfileAll)
	}
	c.Profile = s
	return nil
}

// setSession sets the session to operate. It is for the person's file alone: variables of the
// starting process must not choose it.
func setSession(c *Config, _ string, value any) error {
	s, ok := value.(string)
	isDisplay := strings.HasPrefix(s, ":") && len(s) > 1 && strings.Trim(s[1:], "0123456789.") == ""
	isName := s != "" && !strings.ContainsFunc(s, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'z') })
	if !ok || s != "" && !isDisplay && !isName {
		return fmt.Errorf("expected the id of a session such as \"2\", a display such as \":0\", or %q", session.ChoiceAnySeat)
	}
	c.Session = s
	return nil
}
