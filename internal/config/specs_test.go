package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/oauth"
	"github.com/gybob/aai-gateway/internal/policy"
)

func TestGoodSettings(t *testing.T) {
	for _, c := range []struct {
		text string
		want func(home string) any
		got  func(*Config) any
	}{
		{`{"scanPaths": ["~/apps", "/opt/aai/", "~"]}`,
			func(home string) any { return []string{filepath.Join(home, "apps"), "/opt/aai", home} }, func(c *Config) any { return c.ScanPaths }},
		{`{"scanPaths": []}`, func(string) any { return []string{} }, func(c *Config) any { return c.ScanPaths }},
		{`{"defaultTimeout": 1}`, func(string) any { return time.Second }, func(c *Config) any { return c.DefaultTimeout }},
		{`{"defaultTimeout": 3600}`, func(string) any { return time.Hour }, func(c *Config) any { return c.DefaultTimeout }},
		{`{"defaultTimeout": 1.5}`, func(string) any { return 1500 * time.Millisecond }, func(c *Config) any { return c.DefaultTimeout }},
		{`{"rescanInterval": 0}`, func(string) any { return time.Duration(0) }, func(c *Config) any { return c.RescanInterval }},
		{`{"scan": {"interval": 3600}}`, func(string) any { return time.Hour }, func(c *Config) any { return c.ScanInterval }},
		{`{"scan.interval": 0}`, func(string) any { return time.Duration(0) }, func(c *Config) any { return c.ScanInterval }},
		{`{"logLevel": "WARNING"}`, func(string) any { return slog.LevelWarn }, func(c *Config) any { return c.LogLevel }},
		{`{"logFile": "~/x/../log"}`, func(home string) any { return filepath.Join(home, "log") }, func(c *Config) any { return c.LogFile }},
		{`{"profile": "all"}`, func(string) any { return ProfileAll }, func(c *Config) any { return c.Profile }},
		{`{"toolNames": "canonical"}`, func(string) any { return NamesCanonical }, func(c *Config) any { return c.ToolNames }},
		{`{"dbus": {"allowSystemBus": true}}`, func(string) any { return true }, func(c *Config) any { return c.AllowSystemBus }},
		{`{"dbus.allowSystemBus": true}`, func(string) any { return true }, func(c *Config) any { return c.AllowSystemBus }},
		{`{"web": {"rate": 2.5}}`, func(string) any { return 2.5 }, func(c *Config) any { return c.Web.RequestsPerSecond }},
		{`{"net": {"allowPrivate": ["jira.example.com", "[fd12::1]:8443"]}}`,
			func(string) any { return []string{"jira.example.com", "[fd12::1]:8443"} }, func(c *Config) any { return c.AllowedPrivateHosts }},
		{`{"login": {"sites": {"a.example": {"redirectHost": "[::1]", "redirectPort": 65535}}}}`,
			func(string) any {
				return map[string]oauth.SiteSettings{"a.example": {RedirectHost: "[::1]", RedirectPort: 65535}}
			}, func(c *Config) any { return c.Login.Sites }},
		{`{"httpPort": 65535}`, func(string) any { return 65535 }, func(c *Config) any { return c.HTTPPort }},
		{`{"consent": {"preapproved": []}}`, func(string) any { return []policy.Grant(nil) }, func(c *Config) any { return c.Preapproved }},
	} {
		d := newTestHome(t)
		cfg, err := d.readFile(t, c.text)
		assert.Check(t, is.DeepEqual(c.want(d.home), c.got(mustRead(t, cfg, err))), "%s", c.text)
	}
}

