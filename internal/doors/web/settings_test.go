package web_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/config"
	"github.com/gybob/aai-gateway/internal/doctor"
)

// newSettingsEditor returns an editor for the configuration in the folder.
func newSettingsEditor(t *testing.T, home string) *config.Editor {
	t.Helper()
	read := func(instead []byte) (*config.Config, error) {
		return config.Read(config.Source{Getenv: func(string) string { return "" }, Home: home, AuditLog: filepath.Join(home, "audit.jsonl"), FileOverride: instead})
	}
	running, err := read(nil)
	if err != nil {
		t.Fatal(err)
	}
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
	for _, want := range []string{"logLevel", "rate_limits.declared_rps", "Limits of each caller", "what is logged"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("the settings lack %q: %d\n%s", want, got.status, got.body)
		}
	}
	if got := w.get(t, "/settings?q=day+journal"); !strings.Contains(got.body, "journal.maxAge") || strings.Contains(got.body, "logLevel") {
		t.Errorf("the search finds:\n%s", got.body)
	}
	if got := w.get(t, "/settings?changed=1"); strings.Contains(got.body, "logLevel") || !strings.Contains(got.body, "No setting is like that") {
		t.Errorf("of what is changed:\n%s", got.body)
	}
	save := func(key, value string) answer {
		form := w.form(t, "/settings/"+key)
		form.Set("value", value)
		_, after, _ := strings.Cut(w.get(t, "/settings/"+key).body, `name="seen" value="`)
		seen, _, _ := strings.Cut(after, `"`)
		form.Set("seen", seen)
		return w.post(t, "/settings/"+key+"/set", form)
	}
	if got := save("logLevel", "debug"); got.at != "/settings/logLevel" || !strings.Contains(got.body, "logLevel is now debug.") || settingsPath(w) != "{\n  \"logLevel\": \"debug\"\n}\n" {
		t.Errorf("%s %d\n%s\n%s", got.at, got.status, got.body, settingsPath(w))
	}
	if got := save("security.denied_apps", "Thunderbird\r\n\"><script>alert(1)</script>\r\n"); strings.Contains(got.body, "<script>alert") || !strings.Contains(got.body, "&lt;script&gt;") || !strings.Contains(settingsPath(w), `"Thunderbird"`) {
		t.Errorf("%d\n%s\n%s", got.status, got.body, settingsPath(w))
	}
	before := settingsPath(w)
	if got := save("defaultTimeout", "soon"); !strings.Contains(got.body, `value="soon"`) || !strings.Contains(got.body, "expected a number") {
		t.Errorf("%d\n%s", got.status, got.body)
	}
	if got := save("dev", "true"); got.status != http.StatusOK || !strings.Contains(got.body, "Nothing was changed.") {
		t.Errorf("what widens is changed without a person: %d\n%s", got.status, got.body)
	}
	form := w.form(t, "/settings/logLevel")
	form.Set("value", "warn")
	form.Set("seen", "0011223344556677")
	if got := w.post(t, "/settings/logLevel/set", form); !strings.Contains(got.body, "was changed since it was shown") {
		t.Errorf("%d\n%s", got.status, got.body)
	}
	if settingsPath(w) != before {
		t.Errorf("what was refused is written: %s", settingsPath(w))
	}
	if got := w.post(t, "/settings/logLevel/unset", w.form(t, "/settings/logLevel")); !strings.Contains(got.body, "logLevel is now info.") || strings.Contains(settingsPath(w), "logLevel") {
		t.Errorf("%d\n%s\n%s", got.status, got.body, settingsPath(w))
	}
	if got := w.get(t, "/settings/no.such"); got.status != http.StatusBadRequest || !strings.Contains(got.body, "there is no setting") {
		t.Errorf("%d\n%s", got.status, got.body)
	}
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
		if !strings.Contains(got.body, `href="/doctor"`) {
			t.Fatalf("there is no way on:\n%s", got.body)
		}
		got = w.get(t, "/doctor")
	}
	for _, want := range []string{"Examine again", "clock", `class="mark bad">Something is broken`} {
		if !strings.Contains(got.body, want) {
			t.Errorf("the report lacks %q: %d\n%s", want, got.status, got.body)
		}
	}
}

// TestSettingsAreDescribedInBothLanguages checks the descriptions; the English ones are the same as elsewhere.
func TestSettingsAreDescribedInBothLanguages(t *testing.T) {
	cfg, err := config.Read(config.Source{Getenv: func(string) string { return "" }, Home: t.TempDir(), FileOverride: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	words := make(map[string]map[string]string)
	for _, lang := range []string{"en", "zh"} {
		b, err := os.ReadFile(filepath.Join("words", "settings."+lang+".json"))
		var texts map[string]string
		if err == nil {
			err = json.Unmarshal(b, &texts)
		}
		if err != nil {
			t.Fatal(err)
		}
		words[lang] = texts
	}
	known := make(map[string]bool)
	for _, d := range cfg.Describe() {
		known["about."+d.Key] = true
		if words["en"]["about."+d.Key] != d.Summary {
			t.Errorf("%s: the page says %q and the configuration %q", d.Key, words["en"]["about."+d.Key], d.Summary)
		}
		if text := words["zh"]["about."+d.Key]; text == "" || text == d.Summary {
			t.Errorf("%s is not described in Chinese", d.Key)
		}
		b, err := os.ReadFile(filepath.Join("words", "setting.zh.json"))
		if err != nil || d.Widens != "" && !strings.Contains(string(b), `"widens.`+d.Widens+`"`) {
			t.Errorf("%s: which values widen is not said in Chinese: %v", d.Key, err)
		}
	}
	for lang, texts := range words {
		for key := range texts {
			if strings.HasPrefix(key, "about.") && !known[key] {
				t.Errorf("%s: %s is no setting", lang, key)
			}
		}
	}
}
