package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// TestEverySettingIsDescribed checks that every setting has a summary and a valid kind.
func TestEverySettingIsDescribed(t *testing.T) {
	cfg, err := newTestHome(t).read(Flags{})
	cfg = mustRead(t, cfg, err)
	for _, d := range cfg.Describe() {
		assert.Assert(t, d.Summary != "", "%s %+v", d.Key, d)
		assert.Assert(t, d.Kind != "", "%s %+v", d.Key, d)
		assert.Assert(t, !strings.HasSuffix(d.Summary, "."), "%s %+v", d.Key, d)
		assert.Equal(t, (d.Kind == KindEnum), (len(d.Choices) > 0), "%s %+v", d.Key, d)
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
			assert.Check(t, (&Config{source: Source{}, defaults: cfg.defaults, origins: map[string]string{}}).Set(d.Key, choice, "a test"), "%s %s", d.Key, choice)
		}
	}
}

// TestFileOverride checks a text in place of the file, in all spellings of a key.
func TestFileOverride(t *testing.T) {
	d := newTestHome(t)
	path := d.file(t, ".aai/config.json", `{"logLevel": "warn"}`)
	s := Source{Getenv: d.getenv, Home: d.home, FileOverride: []byte(`{"journal": {"maxAge": 40}, "server.log_level": "error"}`)}
	c, err := Read(s)
	c = mustRead(t, c, err)
	assert.Check(t, is.Equal(c.Journal.MaxAgeDays, 40), "%+v", c)
	assert.Check(t, is.Equal(c.Origin("logLevel"), path), "%+v", c)
	assert.Check(t, is.Equal(c.File(), path), "%+v", c)
	assert.Check(t, is.Equal(c.LogLevel.String(), "ERROR"), "%+v", c)
	b, err := os.ReadFile(path)
	assert.NilError(t, err, b)
	assert.Equal(t, string(b), `{"logLevel": "warn"}`, b)
	s.FileOverride = []byte(`{"logLevel": "loud"}`)
	_, err = Read(s)
	assert.Assert(t, err != nil, err)
	assert.Assert(t, is.Contains(aai.AsError(err).Message, "logLevel: expected"), err)
	assert.Check(t, is.DeepEqual(FilePaths("logLevel"), [][]string{{"logLevel"}, {"server", "log_level"}, {"server.log_level"}}))
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
		assert.Check(t, is.Equal(read(c.was).Widens(c.key, read(c.is)), c.want), "%+v", c)
	}
}
