package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

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
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Read(Source{
			Getenv: none, Home: home, Flags: Flags{File: path},
			Confirmed: func(*Config, reauth.Setting) (aai.Channel, error) { return aai.DesktopDialog, nil },
		})
		if err != nil {
			if e, ok := errors.AsType[*aai.Error](err); !ok || e.Code != aai.InvalidParams || e.Message == "" {
				t.Fatalf("refused by %v", err)
			}
			return
		}
		if !json.Valid(text) {
			t.Fatal("this is not JSON and was accepted")
		}
		seen := map[string]bool{}
		for _, name := range namesIn(t, text) {
			if _, origin := value(c, name); origin != path {
				t.Errorf("%q was ignored: it comes from %s", name, origin)
			}
			if seen[name] {
				t.Errorf("%q stands there twice", name)
			}
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
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		t.Fatalf("%q is no object and was accepted", text)
	}
	var all []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		m := member{name: name.(string)}
		if err := d.Decode(&m.value); err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	if _, err := d.Token(); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return all
}