func TestBadSettings(t *testing.T) {
	const (
		paths   = "FILE: scanPaths: expected a list of paths"
		timeout = "FILE: defaultTimeout: expected a number of seconds from 1 to 3600"
		rescan  = "FILE: rescanInterval: expected 0 for never, or a number of seconds from 1 to 3600"
		level   = `FILE: logLevel: expected "debug", "info", "warn" or "error"`
		port    = "FILE: httpPort: expected a port from 1 to 65535, or 0 for any that is free"
	)
	for text, message := range map[string]string{
		`{"scanPaths": {"a": "/b"}}`:                                   paths,
		`{"scanPaths": null}`:                                          paths,
		`{"scanPaths": ["/a", 7]}`:                                     "FILE: scanPaths: [1]: expected a path",
		`{"scanPaths": ["apps"]}`:                                      `FILE: scanPaths: [0]: expected an absolute path or one that begins with ~/, got "apps"`,
		`{"scanPaths": ["~ann/apps"]}`:                                 `FILE: scanPaths: [0]: expected an absolute path or one that begins with ~/, got "~ann/apps"`,
		`{"scanPaths": ["$HOME/apps"]}`:                                `FILE: scanPaths: [0]: expected an absolute path or one that begins with ~/, got "$HOME/apps"`,
		`{"defaultTimeout": 0}`:                                        timeout,
		`{"net.allowPrivate": "*"}`:                                    `FILE: net.allowPrivate: expected a list of hosts such as "jira.example.com" or "10.1.2.3:8443"`,
		`{"net.allowPrivate": ["a.b", "*.c"]}`:                         `FILE: net.allowPrivate: [1]: expected a host such as "jira.example.com" or "10.1.2.3:8443": not a name that DNS can look up`,
		`{"net.allowPrivate": ["https://a.b"]}`:                        `FILE: net.allowPrivate: [0]: expected a host such as "jira.example.com" or "10.1.2.3:8443": expected a port from 1 to 65535 after the colon`,
		`{"defaultTimeout": -1}`:                                       timeout,
		`{"defaultTimeout": 3600.1}`:                                   timeout,
		`{"defaultTimeout": true}`:                                     timeout,
		`{"defaultTimeout": null}`:                                     timeout,
		`{"rescanInterval": 0.001}`:                                    rescan,
		`{"rescanInterval": -0.5}`:                                     rescan,
		`{"rescanInterval": []}`:                                       rescan,
		`{"scan": {"interval": 59}}`:                                   "FILE: scan.interval: expected 0 for never, or a number of seconds from 60 to 604800",
		`{"scan.interval": "often"}`:                                   "FILE: scan.interval: expected 0 for never, or a number of seconds from 60 to 604800",
		`{"logLevel": 1}`:                                              level,
		`{"logLevel": ""}`:                                             level,
		`{"logFile": ""}`:                                              "FILE: logFile: expected a path",
		`{"logFile": false}`:                                           "FILE: logFile: expected a path",
		`{"auditLog": "audit.jsonl"}`:                                  `FILE: auditLog: expected an absolute path or one that begins with ~/, got "audit.jsonl"`,
		`{"journal": {"maxAge": 0}}`:                                   "FILE: journal.maxAge: expected a number of days from 1 to 3650",
		`{"journal": {"maxSize": 1.5}}`:                                "FILE: journal.maxSize: expected a number of megabytes from 1 to 100000",
		`{"journal": {"rotateSize": 1e300}}`:                           "FILE: journal.rotateSize: expected a number of megabytes from 1 to 1000",
		`{"journal": {"rotateSize": "many"}}`:                          "FILE: journal.rotateSize: expected a number of megabytes from 1 to 1000",
		`{"journal": {"keepFull": "perhaps"}}`:                         "FILE: journal.keepFull: expected true or false",
		`{"workflow": {"maxSize": 15}}`:                                "FILE: workflow.maxSize: expected a number of megabytes from 16 to 100000",
		`{"toolNames": "both"}`:                                        `FILE: toolNames: expected "safe" or "canonical"`,
		`{"toolNames": ["safe"]}`:                                      `FILE: toolNames: expected "safe" or "canonical"`,
		`{"dev": 1}`:                                                   "FILE: dev: expected true or false",
		`{"dev": null}`:                                                "FILE: dev: expected true or false",
		`{"dbus": {"allowSystemBus": {}}}`:                             "FILE: dbus.allowSystemBus: expected true or false",
		`{"web": {"rate": 0}}`:                                         "FILE: web.rate: expected a number of requests a second from 0.1 to 10000",
		`{"web": {"rate": 10001}}`:                                     "FILE: web.rate: expected a number of requests a second from 0.1 to 10000",
		`{"web": {"rate": "fast"}}`:                                    "FILE: web.rate: expected a number of requests a second from 0.1 to 10000",
		`{"enableWebUI": 0}`:                                           "FILE: enableWebUI: expected true or false",
		`{"httpPort": -1}`:                                             port,
		`{"httpPort": 65536}`:                                          port,
		`{"httpPort": 80.5}`:                                           port,
		`{"httpPort": "http"}`:                                         port,
		`{"httpPort": 1e300}`:                                          port,
		`{"login": {"sites": {"a.example": {"redirectPort": 65536}}}}`: "FILE: login.sites: [\"a.example\"].redirectPort: expected a port from 1 to 65535",
		`{"login": {"sites": {"a.example": {"redirectPort": -1}}}}`:    "FILE: login.sites: [\"a.example\"].redirectPort: expected a port from 1 to 65535",
		`{"login": {"sites": {"a.example": {"redirectHost": "::1"}}}}`: `FILE: login.sites: ["a.example"].redirectHost: expected "127.0.0.1", "[::1]" or "localhost"`,
		`{"consent": {"preapproved": {}}}`:                             `FILE: consent.preapproved: expected a list of {"app", "tools", "caller", "expires"}`,
		`{"consent": {"preapproved": null}}`:                           `FILE: consent.preapproved: expected a list of {"app", "tools", "caller", "expires"}`,
		`{"consent": {"preapproved": "always"}}`:                       `FILE: consent.preapproved: expected a list of {"app", "tools", "caller", "expires"}`,
	} {
		_, err := newTestHome(t).readFile(t, text)
		t.Run(text, func(t *testing.T) { expectInvalid(t, err, message) })
	}
}

