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
	key     string // in the file; a dot separates the group
	summary string // its purpose: one sentence without its full stop
	widens  wideningRule
	env     []string // the first that is set counts
	settingValue
}

// settingSpecs returns all settings.
func settingSpecs() []settingSpec {
	return slices.Concat(
		commonSettings(), desktopSettings(), scanSettings(), journalSettings(), workflowSettings(), mcpSettings(), webSettings(),
		loginSettings(), visionSettings(), httpSettings(), policySettings(), axterminatorSettings(),
	)
}

func commonSettings() []settingSpec {
	return []settingSpec{
		{"scanPaths", "folders with <app id>/aai.json", widensIfChanged, []string{"AAI_SCAN_PATHS"},
			settingValue{kind: KindList, get: func(c *Config) any { return c.ScanPaths }, set: setScanPaths}},
		{"defaultTimeout", "how many seconds a tool may take that says nothing itself, 1 to 3600", widensNever,
			[]string{"AAI_DEFAULT_TIMEOUT"},
			secondsAt(1, maxSeconds, false, func(c *Config) *time.Duration { return &c.DefaultTimeout })},
		{"rescanInterval", "seconds between full looks for descriptors, 1 to 3600; 0: only when a folder is seen to change",
			widensNever,
			[]string{"AAI_RESCAN_INTERVAL"},
			secondsAt(1, maxSeconds, true, func(c *Config) *time.Duration { return &c.RescanInterval })},
		{"logLevel", "what is logged: every call, calls that failed, and so on; commands log from warn unless it is set",
			widensNever, bothSpellings("LOG_LEVEL"), settingValue{
				KindEnum, []string{"debug", "info", "warn", "error"},
				func(c *Config) any { return strings.ToLower(c.LogLevel.String()) }, setLogLevel,
			}},
		{"logFile", "a regular file for the log, as JSON lines; without it, standard error", widensIfChanged,
			[]string{"AAI_LOG_FILE"}, pathAt(func(c *Config) *string { return &c.LogFile })},
		{"auditLog", "the file of the journal", widensUnlessDefault, bothSpellings("AUDIT_LOG"),
			pathAt(func(c *Config) *string { return &c.AuditLog })},
		{"toolNames", "how tools are named for agents: canonical lists aai:exec and app:<id>, which most models' APIs refuse",
			widensNever, []string{"AAI_TOOL_NAMES"},
			choiceAt(func(c *Config) *string { return &c.ToolNames }, NamesSafe, NamesCanonical)},
		{"profile", "what agents are offered: apps, the desktop's windows, or all of it", widensNever,
			[]string{"AAI_PROFILE"},
			choiceAt(func(c *Config) *string { return &c.Profile }, ProfileApps, ProfileDesktop, ProfileAll)},
		{"dev", "for makers of apps: on macOS also look in Xcode's build folders; web apps of this computer, over http too",
			widensUnlessDefault, []string{"AAI_DEV"}, boolAt(func(c *Config) *bool { return &c.DevMode })},
		{"dbus.allowSystemBus", "whether tools may use the system bus", widensUnlessDefault,
			[]string{"AAI_DBUS_ALLOW_SYSTEM_BUS"}, boolAt(func(c *Config) *bool { return &c.AllowSystemBus })},
		{"keychain.insecure", "the key of secrets may lie in a file where there is no keychain", widensInUserFile,
			[]string{"AAI_INSECURE_STORAGE"}, boolAt(func(c *Config) *bool { return &c.InsecureStorage })},
		{"enableWebUI", "without effect but a warning, since aai-gateway web serves the page; the AAI protocol's name", widensNever, nil,
			boolAt(func(c *Config) *bool { return &c.WebUI })},
		{"httpPort", "the port of the web page, 1 to 65535; the AAI protocol's name", widensNever, nil,
			portAt(func(c *Config) *int { return &c.HTTPPort })},
		{"consent.preapproved",
			`what callers may do without a question: {"app", "tools", "caller", "identity", "expires"} each`,
			widensUnlessDefault, nil,
			settingValue{kind: KindList, get: func(c *Config) any { return c.preapprovedJSON }, set: setPreapproved}},
	}
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
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn,
		"warning": slog.LevelWarn, "error": slog.LevelError}
	level, ok := levels[strings.ToLower(s)]
	if !ok {
		return errors.New(`expected "debug", "info", "warn" or "error"`)
	}
	c.LogLevel = level
	return nil
}

// parseSession reads the session to operate. It is for the person's file alone: variables of the
// starting process must not choose it.
func parseSession(value any) (string, error) {
	s, ok := value.(string)
	isDisplay := strings.HasPrefix(s, ":") && len(s) > 1 && strings.Trim(s[1:], "0123456789.") == ""
	isName := s != "" && !strings.ContainsFunc(s,
		func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'z') })
	if !ok || s != "" && !isDisplay && !isName {
		return "",
			fmt.Errorf("expected the id of a session such as \"2\", a display such as \":0\", or %q", session.ChoiceAnySeat)
	}
	return s, nil
}
