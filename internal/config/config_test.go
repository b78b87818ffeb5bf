package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/lexicon"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// A testHome is a temporary home folder and environment of a person who has confirmed everything.
type testHome struct {
	home string
	env  map[string]string

	confirmed  func(reauth.Setting) aai.Channel // nil: everything is confirmed
	root       string                           // root's policy
	environ    []string
	checkOwned func(paths ...string) error
}

func newTestHome(t *testing.T) *testHome {
	t.Helper()
	return &testHome{home: t.TempDir(), env: map[string]string{}}
}

// file writes a file below the home folder and returns its path.
func (d *testHome) file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(d.home, name)
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (d *testHome) getenv(name string) string { return d.env[name] }

func (d *testHome) read(flags Flags) (*Config, error) {
	s := Source{Getenv: d.getenv, Environ: d.environ, Home: d.home, AuditLog: filepath.Join(d.home, "audit.jsonl"), Flags: flags, CheckOwned: d.checkOwned}
	s.Confirmed = func(_ *Config, w reauth.Setting) (aai.Channel, error) {
		if d.confirmed == nil {
			return aai.DesktopDialog, nil
		}
		return d.confirmed(w), nil
	}
	if d.root != "" {
		s.RootPolicy = func() ([]byte, error) { return []byte(d.root), nil }
	}
	return Read(s)
}

// readFile is read with the text as the configuration file; errors contain its path as "FILE".
func (d *testHome) readFile(t *testing.T, text string) (*Config, error) {
	t.Helper()
	path := d.file(t, ".aai/config.json", text)
	c, err := d.read(Flags{})
	if e, ok := errors.AsType[*aai.Error](err); ok {
		e.Message = strings.ReplaceAll(e.Message, path, "FILE")
	}
	return c, err
}

func mustRead(t *testing.T, c *Config, err error) *Config {
	t.Helper()
	assert.NilError(t, err)
	return c
}

// expectInvalid expects INVALID_PARAMS, which is exit code 2, with the message.
func expectInvalid(t *testing.T, err error, message string) {
	t.Helper()
	_ = invalidError(t, err, message)
}

// invalidError is expectInvalid, and returns the error for further checks.
func invalidError(t *testing.T, err error, message string) *aai.Error {
	t.Helper()
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, "expected INVALID_PARAMS: %s\ngot %v", message, err)
	assert.Equal(t, e.Code, aai.InvalidParams, "%s %v", message, err)
	assert.Check(t, is.Equal(e.Message, message))
	return e
}

func TestDefaults(t *testing.T) {
	d := newTestHome(t)
	c, err := d.read(Flags{})
	shown := mustRead(t, c, err).Settings()
	want := map[string]any{
		"scanPaths":           []string{filepath.Join(d.home, ".aai")},
		"defaultTimeout":      30.0,
		"rescanInterval":      60.0,
		"scan.interval":       0.0,
		"logLevel":            "info",
		"logFile":             "",
		"auditLog":            filepath.Join(d.home, "audit.jsonl"),
		"toolNames":           "safe",
		"profile":             "apps",
		"dev":                 false,
		"dbus.allowSystemBus": false,
		"desktop.session":     "", "desktop.actingSign": true, "desktop.stopKey": "super+escape",
		"keychain.insecure":   false,
		"net.allowPrivate":    []string{},
		"enableWebUI":         false,
		"httpPort":            3000,
		"consent.preapproved": []any{},
		"login.sites":         map[string]any{}, "login.env": []string{}, "login.clientDocument": "", "login.browser": true,
		"journal.maxAge": 30, "journal.maxSize": 500, "journal.rotateSize": 64, "journal.keepFull": false, "journal.answers": []string{}, "journal.pictures": []string{}, "journal.answersDays": 1, "workflow.maxSize": 256, "mcp.pinned": []string{}, "mcp.ask_for_help": false, "mcp.project_folder": "",

		"http.port": 8741, "http.bind": "127.0.0.1", "http.sse": false, "http.idle": 1800.0, "http.url": "",
		"http.hosts": []string{}, "http.origins": []string{}, "http.auth": "token", "http.issuer": "",
		"http.audience": []string{}, "http.scopes": []string{}, "http.clientId": "", "http.clientSecretFile": "",

		"server.security_mode": "normal", "server.confirm_destructive": true,
		"security.allowed_apps": []string{}, "security.denied_apps": []string{}, "security.destructive_words": lexicon.DestructiveWords(),
		"consent.dialog": "auto", "consent.elicitation": []string{}, "web.rate": 10.0, "cache.tree_ttl_ms": 0, "cache.screenshot_debounce_ms": 100, "vlm.backend": "auto", "vlm.model": "", "vlm.base_url": "", "vlm.input_price": 0.0, "vlm.output_price": 0.0,
		"rate_limits.rps": 50, "rate_limits.rpm": 1000, "rate_limits.concurrency": 20, "rate_limits.vlm_rpm": 10, "rate_limits.script_rpm": 5,
		"rate_limits.declared_rps": 500, "rate_limits.declared_rpm": 30000, "rate_limits.declared_concurrency": 128,
	}
	got := map[string]any{}
	for _, s := range shown {
		got[s.Name] = s.Value
		assert.Check(t, is.Equal(s.Origin, "default"), "%s comes from %q", s.Name, s.Origin)
	}
	assert.Check(t, is.DeepEqual(want, got))
	nothingIn(t, d.home)
}