func TestPreapproved(t *testing.T) {
	text := `{"consent": {"preapproved": [
		{"app": "org.example.bus", "tools": ["*"], "caller": "*", "expires": "2027-01-01T00:00:00Z"},
		{"app": "org.example.mail", "tools": ["read", "send"], "caller": "mcp:claude-ai", "expires": "2027-01-01T02:00:00+02:00"}]}}`
	c, err := newTestHome(t).readFile(t, text)
	mustRead(t, c, err)
	until := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	want := []policy.Grant{
		{App: "org.example.bus", Tool: "*", Caller: "*", Decision: policy.Allow, ExpiresAt: until, Channel: aai.DesktopDialog},
		{App: "org.example.mail", Tool: "read", Caller: "mcp:claude-ai", Decision: policy.Allow, ExpiresAt: until, Channel: aai.DesktopDialog},
		{App: "org.example.mail", Tool: "send", Caller: "mcp:claude-ai", Decision: policy.Allow, ExpiresAt: until, Channel: aai.DesktopDialog},
	}
	assert.Check(t, is.DeepEqual(want, c.Preapproved))
	// The listed value is the written one.
	var written map[string]map[string]any
	assert.NilError(t, json.Unmarshal([]byte(text), &written))
	shown, _ := value(c, "consent.preapproved")
	assert.Check(t, is.DeepEqual(written["consent"]["preapproved"], shown))
}

func TestBadPreapproved(t *testing.T) {
	const all = `expected all of "app", "tools", "caller" and "expires"`
	good := map[string]string{"app": `"a.b"`, "tools": `["x"]`, "caller": `"*"`, "expires": `"2027-01-01T00:00:00Z"`}
	with := func(name, text string) string {
		entry := ""
		for _, field := range []string{"app", "tools", "caller", "expires"} {
			given := good[field]
			if field == name {
				given = text
			}
			if given != "" {
				entry += fmt.Sprintf(", %q: %s", field, given)
			}
		}
		return "{" + entry[2:] + "}"
	}
	for _, c := range []struct{ entry, message string }{
		{`7`, ": " + all},
		{`null`, ": " + all},
		{`{}`, ": " + all},
		{with("app", ""), ": " + all},
		{with("tools", ""), ": " + all},
		{with("caller", ""), ": " + all},
		{with("expires", ""), ": " + all},
		{with("expires", `"2027-01-01T00:00:00Z", "note": "why"`), `: there is no field "note"; ` + all},
		{with("app", `"a.b", "App": "c.d"`), `: there is no field "App"; ` + all},
		{with("app", `""`), ".app: expected the id of an app"},
		{with("app", `"*"`), ".app: expected the id of an app"},
		{with("app", `["a.b"]`), ".app: expected the id of an app"},
		{with("tools", `"x"`), `.tools: expected a list of names of tools, or ["*"] for every tool`},
		{with("tools", `[]`), `.tools: expected a list of names of tools, or ["*"] for every tool`},
		{with("tools", `null`), `.tools: expected a list of names of tools, or ["*"] for every tool`},
		{with("tools", `["x", ""]`), `.tools[1]: expected the name of a tool, or "*" for every tool`},
		{with("tools", `[7]`), `.tools[0]: expected the name of a tool, or "*" for every tool`},
		{with("caller", `""`), `.caller: expected a caller such as "mcp:claude-ai", or "*" for anyone`},
		{with("caller", `null`), `.caller: expected a caller such as "mcp:claude-ai", or "*" for anyone`},
		{with("expires", `"2027-01-01"`), `.expires: expected a time such as "2027-01-31T12:00:00Z"`},
		{with("expires", `"never"`), `.expires: expected a time such as "2027-01-31T12:00:00Z"`},
		{with("expires", `1798761600`), `.expires: expected a time such as "2027-01-31T12:00:00Z"`},
		{with("expires", `null`), `.expires: expected a time such as "2027-01-31T12:00:00Z"`},
	} {
		_, err := newTestHome(t).readFile(t, `{"consent": {"preapproved": [`+with("", "")+`, `+c.entry+`]}}`)
		t.Run(c.entry, func(t *testing.T) { expectInvalid(t, err, "FILE: consent.preapproved: [1]"+c.message) })
	}
}

