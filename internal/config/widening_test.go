package config

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// newStrictHome is a testHome of a person who has confirmed only these settings.
func newStrictHome(t *testing.T, confirmed ...reauth.Setting) *testHome {
	t.Helper()
	d := newTestHome(t)
	d.confirmed = func(s reauth.Setting) aai.Channel {
		if slices.ContainsFunc(confirmed, func(c reauth.Setting) bool { return c.Key == s.Key && equalValues(c.Value, s.Value) }) {
			return aai.Passphrase
		}
		return ""
	}
	return d
}

// TestWhichSettingsWiden lists for every setting whether it lets callers do more.
func TestWhichSettingsWiden(t *testing.T) {
	wide := []string{
		"auditLog", "dev", "dbus.allowSystemBus", "keychain.insecure", "desktop.session", "desktop.actingSign", "desktop.stopKey", "consent.preapproved",
		"journal.maxAge", "journal.maxSize", "journal.answers", "journal.pictures", "journal.answersDays", "workflow.maxSize", "mcp.pinned", "mcp.project_folder", "net.allowPrivate",
		"login.sites", "login.env", "login.clientDocument", "login.browser", "consent.dialog", "consent.elicitation",
		"server.confirm_destructive", "security.destructive_words", "rate_limits.vlm_rpm", "rate_limits.script_rpm", "vlm.base_url",
	}
	plain := []string{
		"scanPaths", "defaultTimeout", "rescanInterval", "scan.interval", "logLevel", "logFile", "toolNames", "profile", "enableWebUI", "httpPort",
		"journal.rotateSize", "journal.keepFull", "http.port", "http.bind", "http.sse", "http.idle", "http.url", "http.hosts", "http.origins",
		"http.auth", "http.issuer", "http.audience", "http.scopes", "http.clientId", "http.clientSecretFile",
		"server.security_mode", "security.allowed_apps", "security.denied_apps", // these narrow
		"mcp.ask_for_help", "cache.tree_ttl_ms", "cache.screenshot_debounce_ms", "vlm.backend", "vlm.model", "vlm.input_price", "vlm.output_price", "web.rate", "rate_limits.rps", "rate_limits.rpm", "rate_limits.concurrency",
		"rate_limits.declared_rps", "rate_limits.declared_rpm", "rate_limits.declared_concurrency", // less than the default
	}
	texts := settingTexts()
	texts["rate_limits.vlm_rpm"], texts["rate_limits.script_rpm"] = "5000000", "5000000"
	for _, s := range settingSpecs() {
		d := newStrictHome(t)
		c, err := d.readFile(t, fmt.Sprintf("{%q: %s}", s.key, texts[s.key]))
		holds := mustRead(t, c, err).Origin(s.key) != Default
		if widens := slices.Contains(wide, s.key); widens == slices.Contains(plain, s.key) {
			t.Errorf("%s: say here whether it widens", s.key)
		} else if widens == holds || widens != (len(c.Notes) == 1) {
			t.Errorf("%s widens: %v, and holds unconfirmed: %v, %q", s.key, widens, holds, c.Notes)
		}
		if !holds && !equalValues(s.get(c), s.get(c.defaults)) {
			t.Errorf("%s is %v", s.key, s.get(c))
		}
	}
}

// TestNarrowedStaysNarrow checks that no variable resets a narrowed setting of the file, and no
// layer one of root's policy.
func TestNarrowedStaysNarrow(t *testing.T) {
	d := newStrictHome(t)
	d.env["AAI_SECURITY_MODE"], d.env["AAI_DENIED_APPS"], d.env["AAI_RATE_LIMIT_RPS"] = "normal", "nothing", "7"
	c, err := d.readFile(t, `{"server": {"security_mode": "sandboxed"}, "security": {"denied_apps": ["Bank"]}, "rate_limits": {"rps": 9}}`)
	mustRead(t, c, err)
	assert.Equal(t, c.Policy.Mode, policy.Sandboxed, "%+v", c.Policy)
	assert.Assert(t, slices.Equal(c.Policy.DeniedApps, []string{"Bank"}), "%+v", c.Policy)
	assert.Equal(t, c.Policy.Limits[policy.KindDesktop].PerSecond, 7, "%+v", c.Policy)
	assert.Assert(t, is.Len(c.Unconfirmed, 2), "%+v", c.Policy)
	d = newStrictHome(t)
	d.root = `{"dev": false, "server": {"security_mode": "safe"}}`
	d.env["AAI_SECURITY_MODE"] = "sandboxed"
	c, err = d.read(Flags{Dev: true})
	if mustRead(t, c, err); c.DevMode || c.Policy.Mode != policy.Safe || c.Origin("dev") != policy.RootPolicyPath {
		t.Errorf("%v, %v from %s", c.DevMode, c.Policy.Mode, c.Origin("dev"))
	}
}