// value returns a listed setting.
func value(c *Config, name string) (any, string) {
	for _, s := range c.Settings() {
		if s.Name == name {
			return s.Value, s.Origin
		}
	}
	return nil, "nowhere"
}

func TestFlagsWinOverEnvironmentOverFile(t *testing.T) {
	d := newTestHome(t)
	path := d.file(t, ".aai/config.json", `{"logLevel": "error", "dev": false, "toolNames": "canonical", "defaultTimeout": 5}`)
	d.env["AAI_LOG_LEVEL"], d.env["AAI_DEV"], d.env["AAI_DEFAULT_TIMEOUT"] = "warn", "false", "2.5"
	for _, step := range []struct {
		flags  Flags
		name   string
		value  any
		origin string
	}{
		{Flags{LogLevel: "debug", Dev: true}, "logLevel", "debug", "--log-level"},
		{Flags{LogLevel: "debug", Dev: true}, "dev", true, "--dev"},
		{Flags{}, "logLevel", "warn", "AAI_LOG_LEVEL"},
		{Flags{}, "dev", false, "AAI_DEV"},
		{Flags{}, "defaultTimeout", 2.5, "AAI_DEFAULT_TIMEOUT"},
		{Flags{}, "toolNames", "canonical", path},
		{Flags{}, "rescanInterval", 60.0, "default"},
	} {
		c, err := d.read(step.flags)
		got, origin := value(mustRead(t, c, err), step.name)
		assert.Check(t, is.Equal(got, step.value), step.name)
		assert.Check(t, is.Equal(origin, step.origin), step.name)
	}
	d.env = map[string]string{}
	c, err := d.read(Flags{})
	got, origin := value(mustRead(t, c, err), "logLevel")
	assert.Check(t, is.Equal(got, "error"))
	assert.Check(t, is.Equal(origin, path))
}

