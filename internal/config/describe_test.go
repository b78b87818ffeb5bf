package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// TestEverySettingIsDescribed checks that every setting has a summary and a valid kind.
func TestEverySettingIsDescribed(t *testing.T) {
	cfg, err := newTestHome(t).read(Flags{})
	cfg = mustRead(t, cfg, err)
	for _, d := range cfg.Describe() {
		if d.Summary == "" || d.Kind == "" || strings.HasSuffix(d.Summary, ".") || (d.Kind == KindEnum) != (len(d.Choices) > 0) {
			t.Errorf("%s: %+v", d.Key, d)
		}
		b, err := json.Marshal(d.Default)
		var value any
		if err == nil {
			err = json.Unmarshal(b, &value)
		}
		fits := map[string]bool{
			KindBool: reflect.TypeOf(value) == reflect.TypeFor[bool](), KindList: strings.HasPrefix(string(b), "["), KindObject: strings.HasPrefix(string(b), "{"),
		}
		if is, judged := fits[d.Kind]; err != nil || judged && !is || d.Kind == KindEnum && !slices.Contains(d.Choices, value.(string)) {
			t.Errorf("%s: the standard value %s is no %s", d.Key, b, d.Kind)
		}
		for _, choice := range d.Choices {
			if err := (&Config{source: Source{}, defaults: cfg.defaults, origins: map[string]string{}}).Set(d.Key, choice, "a test"); err != nil {
				t.Errorf("%s takes no %s: %v", d.Key, choice, err)
			}
		}
	}
}

// TestFileOverride checks a text in place of the file, in all spellings of a key.
func TestFileOverride(t *testing.T) {
	d := newTestHome(t)
	path := d.file(t, ".aai/config.json", `{"logLevel": "warn"}`)
	s := Source{Getenv: d.getenv, Home: d.home, FileOverride: []byte(`{"journal": {"maxAge": 40}, "server.log_level": "error"}`)}
	c, err := Read(s)
	if c = mustRead(t, c, err); c.Journal.MaxAgeDays != 40 || c.Origin("logLevel") != path || c.File() != path || c.LogLevel.String() != "ERROR" {
		t.Errorf("%+v", c)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != `{"logLevel": "warn"}` {
		t.Errorf("%s %v", b, err)
	}
	s.FileOverride = []byte(`{"logLevel": "loud"}`)
	if _, err := Read(s); err == nil || !strings.Contains(aai.AsError(err).Message, "logLevel: expected") {
		t.Error(err)
	}
	if got := FilePaths("logLevel"); !reflect.DeepEqual(got, [][]string{{"logLevel"}, {"server", "log_level"}, {"server.log_level"}}) {
		t.Error(got)
	}
}

// TestWidens checks which changes widen, also when a setting that the person narrowed is reset.
func TestWidens(t *testing.T) {
	for _, c := range []struct {
		key, was, is, env string
		want              bool
	}{
		{"dev", `{}`, `{"dev": true}`, "", true},
		{"dev", `{"dev": true}`, `{}`, "", false},
		{"dev", `{}`, `{"dev": true}`, "AAI_DEV=false", true},
		{"logLevel", `{}`, `{"logLevel": "debug"}`, "", false},
		{"journal.maxAge", `{}`, `{"journal.maxAge": 20}`, "", true},
		{"journal.maxAge", `{}`, `{"journal.maxAge": 50}`, "", false},
		{"journal.maxAge", `{"journal.maxAge": 50}`, `{}`, "", true},
		{"rate_limits.rps", `{"rate_limits.rps": 5}`, `{}`, "", true},
		{"rate_limits.rps", `{}`, `{"rate_limits.rps": 5}`, "", false},
		{"security.denied_apps", `{}`, `{"security.denied_apps": ["a"]}`, "", false},
		{"security.denied_apps", `{"security.denied_apps": ["a"]}`, `{"security.denied_apps": []}`, "", true},
		{"security.denied_apps", `{"security.denied_apps": ["a"]}`, `{}`, "AAI_DENIED_APPS=b", true},
		{"server.security_mode", `{"server.security_mode": "safe"}`, `{}`, "", true},
		{"keychain.insecure", `{}`, `{"keychain.insecure": true}`, "", false},
		{"no.such", `{}`, `{}`, "", true},
	} {
		d := newTestHome(t)
		d.confirmed = func(reauth.Setting) aai.Channel { return "" }
		if name, value, ok := strings.Cut(c.env, "="); ok {
			d.env[name] = value
		}
		read := func(text string) *Config {
			cfg, err := Read(Source{
				Getenv: d.getenv, Home: d.home, FileOverride: []byte(text), AuditLog: filepath.Join(d.home, "audit.jsonl"),
			})
			return mustRead(t, cfg, err)
		}
		if got := read(c.was).Widens(c.key, read(c.is)); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
