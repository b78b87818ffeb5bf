package main

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"aai"
	"aai/internal/policy"
	"aai/internal/session"
)

// A setting is one thing that a person can configure.
type setting struct {
	key string   // in the file; a dot stands for a group
	env []string // the first that is set counts
	get func(*config) any
	// set takes a value from JSON or a string from the environment.
	set func(c *config, home string, value any) error
}

// maxSeconds bounds every time a person can configure: an hour.
const maxSeconds = 3600

// settings is the table of all of them.
func settings() []setting {
	return slices.Concat([]setting{
		{"scanPaths", []string{"AAI_SCAN_PATHS"}, func(c *config) any { return c.ScanPaths }, setScanPaths},
		{"defaultTimeout", []string{"AAI_DEFAULT_TIMEOUT"}, func(c *config) any { return c.DefaultTimeout.Seconds() },
			seconds(false, func(c *config, d time.Duration) { c.DefaultTimeout = d })},
		{"rescanInterval", []string{"AAI_RESCAN_INTERVAL"}, func(c *config) any { return c.RescanInterval.Seconds() },
			seconds(true, func(c *config, d time.Duration) { c.RescanInterval = d })},
		{"logLevel", []string{"AAI_LOG_LEVEL", "AXTERMINATOR_LOG_LEVEL"}, func(c *config) any { return strings.ToLower(c.LogLevel.String()) }, setLogLevel},
		{"logFile", []string{"AAI_LOG_FILE"}, func(c *config) any { return c.LogFile }, file(func(c *config, p string) { c.LogFile = p })},
		{"auditLog", []string{"AAI_AUDIT_LOG", "AXTERMINATOR_AUDIT_LOG"}, func(c *config) any { return c.AuditLog }, file(func(c *config, p string) { c.AuditLog = p })},
		{"toolNames", []string{"AAI_TOOL_NAMES"}, func(c *config) any { return c.ToolNames }, setToolNames},
		{"profile", []string{"AAI_PROFILE"}, func(c *config) any { return c.Profile }, setProfile},
		{"dev", []string{"AAI_DEV"}, func(c *config) any { return c.Dev }, boolean(func(c *config, b bool) { c.Dev = b })},
		{"dbus.allowSystemBus", []string{"AAI_DBUS_ALLOW_SYSTEM_BUS"}, func(c *config) any { return c.AllowSystemBus },
			boolean(func(c *config, b bool) { c.AllowSystemBus = b })},
		{"keychain.insecure", []string{"AAI_INSECURE_STORAGE"}, func(c *config) any { return c.InsecureStorage },
			boolean(func(c *config, b bool) { c.InsecureStorage = b })},
		{"desktop.session", nil, func(c *config) any { return c.Session }, setSession},
		{"enableWebUI", nil, func(c *config) any { return c.WebUI }, boolean(func(c *config, b bool) { c.WebUI = b })},
		{"httpPort", nil, func(c *config) any { return c.HTTPPort }, setHTTPPort},
		{"consent.preapproved", nil, func(c *config) any { return c.preapprovedJSON }, setPreapproved},
	}, journalSettings(), webSettings(), loginSettings(), httpSettings(), policySettings())
}

// inHome is the path with the home folder in the place of "~".
func inHome(home, path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, "~"+string(filepath.Separator)) {
		return filepath.Join(home, path[1:])
	}
	return path
}

// expand makes a path absolute; "~" is the home folder.
func expand(home, path string) (string, error) {
	path = inHome(home, path)
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("expected an absolute path or one that begins with ~/, got %q", path)
	}
	return filepath.Clean(path), nil
}

func setScanPaths(c *config, home string, value any) error {
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
		p, err := expand(home, path)
		if err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
		absolute[i] = p
	}
	c.ScanPaths = absolute
	return nil
}

// seconds reads a time from a second to an hour; or none, where that means never.
func seconds(never bool, put func(*config, time.Duration)) func(*config, string, any) error {
	expected := fmt.Errorf("expected a number of seconds from 1 to %d", maxSeconds)
	if never {
		expected = fmt.Errorf("expected 0 for never, or a number of seconds from 1 to %d", maxSeconds)
	}
	return func(c *config, _ string, value any) error {
		n, ok := value.(float64)
		if s, isText := value.(string); isText {
			parsed, err := strconv.ParseFloat(s, 64)
			n, ok = parsed, err == nil
		}
		if !ok || !(1 <= n && n <= maxSeconds) && !(never && n == 0) {
			return expected
		}
		put(c, time.Duration(n*float64(time.Second)))
		return nil
	}
}

func setLogLevel(c *config, _ string, value any) error {
	s, _ := value.(string)
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "warning": slog.LevelWarn, "error": slog.LevelError}
	level, ok := levels[strings.ToLower(s)]
	if !ok {
		return errors.New(`expected "debug", "info", "warn" or "error"`)
	}
	c.LogLevel = level
	return nil
}

