package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/config"
	"github.com/gybob/aai-gateway/internal/doctor"
	"github.com/gybob/aai-gateway/internal/policy"
)

// newSettingsEditor returns an editor for the configuration in the folder.
func newSettingsEditor(t *testing.T, home string) *config.Editor {
	t.Helper()
	read := func(instead []byte) (*config.Config, error) {
		return config.Read(config.Source{Getenv: func(string) string { return "" }, Home: home, AuditLog: filepath.Join(home, "audit.jsonl"), FileOverride: instead})
	}
	running, err := read(nil)
	assert.NilError(t, err)
	return config.NewEditor(config.EditorConfig{Running: running, ReadConfig: read})
}

// clockDoctor examines a computer with nothing but a clock.
func clockDoctor(home string) *aai.Tool {
	return doctor.Tool(func() *doctor.Doctor {
		return doctor.New(doctor.Config{
			Now: time.Now, DataDir: home, Home: home, Executable: "/none", Settings: filepath.Join(home, ".aai", "config.json"), Getenv: func(string) string { return "" }, Version: "test",
			ConfigError: errors.New("it is a test"),
		})
	})
}

func settingsPath(w *world) string {
	b, _ := os.ReadFile(filepath.Join(w.state, ".aai", "config.json"))
	return string(b)
}

// TestSettings checks that settings are found and changed in the person's file, and that a refusal is
// shown at the input.
func TestSettings(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	got := w.get(t, "/settings")
	expectTexts(t, got, "logLevel", "rate_limits.declared_rps", "Limits of each caller", "what is logged")
	got = w.get(t, "/settings?q=day+journal")
	assert.Assert(t, is.Contains(got.body, "journal.maxAge"))
	assert.Assert(t, !strings.Contains(got.body, "logLevel"), "the search finds:\n%s", got.body)
	got = w.get(t, "/settings?changed=1")
	assert.Assert(t, !strings.Contains(got.body, "logLevel"), "of what is changed:\n%s", got.body)
	assert.Assert(t, is.Contains(got.body, "No setting is like that"))
	save := func(key, value string) answer {
		form := w.form(t, "/settings/"+key)
		form.Set("value", value)
		_, after, _ := strings.Cut(w.get(t, "/settings/"+key).body, `name="seen" value="`)
		seen, _, _ := strings.Cut(after, `"`)
		form.Set("seen", seen)
		return w.post(t, "/settings/"+key+"/set", form)
	}
	got = save("logLevel", "debug")
	assert.Equal(t, got.at, "/settings/logLevel", "%d", got.status)
	assert.Assert(t, is.Contains(got.body, "logLevel is now debug."), "%d", got.status)
	assert.Equal(t, settingsPath(w), "{\n  \"logLevel\": \"debug\"\n}\n", "%d", got.status)
	got = save("security.denied_apps", "Thunderbird\r\n\"><script>alert(1)</script>\r\n")
	assert.Assert(t, !strings.Contains(got.body, "<script>alert"), "%d %s", got.status, got.body)
	assert.Assert(t, is.Contains(got.body, "&lt;script&gt;"), "%d", got.status)
	assert.Assert(t, is.Contains(settingsPath(w), `"Thunderbird"`), "%d", got.status)
	before := settingsPath(w)
	got = save("defaultTimeout", "soon")
	expectTexts(t, got, `value="soon"`, "expected a number")
	got = save("dev", "true")
	assert.Check(t, is.Equal(got.status, http.StatusOK))
	assert.Check(t, is.Contains(got.body, "Nothing was changed."))
	form := w.form(t, "/settings/logLevel")
	form.Set("value", "warn")
	form.Set("seen", "0011223344556677")
	got = w.post(t, "/settings/logLevel/set", form)
	assert.Check(t, is.Contains(got.body, "was changed since it was shown"), "%d", got.status)
	assert.Check(t, is.Equal(settingsPath(w), before), "what was refused is written: %s", settingsPath(w))
	if got := w.post(t, "/settings/logLevel/unset", w.form(t, "/settings/logLevel")); !strings.Contains(got.body, "logLevel is now info.") || strings.Contains(settingsPath(w), "logLevel") {
		t.Errorf("%d\n%s\n%s", got.status, got.body, settingsPath(w))
	}
	got = w.get(t, "/settings/no.such")
	assert.Check(t, is.Equal(got.status, http.StatusBadRequest))
	assert.Check(t, is.Contains(got.body, "there is no setting"))
}

