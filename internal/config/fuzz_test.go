package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// FuzzConfig checks that no file makes the reader panic, that every error is INVALID_PARAMS, and
// that an accepted file is JSON without ignored names: each is a setting that now comes from the
// file, without duplicates. It finds the names with encoding/json, which the reader does not use.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{
		`{"scanPaths": ["~/.aai"], "defaultTimeout": 30, "logLevel": "info", "enableWebUI": true, "httpPort": 3000}`,
		`{"dbus": {"allowSystemBus": true}, "dev": false}`,
		`{"dbus": {"allowSystemBus": true}, "dbus.allowSystemBus": false}`,
		`{"dev": true, "dev": false}`, `{"dev": true, "Dev": false}`, `{"dev": true, "d\u0065v": false}`,
		`{"consent": {"preapproved": [{"app": "a.b", "tools": ["*"], "caller": "*", "expires": "2027-01-01T00:00:00Z"}]}}`,
		`{"consent": {"preapproved": [{"app": "a.b", "tools": ["*"], "caller": "*", "expires": "2027-01-01T00:00:00Z", "app": ""}]}}`,
		`{"consent": {}}`, `{"dbus": {}}`, `{"x": {}}`, `{}`, `null`, ``, `{} {}`, "{\"logFile\": \"/\xff\"}", `{"httpPort": 1e999}`, `[[[[`,
	} {
		f.Add([]byte(text))
	}
	home := f.TempDir()
	path := filepath.Join(home, "config.json")
	none := func(string) string { return "" }
	f.Fuzz(func(t *testing.T, text []byte) {
		assert.NilError(t, os.WriteFile(path, text, 0o600))
		c, err := Read(Source{
			Getenv: none, Home: home, Flags: Flags{File: path},
			Confirmed: func(*Config, reauth.Setting) (aai.Channel, error) { return aai.DesktopDialog, nil },
		})
		if err != nil {
			e, ok := errors.AsType[*aai.Error](err)
			assert.Assert(t, ok, "refused by %v", err)
			assert.Equal(t, e.Code, aai.InvalidParams, err)
			assert.Assert(t, e.Message != "", "refused by %v", err)
			return
		}
		assert.Assert(t, json.Valid(text), "this is not JSON and was accepted")
		seen := map[string]bool{}
		for _, name := range namesIn(t, text) {
			_, origin := value(c, name)
			assert.Check(t, is.Equal(origin, path), "%q was ignored: it comes from %s", name, origin)
			assert.Check(t, !seen[name], "%q stands there twice", name)
			seen[name] = true
		}
	})
}

// namesIn returns the names of the settings in a JSON object, including duplicates. Members of
// the two groups have the group's name as a prefix.
func namesIn(t *testing.T, text []byte) []string {
	t.Helper()
	var names []string
	for _, m := range membersOf(t, text) {
		if m.name != "dbus" && m.name != "consent" {
			names = append(names, m.name)
			continue
		}
		for _, inner := range membersOf(t, m.value) {
			names = append(names, m.name+"."+inner.name)
		}
	}
	return names
}

type member struct {
	name  string
	value json.RawMessage
}

func membersOf(t *testing.T, text []byte) []member {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	first, err := d.Token()
	assert.NilError(t, err, "%q", text)
	assert.Equal(t, first, json.Delim('{'), "%q", text)
	var all []member
	for d.More() {
		name, err := d.Token()
		assert.NilError(t, err)
		m := member{name: name.(string)}
		assert.NilError(t, d.Decode(&m.value))
		all = append(all, m)
	}
	_, err = d.Token()
	assert.Assert(t, err == nil || errors.Is(err, io.EOF), err)
	return all
}
