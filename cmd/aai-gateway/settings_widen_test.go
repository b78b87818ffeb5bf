package main

import (
	"fmt"
	"slices"
	"testing"

	"aai"
	"aai/internal/doors/cli"
	"aai/internal/policy"
	"aai/internal/proof"
)

// strict is a desk whose person has confirmed what is said, and nothing else.
func strict(t *testing.T, confirmed ...proof.Setting) *desk {
	t.Helper()
	d := newDesk(t)
	d.confirmed = func(s proof.Setting) aai.Channel {
		if slices.ContainsFunc(confirmed, func(c proof.Setting) bool { return c.Key == s.Key && same(c.Value, s.Value) }) {
			return aai.Passphrase
		}
		return ""
	}
	return d
}

// Of every setting it is said here whether it lets callers do more.
func TestWhichSettingsWiden(t *testing.T) {
	wide := []string{
		"auditLog", "dev", "dbus.allowSystemBus", "keychain.insecure", "desktop.session", "consent.preapproved",
		"journal.maxAge", "journal.maxSize", "net.allowPrivate",
		"login.sites", "login.env", "login.clientDocument", "login.browser", "consent.dialog", "consent.elicitation",
		"server.confirm_destructive", "security.destructive_words", "rate_limits.vlm_rpm", "rate_limits.script_rpm",
	}
	plain := []string{
		"scanPaths", "defaultTimeout", "rescanInterval", "logLevel", "logFile", "toolNames", "profile", "enableWebUI", "httpPort",
		"journal.rotateSize", "journal.keepFull", "http.port", "http.bind", "http.sse", "http.idle", "http.url", "http.hosts", "http.origins",
		"http.auth", "http.issuer", "http.audience", "http.scopes", "http.clientId", "http.clientSecretFile",
		"server.security_mode", "security.allowed_apps", "security.denied_apps", // those narrow
		"web.rate", "rate_limits.rps", "rate_limits.rpm", "rate_limits.concurrency",
		"rate_limits.declared_rps", "rate_limits.declared_rpm", "rate_limits.declared_concurrency", // less than the standard
	}
	texts := settingTexts()
	texts["rate_limits.vlm_rpm"], texts["rate_limits.script_rpm"] = "5000000", "5000000"
	for _, s := range settings() {
		d := strict(t)
		c, err := d.readFile(t, fmt.Sprintf("{%q: %s}", s.key, texts[s.key]))
		holds := mustRead(t, c, err).origin(s.key) != originDefault
		if widens := slices.Contains(wide, s.key); widens == slices.Contains(plain, s.key) {
			t.Errorf("%s: say here whether it widens", s.key)
		} else if widens == holds || widens != (len(c.notes) == 1) {
			t.Errorf("%s widens: %v, and holds unconfirmed: %v, %q", s.key, widens, holds, c.notes)
		}
		if !holds && !same(s.get(c.config), s.get(c.standard)) {
			t.Errorf("%s is %v", s.key, s.get(c.config))
		}
	}
}

// What was narrowed in the file is not taken back by a variable; nor what root said, by
// anything.
func TestNarrowedStaysNarrow(t *testing.T) {
	d := strict(t)
	d.env["AAI_SECURITY_MODE"], d.env["AAI_DENIED_APPS"], d.env["AAI_RATE_LIMIT_RPS"] = "normal", "nothing", "7"
	c, err := d.readFile(t, `{"server": {"security_mode": "sandboxed"}, "security": {"denied_apps": ["Bank"]}, "rate_limits": {"rps": 9}}`)
	mustRead(t, c, err)
	if c.Policy.Mode != policy.Sandboxed || !slices.Equal(c.Policy.Denied, []string{"Bank"}) || c.Policy.Limits[policy.Windows].PerSecond != 7 || len(c.unconfirmed) != 2 {
		t.Errorf("%+v, %+v", c.Policy, c.unconfirmed)
	}
	d = strict(t)
	d.policy = `{"dev": false, "server": {"security_mode": "safe"}}`
	d.env["AAI_SECURITY_MODE"] = "sandboxed"
	c, err = d.read(cli.Flags{Dev: true})
	if mustRead(t, c, err); c.Dev || c.Policy.Mode != policy.Safe || c.origin("dev") != policy.PolicyFile {
		t.Errorf("%v, %v from %s", c.Dev, c.Policy.Mode, c.origin("dev"))
	}
}

// A confirmed value holds, and the record says by what it was confirmed.
func TestConfirmedValueHolds(t *testing.T) {
	entry := map[string]any{"app": "a.b", "tools": []any{"x"}, "caller": "*", "expires": "2999-01-01T00:00:00Z"}
	d := strict(t, proof.Setting{Key: "consent.preapproved", Value: []any{entry}})
	c, err := d.readFile(t, `{"consent": {"preapproved": [{"app": "a.b", "tools": ["x"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`)
	if mustRead(t, c, err); len(c.Preapproved) != 1 || c.Preapproved[0].Channel != aai.Passphrase || len(c.notes) != 0 {
		t.Errorf("%+v, %q", c.Preapproved, c.notes)
	}
	d = strict(t)
	d.policy = `{"consent": {"preapproved": [{"app": "a.b", "tools": ["x"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`
	c, err = d.read(cli.Flags{})
	if mustRead(t, c, err); len(c.Preapproved) != 1 || c.Preapproved[0].Channel != policy.Root {
		t.Errorf("%+v", c.Preapproved)
	}
	d.policy = `{"consent": {"preapproved": [{}]}}`
	if _, err := d.read(cli.Flags{}); err == nil {
		t.Error("root's file is passed over where it is wrong")
	}
}