// settingTexts returns a value other than the default for each setting.
func settingTexts() map[string]string {
	return map[string]string{
		"scanPaths": `["/a"]`, "defaultTimeout": "7", "rescanInterval": "7", "scan.interval": "77", "logLevel": `"debug"`, "logFile": `"/l"`, "auditLog": `"/a"`,
		"toolNames": `"canonical"`, "profile": `"desktop"`, "dev": "true", "dbus.allowSystemBus": "true", "enableWebUI": "true", "httpPort": "7",
		"net.allowPrivate":    `["jira.example.com", "10.1.2.3:8443"]`,
		"consent.preapproved": `[{"app": "a.b", "tools": ["x"], "caller": "*", "expires": "2027-01-01T00:00:00Z"}]`,
		"http.port":           "7", "http.bind": `"::1"`, "http.sse": "true", "http.idle": "7", "http.url": `"https://a.example/mcp"`, "http.hosts": `["a"]`,
		"http.origins": `["https://a"]`, "http.auth": `"none"`, "http.issuer": `"https://a"`, "http.audience": `["a"]`, "http.scopes": `["a"]`,
		"http.clientId": `"a"`, "http.clientSecretFile": `"/s"`,
		"cache.tree_ttl_ms": "7", "cache.screenshot_debounce_ms": "7", "vlm.backend": `"openai"`, "vlm.model": `"eyes-2"`, "vlm.base_url": `"http://127.0.0.1:1234/v1"`, "vlm.input_price": "2.5", "vlm.output_price": "10",
		"keychain.insecure": "true", "desktop.session": `":1"`, "desktop.actingSign": "false", "desktop.stopKey": `"pause"`, "web.rate": "2.5",
		"consent.dialog": `"off"`, "consent.elicitation": `["claude-ai"]`, "server.security_mode": `"safe"`,
		"security.allowed_apps": `["Keychain Access", "org.gnome.*"]`, "security.denied_apps": `["a"]`,
		"server.confirm_destructive": "false", "security.destructive_words": `["raze"]`,
		"rate_limits.rps": "7", "rate_limits.rpm": "7", "rate_limits.concurrency": "7", "rate_limits.vlm_rpm": "7", "rate_limits.script_rpm": "7",
		"rate_limits.declared_rps": "7", "rate_limits.declared_rpm": "7", "rate_limits.declared_concurrency": "7",
		"login.sites": `{"a.example": {"clientId": "x"}}`, "login.env": `["A_KEY"]`, "login.clientDocument": `"https://a.example/c.json"`, "login.browser": "false",
		"journal.maxAge": "7", "journal.maxSize": "7", "journal.rotateSize": "7", "journal.keepFull": "true", "journal.answers": `["org.gnome.Calculator"]`, "journal.pictures": `["desktop/mousepad"]`, "journal.answersDays": "7", "workflow.maxSize": "700", "mcp.pinned": `["org.example.App:do it"]`, "mcp.ask_for_help": "true", "mcp.project_folder": `"/p"`,
	}
}

// TestEverySettingFromFileAndEnvironment checks that every setting works in a file, and those
// with a variable also in the environment, with the same result.
func TestEverySettingFromFileAndEnvironment(t *testing.T) {
	texts := settingTexts()
	plain := map[string]string{"scanPaths": "/a", "logLevel": "debug", "logFile": "/l", "auditLog": "/a", "toolNames": "canonical", "profile": "desktop", "http.bind": "::1", "http.auth": "none",
		"consent.dialog": "off", "server.security_mode": "safe", "security.allowed_apps": "Keychain Access, org.gnome.*", "security.denied_apps": "a", "vlm.backend": "openai", "vlm.model": "eyes-2", "vlm.base_url": "http://127.0.0.1:1234/v1"}
	for _, s := range settingSpecs() {
		text, known := texts[s.key]
		if !known {
			t.Errorf("%s is new; say here how it is written", s.key)
			continue
		}
		d := newTestHome(t)
		c, err := d.readFile(t, fmt.Sprintf("{%q: %s}", s.key, text))
		before, origin := value(mustRead(t, c, err), s.key)
		if s.key == "keychain.insecure" {
			assert.Check(t, is.Equal(origin, Default), s.key)
			assert.Check(t, is.Len(c.Notes, 1), s.key)
			before = true // in a variable or a flag it does
		} else if origin != filepath.Join(d.home, ".aai", "config.json") {
			t.Errorf("%s comes from %s", s.key, origin)
		}
		for _, name := range s.env {
			d := newTestHome(t)
			d.env[name] = text
			if p, ok := plain[s.key]; ok {
				d.env[name] = p
			}
			c, err := d.read(Flags{})
			got, origin := value(mustRead(t, c, err), s.key)
			diff := cmp.Diff(before, got)
			assert.Check(t, is.Equal(diff, ""), s.key)
			assert.Check(t, is.Equal(origin, name), s.key)
		}
	}
}
