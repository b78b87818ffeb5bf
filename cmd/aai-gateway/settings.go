package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"aai/internal/policy"
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
	return []setting{
		{"scanPaths", []string{"AAI_SCAN_PATHS"}, func(c *config) any { return c.ScanPaths }, setScanPaths},
		{"defaultTimeout", []string{"AAI_DEFAULT_TIMEOUT"}, func(c *config) any { return c.DefaultTimeout.Seconds() },
			seconds(1, func(c *config, d time.Duration) { c.DefaultTimeout = d })},
		{"rescanInterval", []string{"AAI_RESCAN_INTERVAL"}, func(c *config) any { return c.RescanInterval.Seconds() },
			seconds(0, func(c *config, d time.Duration) { c.RescanInterval = d })},
		{"logLevel", []string{"AAI_LOG_LEVEL", "AXTERMINATOR_LOG_LEVEL"}, func(c *config) any { return strings.ToLower(c.LogLevel.String()) }, setLogLevel},
		{"logFile", []string{"AAI_LOG_FILE"}, func(c *config) any { return c.LogFile }, file(func(c *config, p string) { c.LogFile = p })},
		{"auditLog", []string{"AAI_AUDIT_LOG", "AXTERMINATOR_AUDIT_LOG"}, func(c *config) any { return c.AuditLog }, file(func(c *config, p string) { c.AuditLog = p })},
		{"toolNames", []string{"AAI_TOOL_NAMES"}, func(c *config) any { return c.ToolNames }, setToolNames},
		{"dev", []string{"AAI_DEV"}, func(c *config) any { return c.Dev }, boolean(func(c *config, b bool) { c.Dev = b })},
		{"dbus.allowSystemBus", []string{"AAI_DBUS_ALLOW_SYSTEM_BUS"}, func(c *config) any { return c.AllowSystemBus },
			boolean(func(c *config, b bool) { c.AllowSystemBus = b })},
		{"enableWebUI", nil, func(c *config) any { return c.WebUI }, boolean(func(c *config, b bool) { c.WebUI = b })},
		{"httpPort", nil, func(c *config) any { return c.HTTPPort }, setHTTPPort},
		{"consent.preapproved", nil, func(c *config) any { return c.preapprovedJSON }, setPreapproved},
	}
}

// expand makes a path absolute; "~" is the home folder.
func expand(home, path string) (string, error) {
	if path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~\`) {
		path = filepath.Join(home, path[1:])
	}
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

// seconds reads a time in seconds, from least to an hour.
func seconds(least float64, put func(*config, time.Duration)) func(*config, string, any) error {
	return func(c *config, _ string, value any) error {
		n, ok := value.(float64)
		if s, isText := value.(string); isText {
			parsed, err := strconv.ParseFloat(s, 64)
			n, ok = parsed, err == nil
		}
		if !ok || !(n >= least && n <= maxSeconds) {
			return fmt.Errorf("expected a number of seconds from %g to %d", least, maxSeconds)
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
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var entries []struct {
		App     string    `json:"app"`
		Tools   []string  `json:"tools"`
		Caller  string    `json:"caller"`
		Expires time.Time `json:"expires"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&entries); err != nil {
		return fmt.Errorf(`expected a list of {"app", "tools", "caller", "expires"}: %w`, err)
	}
	var grants []policy.Grant
	for i, e := range entries {
		if e.App == "" || len(e.Tools) == 0 || e.Caller == "" || e.Expires.IsZero() {
			return fmt.Errorf(`[%d]: expected all of "app", "tools", "caller" and "expires"`, i)
		}
		for _, tool := range e.Tools {
			grants = append(grants, policy.Grant{Caller: e.Caller, App: e.App, Tool: tool, Decision: policy.Allow, ExpiresAt: e.Expires})
		}
	}
	c.Preapproved, c.preapprovedJSON = grants, value
	return nil
}