// TestDoctorPage checks that an examination starts, and is shown when it has ended.
func TestDoctorPage(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	if got := w.get(t, "/doctor"); !strings.Contains(got.body, "Examine now") {
		t.Fatalf("%d\n%s", got.status, got.body)
	}
	got := w.post(t, "/doctor/run", w.form(t, "/doctor"))
	for got.at == "/doctor" && strings.Contains(got.body, "under way") {
		assert.Assert(t, is.Contains(got.body, `href="/doctor"`), "there is no way on:\n%s", got.body)
		got = w.get(t, "/doctor")
	}
	expectTexts(t, got, "Examine again", "clock", `class="mark bad">Something is broken`)
}

// TestSettingsAreDescribedInBothLanguages checks the descriptions; the English ones are the same as elsewhere.
func TestSettingsAreDescribedInBothLanguages(t *testing.T) {
	cfg, err := config.Read(config.Source{Getenv: func(string) string { return "" }, Home: t.TempDir(), FileOverride: []byte("{}")})
	assert.NilError(t, err)
	words := make(map[string]map[string]string)
	for _, lang := range []string{"en", "zh"} {
		b, err := os.ReadFile(filepath.Join("words", "settings."+lang+".json"))
		var texts map[string]string
		if err == nil {
			err = json.Unmarshal(b, &texts)
		}
		assert.NilError(t, err)
		words[lang] = texts
	}
	known := make(map[string]bool)
	for _, d := range cfg.Describe() {
		known["about."+d.Key] = true
		assert.Check(t, is.Equal(words["en"]["about."+d.Key], d.Summary), "%s: the page says %q and the configuration %q", d.Key, words["en"]["about."+d.Key], d.Summary)
		text := words["zh"]["about."+d.Key]
		assert.Check(t, text != "", "%s is not described in Chinese", d.Key)
		assert.Check(t, text != d.Summary, "%s is not described in Chinese", d.Key)
		b, err := os.ReadFile(filepath.Join("words", "setting.zh.json"))
		assert.NilError(t, err, d.Key)
		assert.Assert(t, d.Widens == "" || strings.Contains(string(b), `"widens.`+d.Widens+`"`), "%s: which values widen is not said in Chinese: %v", d.Key, err)
	}
	for lang, texts := range words {
		for key := range texts {
			assert.Check(t, !strings.HasPrefix(key, "about.") || known[key], "%s: %s is no setting", lang, key)
		}
	}
}

// sessionAllower is a person who consents for the session.
type sessionAllower struct{}

func (sessionAllower) Ask(_ context.Context, q aai.Question) (aai.Answer, error) {
	return aai.Answer{Choice: "session", Seal: q.Seal, Channel: aai.DesktopDialog}, nil
}

// TestWhatSessionsMay checks that uses of session consents are listed, that one button revokes all of
// them, and that the gateway asks again after that.
func TestWhatSessionsMay(t *testing.T) {
	w, _ := appWorld(t, mail(tool("ask", `{"type": "object", "properties": {}}`, nil), tool("send", kinds, nil)))
	expectPage(t, w.get(t, "/consent"), "Allowed for a session", "No caller used one.")
	agent := claude()
	agent.Session = "s1"
	call := func() error {
		_, err := w.gateway.Do(t.Context(), &aai.Call{Caller: agent, App: "org.test.Mail", Tool: "ask"})
		return err
	}
	w.gateway.Dialog = sessionAllower{}
	assert.NilError(t, call())
	w.gateway.Dialog = nil
	err := call()
	assert.NilError(t, err, "it was allowed for the session: %v", err)
	w.makeCall(t, "", "", claude(), "org.test.Mail", "send", map[string]any{"to": "session"}) // only the word
	listed := `<td data-label="What"><div><bdi class="theirs">org.test.Mail</bdi> · <code><bdi class="theirs">`
	expectPage(t, w.get(t, "/consent"), listed+"ask<", "!"+listed+"send<", "!No caller used")
	expectPage(t, w.in(t, "zh", "/consent"), "本次会话的授权")
	refused := policy.Grant{Caller: "mcp:other", App: "org.test.Mail", Tool: "ask", Decision: policy.Deny}
	assert.NilError(t, w.store.Add(refused))
	expectPage(t, w.post(t, "/consent/sessions", w.form(t, "/consent")), "All consents for sessions are revoked.", "No caller used one.", "mcp:other")
	e := aai.AsError(call())
	assert.Assert(t, e != nil, "it may still: %v", e)
	assert.Equal(t, e.Code, aai.ConsentRequired, e)
}