func TestOlderSpellingsOfTheEnvironment(t *testing.T) {
	d := newTestHome(t)
	d.env["AXTERMINATOR_LOG_LEVEL"], d.env["AXTERMINATOR_AUDIT_LOG"] = "debug", "~/old.jsonl"
	c, err := d.read(Flags{})
	mustRead(t, c, err)
	got, origin := value(c, "logLevel")
	assert.Check(t, is.Equal(got, "debug"))
	assert.Check(t, is.Equal(origin, "AXTERMINATOR_LOG_LEVEL"))
	got, _ = value(c, "auditLog")
	assert.Check(t, is.Equal(got, filepath.Join(d.home, "old.jsonl")))
	d.env["AAI_LOG_LEVEL"], d.env["AAI_AUDIT_LOG"] = "error", filepath.Join(d.home, "new.jsonl")
	c, err = d.read(Flags{})
	mustRead(t, c, err)
	got, origin = value(c, "logLevel")
	assert.Check(t, is.Equal(got, "error"))
	assert.Check(t, is.Equal(origin, "AAI_LOG_LEVEL"))
	got, _ = value(c, "auditLog")
	assert.Check(t, is.Equal(got, filepath.Join(d.home, "new.jsonl")), "with both set auditLog is %v", got)
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct{ name, text, message string }{
		{"nothing", "", "FILE: line 1: unexpected EOF"},
		{"null", "null", "FILE: expected an object of settings"},
		{"list", `["dev"]`, "FILE: expected an object of settings"},
		{"syntax", "{\n  \"dev\": true,\n  \"logLevel\" \"info\"\n}", `FILE: line 3: logLevel: invalid character '"' after object name (expecting ':')`},
		{"cut off", "{\n\n\"dev\": {", "FILE: line 3: dev: unexpected EOF"},
		{"comment", "{\n// mine\n}", "FILE: line 2: invalid character '/' at start of value"},
		{"trailing comma", "{\"dev\": true,\n}", "FILE: line 1: invalid character ',' at start of value"},
		{"trailing data", "{}\n{}", "FILE: line 2: invalid character '{' after top-level value"},
		{"trailing word", "{} x", "FILE: line 1: invalid character 'x' after top-level value"},
		{"twice", "{\"dev\": true,\n\"dev\": false}", "FILE: line 2: dev: duplicate object member name"},
		{"twice in a group", "{\"dbus\": {\"allowSystemBus\": false,\n\"allowSystemBus\": true}}", "FILE: line 2: dbus.allowSystemBus: duplicate object member name"},
		{"twice in an entry", `{"consent": {"preapproved": [{"app": "a.b", "app": "c.d"}]}}`, "FILE: line 1: consent.preapproved.0.app: duplicate object member name"},
		{"twice by an escape", `{"dev": true, "d\u0065v": false}`, "FILE: line 1: dev: duplicate object member name"},
		{"twice by the group", `{"dbus": {"allowSystemBus": false}, "dbus.allowSystemBus": true}`, `FILE: "dbus.allowSystemBus" is given twice, once in its group`},
		{"not UTF-8", "{\"logFile\": \"/\xff\"}", "FILE: line 1: logFile: invalid UTF-8"},
		{"too large a number", `{"defaultTimeout": 1e999}`, "FILE: line 1: defaultTimeout: value out of range"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newTestHome(t).readFile(t, c.text)
			expectInvalid(t, err, c.message)
		})
	}
}

func TestUnknownKeysAreNamed(t *testing.T) {
	for _, c := range []struct {
		text, message string
		nearest       string
	}{
		{`{"logLevl": "info"}`, `FILE: there is no setting "logLevl"`, "logLevel"},
		{`{"LogLevel": "info"}`, `FILE: there is no setting "LogLevel"`, "logLevel"},
		{`{"dev": true, "Dev": false}`, `FILE: there is no setting "Dev"`, "dev"},
		{`{"dbus": {"allowsystembus": true}}`, `FILE: there is no setting "dbus.allowsystembus"`, "dbus.allowSystemBus"},
		{`{"dbus": {"": true}}`, `FILE: there is no setting "dbus."`, "dbus.allowSystemBus"},
		{`{"dbus": true}`, `FILE: there is no setting "dbus"`, "dbus.allowSystemBus"},
		{`{"consent": {"preaproved": []}}`, `FILE: there is no setting "consent.preaproved"`, "consent.preapproved"},
		{`{"log": {"level": "info"}}`, `FILE: there is no setting "log"`, "logLevel"},
		{`{"log": {"loglevel": "info"}}`, `FILE: there is no setting "log"`, "logLevel"},
		{`{"security": {"allow": 1}}`, `FILE: there is no setting "security.allow"`, "security.allowed_apps"},
		{`{"zzzzzzzzzzzz": {}}`, `FILE: there is no setting "zzzzzzzzzzzz"`, ""},
		{`{"": 1}`, `FILE: there is no setting ""`, ""},
		{`{"a\u001b[31mb": 1}`, `FILE: there is no setting "a[31mb"`, ""},
	} {
		_, err := newTestHome(t).readFile(t, c.text)
		e := invalidError(t, err, c.message)
		if c.nearest != "" && (len(e.Candidates) == 0 || e.Candidates[0] != c.nearest) {
			t.Errorf("%s: the nearest are said to be %q", c.text, e.Candidates)
		}
		where := map[bool]string{true: "config lists", false: "defaultTimeout"}[len(e.Candidates) > 0]
		assert.Assert(t, len(e.Candidates) <= 3, "%s: candidates %q, hint %q; expected at most three, and where all are", c.text, e.Candidates, e.Hint)
		assert.Assert(t, is.Contains(e.Hint, where), "%s %q", c.text, e.Candidates)
	}
	_, err := newTestHome(t).readFile(t, `{"dbus": {}, "consent": {}}`)
	assert.Check(t, err, "groups with nothing in them: %v", err)
}