func setToolNames(c *config, _ string, value any) error {
	s, _ := value.(string)
	if s != namesSafe && s != namesCanonical {
		return fmt.Errorf("expected %q or %q", namesSafe, namesCanonical)
	}
	c.ToolNames = s
	return nil
}

func setProfile(c *config, _ string, value any) error {
	s, _ := value.(string)
	if s != profileApps && s != profileDesktop && s != profileAll {
		return fmt.Errorf("expected %q, %q or %q", profileApps, profileDesktop, profileAll)
	}
	c.Profile = s
	return nil
}

// setSession takes the screen that is to be operated. It is for the person's file
// alone: no variable of whoever starts the program chooses it.
func setSession(c *config, _ string, value any) error {
	s, ok := value.(string)
	isDisplay := strings.HasPrefix(s, ":") && len(s) > 1 && strings.Trim(s[1:], "0123456789.") == ""
	isName := s != "" && !strings.ContainsFunc(s, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'z') })
	if !ok || s != "" && !isDisplay && !isName {
		return fmt.Errorf("expected the id of a session such as \"2\", a display such as \":0\", or %q", session.ChosenSeat)
	}
	c.Session = s
	return nil
}

func setHTTPPort(c *config, _ string, value any) error {
	n, ok := value.(float64)
	if !ok || n != float64(int(n)) || n < 1 || n > 65535 {
		return errors.New("expected a port from 1 to 65535")
	}
	c.HTTPPort = int(n)
	return nil
}

func file(put func(*config, string)) func(*config, string, any) error {
	return func(c *config, home string, value any) error {
		s, ok := value.(string)
		if !ok || s == "" {
			return errors.New("expected a path")
		}
		path, err := expand(home, s)
		if err != nil {
			return err
		}
		put(c, path)
		return nil
	}
}

func boolean(put func(*config, bool)) func(*config, string, any) error {
	return func(c *config, _ string, value any) error {
		b, ok := value.(bool)
		if s, isText := value.(string); isText {
			parsed, err := strconv.ParseBool(s)
			b, ok = parsed, err == nil
		}
		if !ok {
			return errors.New("expected true or false")
		}
		put(c, b)
		return nil
	}
}

// setPreapproved reads what callers may do without being asked. Every part must
// be said: who, which app, which tools, until when.
func setPreapproved(c *config, _ string, value any) error {
	entries, ok := value.([]any)
	if !ok {
		return errors.New(`expected a list of {"app", "tools", "caller", "expires"}`)
	}
	var grants []policy.Grant
	for i, entry := range entries {
		more, err := preapproval(entry)
		if err != nil {
			return fmt.Errorf("[%d]%w", i, err)
		}
		grants = append(grants, more...)
	}
	c.Preapproved, c.preapprovedJSON = grants, value
	return nil
}

// preapproval reads one entry of the list. Its error begins with the place.
func preapproval(entry any) ([]policy.Grant, error) {
	const expected = `expected all of "app", "tools", "caller" and "expires"`
	fields, ok := entry.(map[string]any)
	if !ok {
		return nil, fmt.Errorf(": %s", expected)
	}
	identity, said := fields["identity"].(string)
	if _, given := fields["identity"]; given && (!said || identity == "") {
		return nil, errors.New(`.identity: expected who the caller is for certain, such as "/usr/bin/node /opt/agent/cli.js" or "http:work"`)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains([]string{"app", "tools", "caller", "identity", "expires"}, name) {
			return nil, fmt.Errorf(": there is no field %q; %s", aai.CleanLabel(name, 60), expected)
		}
	}
	for _, name := range []string{"app", "tools", "caller", "expires"} {
		if _, given := fields[name]; !given {
			return nil, fmt.Errorf(": %s", expected)
		}
	}
	app, _ := fields["app"].(string)
	if app == "" || app == policy.Every {
		return nil, errors.New(".app: expected the id of an app")
	}
	caller, _ := fields["caller"].(string)
	if caller == "" {
		return nil, errors.New(`.caller: expected a caller such as "mcp:claude-ai", or "*" for anyone`)
	}
	expires, _ := fields["expires"].(string)
	until, err := time.Parse(time.RFC3339, expires)
	if err != nil {
		return nil, errors.New(`.expires: expected a time such as "2027-01-31T12:00:00Z"`)
	}
	tools, _ := fields["tools"].([]any)
	if len(tools) == 0 {
		return nil, errors.New(`.tools: expected a list of names of tools, or ["*"] for every tool`)
	}
	grants := make([]policy.Grant, len(tools))
	for i, tool := range tools {
		name, _ := tool.(string)
		if name == "" {
			return nil, fmt.Errorf(`.tools[%d]: expected the name of a tool, or "*" for every tool`, i)
		}
		grants[i] = policy.Grant{Caller: caller, Identity: identity, App: app, Tool: name, Decision: policy.Allow, ExpiresAt: until}
	}
	return grants, nil
}