// TestRootsWordHolds checks that a confirmation does not override root's policy either.
func TestRootsWordHolds(t *testing.T) {
	d := newTestHome(t)
	d.root = `{"dev": false, "logLevel": "error"}`
	d.env["AAI_LOG_LEVEL"] = "debug"
	c, err := d.read(Flags{Dev: true, LogLevel: "info"})
	if mustRead(t, c, err); c.DevMode || c.LogLevel != slog.LevelError || c.Origin("dev") != policy.RootPolicyPath || c.Origin("logLevel") != policy.RootPolicyPath {
		t.Errorf("%v from %s, %v from %s", c.DevMode, c.Origin("dev"), c.LogLevel, c.Origin("logLevel"))
	}
}

// TestConfirmedValueHolds checks that a confirmed value applies, and its channel is recorded.
func TestConfirmedValueHolds(t *testing.T) {
	entry := map[string]any{"app": "a.b", "tools": []any{"x"}, "caller": "*", "expires": "2999-01-01T00:00:00Z"}
	d := newStrictHome(t, reauth.Setting{Key: "consent.preapproved", Value: []any{entry}})
	c, err := d.readFile(t, `{"consent": {"preapproved": [{"app": "a.b", "tools": ["x"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`)
	if mustRead(t, c, err); len(c.Preapproved) != 1 || c.Preapproved[0].Channel != aai.Passphrase || len(c.Notes) != 0 {
		t.Errorf("%+v, %q", c.Preapproved, c.Notes)
	}
	d = newStrictHome(t)
	d.root = `{"consent": {"preapproved": [{"app": "a.b", "tools": ["x"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`
	c, err = d.read(Flags{})
	if mustRead(t, c, err); len(c.Preapproved) != 1 || c.Preapproved[0].Channel != policy.RootPolicyChannel {
		t.Errorf("%+v", c.Preapproved)
	}
	d.root = `{"consent": {"preapproved": [{}]}}`
	_, err = d.read(Flags{})
	assert.Check(t, err != nil, "root's file is passed over where it is wrong")
}

// TestPreapprovedInTOML checks that TOML tables count like JSON objects, and also need
// confirmation.
func TestPreapprovedInTOML(t *testing.T) {
	const text = "[[consent.preapproved]]\napp = \"a.b\"\ntools = [\"x\"]\ncaller = \"*\"\nexpires = \"2999-01-01T00:00:00Z\"\n"
	entry := map[string]any{"app": "a.b", "tools": []any{"x"}, "caller": "*", "expires": "2999-01-01T00:00:00Z"}
	for want, confirmed := range [][]reauth.Setting{nil, {{Key: "consent.preapproved", Value: []any{entry}}}} {
		d := newStrictHome(t, confirmed...)
		c, err := d.read(Flags{File: d.file(t, "mine.toml", text)})
		if mustRead(t, c, err); len(c.Preapproved) != want || len(c.Unconfirmed) != 1-want {
			t.Errorf("confirmed %v: %+v, %+v", confirmed, c.Preapproved, c.Unconfirmed)
		}
	}
}

// TestPrivateHostsAreForTheFileAlone checks that no variable or flag widens the reachable hosts:
// an agent that can edit its client's settings must not open the person's network.
func TestPrivateHostsAreForTheFileAlone(t *testing.T) {
	d := newTestHome(t)
	for _, name := range []string{"AAI_NET_ALLOW_PRIVATE", "AAI_ALLOW_PRIVATE"} {
		d.env[name] = `["10.0.0.1"]`
	}
	if c, err := d.read(Flags{}); err == nil && len(c.AllowedPrivateHosts) > 0 {
		t.Errorf("trusted: %q", c.AllowedPrivateHosts)
	}
	for _, s := range webSettings() {
		assert.Check(t, s.key != "net.allowPrivate" || len(s.env) <= 0, "%s can be set by %q", s.key, s.env)
	}
}

// TestNobodyToAsk checks that widening values have no effect without confirmations.
func TestNobodyToAsk(t *testing.T) {
	d := newTestHome(t)
	path := d.file(t, ".aai/config.json", `{"dev": true, "logLevel": "debug"}`)
	c, err := Read(Source{Getenv: d.getenv, Home: d.home})
	want := []reauth.Setting{{From: path, Key: "dev", Value: true}}
	if mustRead(t, c, err); c.DevMode || c.Origin("dev") != Default || !slices.Equal(c.Unconfirmed, want) || len(c.Notes) != 1 || c.Origin("logLevel") != path {
		t.Errorf("%v from %s, %+v, %q", c.DevMode, c.Origin("dev"), c.Unconfirmed, c.Notes)
	}
}

// TestAFileOfOthers checks that a file that others may have changed is rejected.
func TestAFileOfOthers(t *testing.T) {
	d := newTestHome(t)
	path := d.file(t, ".aai/config.json", `{"dev": true}`)
	var asked []string
	d.checkOwned = func(paths ...string) error {
		asked = paths
		return invalid("not mine")
	}
	_, err := d.read(Flags{})
	expectInvalid(t, err, "not mine")
	assert.Check(t, slices.Equal(asked, []string{path, filepath.Dir(path)}), "asked of %q", asked)
	d.root = "{"
	_, err = d.read(Flags{})
	expectInvalid(t, err, policy.RootPolicyPath+": line 1: unexpected EOF")
}