func TestWhichFileIsRead(t *testing.T) {
	d := newTestHome(t)
	missing := filepath.Join(d.home, "missing.json")
	if _, err := d.read(Flags{}); err != nil {
		t.Errorf("the file may be absent where nobody named it: %v", err)
	}
	_, err := d.read(Flags{File: missing})
	expectInvalid(t, err, missing+": the configuration cannot be read: no such file or directory")
	d.env["AAI_CONFIG"] = missing
	_, err = d.read(Flags{})
	expectInvalid(t, err, missing+": the configuration cannot be read: no such file or directory")

	d.file(t, ".aai/config.json", `{"httpPort": 1}`)
	d.file(t, "environment.json", `{"httpPort": 2}`)
	flag := d.file(t, "flag.json", `{"httpPort": 3}`)
	for _, c := range []struct {
		flag, env string
		port      int
	}{{"", "", 1}, {"", "~/environment.json", 2}, {flag, "~/environment.json", 3}, {"~/flag.json", missing, 3}} {
		d.env["AAI_CONFIG"] = c.env
		got, err := d.read(Flags{File: c.flag})
		if mustRead(t, got, err).HTTPPort != c.port {
			t.Errorf("with the flag %q and the environment %q the port is %d", c.flag, c.env, got.HTTPPort)
		}
	}
}

func TestAFileThatIsNone(t *testing.T) {
	d := newTestHome(t)
	folder := filepath.Join(d.home, "folder.json")
	assert.NilError(t, os.Mkdir(folder, 0o700))
	_, err := d.read(Flags{File: folder})
	expectInvalid(t, err, folder+": the configuration cannot be read: expected a regular file")

	large := d.file(t, "large.json", `{"logFile": "`+strings.Repeat("x", 1<<20)+`"}`)
	_, err = d.read(Flags{File: large})
	expectInvalid(t, err, large+": the configuration cannot be read: expected at most 1048576 bytes")

	full := `{"dev": true}`
	fits := d.file(t, "fits.json", full+strings.Repeat(" ", 1<<20-len(full)))
	c, err := d.read(Flags{File: fits})
	assert.Check(t, mustRead(t, c, err).DevMode, "a file of exactly 1 MiB was not read")
}

func TestBadEnvironment(t *testing.T) {
	for name, c := range map[string]struct{ value, message string }{
		"AAI_DEV":                   {"maybe", "AAI_DEV: dev: expected true or false"},
		"AAI_LOG_LEVEL":             {"loud", `AAI_LOG_LEVEL: logLevel: expected "debug", "info", "warn" or "error"`},
		"AXTERMINATOR_LOG_LEVEL":    {"5", `AXTERMINATOR_LOG_LEVEL: logLevel: expected "debug", "info", "warn" or "error"`},
		"AAI_DEFAULT_TIMEOUT":       {"30s", "AAI_DEFAULT_TIMEOUT: defaultTimeout: expected a number of seconds from 1 to 3600"},
		"AAI_RESCAN_INTERVAL":       {"NaN", "AAI_RESCAN_INTERVAL: rescanInterval: expected 0 for never, or a number of seconds from 1 to 3600"},
		"AAI_PROFILE":               {"screen", `AAI_PROFILE: profile: expected "apps", "desktop" or "all"`},
		"AAI_TOOL_NAMES":            {"Safe", `AAI_TOOL_NAMES: toolNames: expected "safe" or "canonical"`},
		"AAI_DBUS_ALLOW_SYSTEM_BUS": {"on", "AAI_DBUS_ALLOW_SYSTEM_BUS: dbus.allowSystemBus: expected true or false"},
		"AAI_AUDIT_LOG":             {"a.jsonl", `AAI_AUDIT_LOG: auditLog: expected an absolute path or one that begins with ~/, got "a.jsonl"`},
		"AAI_LOG_FILE":              {"./log", `AAI_LOG_FILE: logFile: expected an absolute path or one that begins with ~/, got "./log"`},
		"AAI_SCAN_PATHS":            {"~/a" + string(filepath.ListSeparator), `AAI_SCAN_PATHS: scanPaths: [1]: expected an absolute path or one that begins with ~/, got ""`},
	} {
		d := newTestHome(t)
		d.env[name] = c.value
		_, err := d.read(Flags{})
		expectInvalid(t, err, c.message)
	}
}

func nothingIn(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	assert.NilError(t, err, folder)
	assert.Assert(t, is.Len(entries, 0), folder)
}
