package config_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/config"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// A world is a person's home, with a vault that seals.
type world struct {
	t         testing.TB
	home      string
	env       map[string]string
	root      string
	confirmed *reauth.ConfirmedSettings
	editor    *config.Editor
}

func newWorld(t testing.TB, file string) *world {
	t.Helper()
	w := &world{t: t, home: t.TempDir(), env: map[string]string{}}
	vault := secrets.New(secrets.Config{Folder: filepath.Join(w.home, "secrets"), AllowInsecureFile: true, Getenv: func(string) string { return "/nonexistent" }}).NonInteractive()
	w.confirmed = reauth.NewConfirmedSettings(vault)
	if file != "" {
		w.write(file)
	}
	w.newProcess()
	return w
}

// newProcess starts a gateway that reads the current configuration.
func (w *world) newProcess() {
	running, err := w.read(nil)
	assert.NilError(w.t, err)
	w.editor = config.NewEditor(config.EditorConfig{Running: running, ReadConfig: w.read, Confirmed: w.confirmed, BackupPath: filepath.Join(w.home, "data", "before")})
}

func (w *world) read(instead []byte) (*config.Config, error) {
	return config.Read(config.Source{
		Getenv: func(name string) string { return w.env[name] }, Home: w.home, AuditLog: filepath.Join(w.home, "audit.jsonl"), FileOverride: instead,
		Flags: config.Flags{File: w.env["FILE"]},
		RootPolicy: func() ([]byte, error) {
			if w.root == "" {
				return nil, nil
			}
			return []byte(w.root), nil
		},
		Confirmed: func(_ *config.Config, s reauth.Setting) (aai.Channel, error) {
			return w.confirmed.ConfirmedBy(context.Background(), s)
		},
	})
}

func (w *world) path() string {
	if w.env["FILE"] != "" {
		return w.env["FILE"]
	}
	return filepath.Join(w.home, ".aai", "config.json")
}

func (w *world) write(text string) {
	w.t.Helper()
	assert.NilError(w.t, os.MkdirAll(filepath.Dir(w.path()), 0o700))
	assert.NilError(w.t, os.WriteFile(w.path(), []byte(text), 0o600))
}

func (w *world) file() string {
	b, err := os.ReadFile(w.path())
	if err != nil {
		return ""
	}
	return string(b)
}

// call calls a tool like the gateway, with the person's reauthentication.
func (w *world) call(tool string, args map[string]any, proved bool) (*aai.Result, error) {
	call := &aai.Call{App: aai.BuiltinApp, Tool: tool, Args: args}
	if proved {
		call.Answers = map[string]aai.Answer{"proof": {Channel: aai.DesktopDialog, Choice: "yes"}}
	}
	for _, t := range w.editor.Tools() {
		if t.Name != tool {
			continue
		}
		if t.Precheck != nil {
			if err := t.Precheck(context.Background(), call); err != nil {
				return nil, err
			}
		}
		return t.Run(context.Background(), call)
	}
	w.t.Fatalf("there is no tool %s", tool)
	return nil, nil
}

func (w *world) set(key string, value any, proved bool) (*aai.Result, error) {
	return w.call(config.SetTool, map[string]any{"key": key, "value": value}, proved)
}

// row returns the listed row of a setting.
func (w *world) row(key string) map[string]any {
	w.t.Helper()
	result, err := w.call(config.ListTool, map[string]any{"key": key}, false)
	assert.NilError(w.t, err)
	b, err := json.Marshal(result.Data)
	var listed struct{ Settings []map[string]any }
	if err == nil {
		err = json.Unmarshal(b, &listed)
	}
	assert.NilError(w.t, err, b)
	assert.Assert(w.t, is.Len(listed.Settings, 1), b)
	return listed.Settings[0]
}

func TestSettingsSayWhoSaysWhat(t *testing.T) {
	w := newWorld(t, "{\n  \"logLevel\": \"warn\",\n  \"journal\": {\n    \"maxAge\": 10\n  },\n  \"defaultTimeout\": 5\n}\n")
	w.env["AAI_DEFAULT_TIMEOUT"] = "7"
	w.root = `{"web.rate": 3}`
	w.newProcess()
	for key, want := range map[string]map[string]any{
		"logLevel":       {"value": "warn", "source": "file", "from": w.path(), "line": 2.0, "in_file": "warn", "default": "info"},
		"defaultTimeout": {"value": 7.0, "source": "environment", "from": "AAI_DEFAULT_TIMEOUT", "line": 6.0, "in_file": 5.0},
		"web.rate":       {"value": 3.0, "source": "root", "line": nil},
		"journal.maxAge": {"value": 30.0, "source": "default", "line": 4.0, "in_file": 10.0, "waits": true, "widens": "less than the standard value"},
		"profile":        {"value": "apps", "source": "default", "choices": []any{"apps", "desktop", "all"}, "waits": nil, "kind": "one of"},
	} {
		row := w.row(key)
		for name, value := range want {
			assert.Check(t, reflect.DeepEqual(row[name], value), "%s %s %v %v", key, name, row[name], value)
		}
	}
	w.write(`{"logLevel": "loud"}`)
	result, err := w.call(config.ListTool, nil, false)
	assert.NilError(t, err, result)
	assert.Assert(t, is.Contains(result.Warning, "logLevel: expected"), result)
	_, err = w.call(config.ListTool, map[string]any{"key": "logLevle"}, false)
	assert.Check(t, is.Contains(strings.Join(aai.AsError(err).Candidates, " "), "logLevel"), err)
}

func TestSetWritesOneValue(t *testing.T) {
	w := newWorld(t, "")
	for _, step := range []struct {
		key    string
		value  any
		want   string
		proved bool
	}{
		{"logLevel", "debug", "{\n  \"logLevel\": \"debug\"\n}\n", false},
		{"journal.keepFull", "true", "{\n  \"logLevel\": \"debug\",\n  \"journal\": {\n    \"keepFull\": true\n  }\n}\n", false},
		{"security.denied_apps", "Thunderbird\norg.gnome.*\n", "{\n  \"logLevel\": \"debug\",\n  \"journal\": {\n    \"keepFull\": true\n  },\n  \"security\": {\n    \"denied_apps\": [\"Thunderbird\", \"org.gnome.*\"]\n  }\n}\n", false},
		{"logLevel", nil, "{\n  \"journal\": {\n    \"keepFull\": true\n  },\n  \"security\": {\n    \"denied_apps\": [\"Thunderbird\", \"org.gnome.*\"]\n  }\n}\n", false},
		{"web.rate", "2.5", "{\n  \"journal\": {\n    \"keepFull\": true\n  },\n  \"security\": {\n    \"denied_apps\": [\"Thunderbird\", \"org.gnome.*\"]\n  },\n  \"web\": {\n    \"rate\": 2.5\n  }\n}\n", false},
	} {
		before := w.file()
		result, err := w.set(step.key, step.value, step.proved)
		assert.NilError(t, err, step.key)
		assert.Equal(t, w.file(), step.want, step.key)
		kept, _ := os.ReadFile(filepath.Join(w.home, "data", "before"))
		assert.Check(t, is.Equal(string(kept), before), "%s: %q is kept of what was %q", step.key, kept, before)
		assert.Check(t, is.Contains(result.Warning, "started again"), "%s %+v", step.key, result)
	}
}

// TestSetRefuses checks that only a valid configuration is written.
func TestSetRefuses(t *testing.T) {
	const text = `{"logLevel": "warn"}`
	w := newWorld(t, text)
	for _, c := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"key": "logLevle", "value": "warn"}, "there is no setting"},
		{map[string]any{"key": "logLevel", "value": "loud"}, `expected "debug"`},
		{map[string]any{"key": "defaultTimeout", "value": "soon"}, "expected a number"},
		{map[string]any{"key": "defaultTimeout", "value": "0"}, "expected a number of seconds"},
		{map[string]any{"key": "dev", "value": "perhaps"}, "expected true or false"},
		{map[string]any{"key": "login.sites", "value": "x"}, "expected an object"},
		{map[string]any{"key": "logLevel", "value": "info", "seen": "0011"}, "was changed since it was shown"},
		{map[string]any{"key": "dev", "value": true}, "nobody has confirmed it"},
	} {
		_, err := w.call(config.SetTool, c.args, false)
		e := aai.AsError(err)
		assert.Assert(t, err != nil, "%v %v", c.args, err)
		assert.Assert(t, is.Contains(e.Message, c.want), "%v %v", c.args, err)
		assert.Assert(t, e.Hint != "" || len(e.Candidates) != 0 || strings.Contains(e.Message, "expected"), "%v %v", c.args, err)
		assert.Equal(t, w.file(), text, c.args)
	}
	w.write(`{"logLevel": }`)
	_, err := w.set("logLevel", "info", false)
	assert.Assert(t, err != nil, err)
	assert.Assert(t, is.Contains(aai.AsError(err).Hint, "by hand"), err)
}

// TestSetConfirmsWhatWidens checks that a widening value applies once confirmed, and only that value.
func TestSetConfirmsWhatWidens(t *testing.T) {
	w := newWorld(t, "")
	widens := func(key string, value any) bool {
		return w.editor.Widens(&aai.Call{Tool: config.SetTool, Args: map[string]any{"key": key, "value": value}})
	}
	assert.Assert(t, widens("dev", true), "what widens is not told from what does not")
	assert.Assert(t, !widens("logLevel", "debug"), "what widens is not told from what does not")
	assert.Assert(t, !widens("no.such", 1.0), "what widens is not told from what does not")
	assert.Assert(t, !widens("dev", false), "what widens is not told from what does not")
	result, err := w.set("dev", true, true)
	assert.NilError(t, err)
	if data := result.Data.(map[string]any); !strings.HasPrefix(result.Text, "dev is true") || data["value"] != true || data["source"] != "file" {
		t.Errorf("it holds, and the answer says %q %v", result.Text, data)
	}
	row := w.row("dev")
	assert.Equal(t, row["value"], true, row)
	assert.Assert(t, row["waits"] == nil, row)
	assert.Equal(t, row["running"], false, row)
	w.write(`{"dev": true, "web.rate": 5000}`)
	row = w.row("web.rate")
	assert.Check(t, is.Equal(row["value"], 10.0), row)
	assert.Check(t, is.Equal(row["waits"], true), row)
	assert.Check(t, is.Equal(row["in_file"], 5000.0), row)
}

// TestSetWithoutAPlaceForTheKey checks that the error without sealing names the remedy.
func TestSetWithoutAPlaceForTheKey(t *testing.T) {
	w := newWorld(t, "")
	w.confirmed = reauth.NewConfirmedSettings(secrets.New(secrets.Config{
		Folder: filepath.Join(w.home, "none"), Getenv: func(name string) string { return map[string]string{"XDG_RUNTIME_DIR": "/nonexistent"}[name] },
	}).NonInteractive())
	w.newProcess()
	_, err := w.set("dev", true, true)
	e := aai.AsError(err)
	assert.Assert(t, err != nil, "%+v", err)
	assert.Equal(t, e.Code, aai.AutomationNotSupported, "%+v", err)
	assert.Assert(t, is.Contains(e.Hint, "aai-gateway keychain status says how"), "%+v", err)
}

// TestSetKeepsTheFileWhatItIs checks that links and permissions stay.
func TestSetKeepsTheFileWhatItIs(t *testing.T) {
	w := newWorld(t, "")
	real := filepath.Join(w.home, "dotfiles", "aai.json")
	assert.NilError(t, os.MkdirAll(filepath.Dir(real), 0o700))
	assert.NilError(t, os.WriteFile(real, []byte("{}\n"), 0o600))
	assert.NilError(t, os.MkdirAll(filepath.Dir(w.path()), 0o700))
	assert.NilError(t, os.Symlink(real, w.path()))
	if _, err := w.set("logLevel", "debug", false); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(w.path())
	assert.NilError(t, err, info)
	assert.Assert(t, info.Mode()&os.ModeSymlink != 0, info)
	b, _ := os.ReadFile(real)
	assert.Check(t, is.Contains(string(b), "debug"), b)
}

// TestTwoWriters checks that concurrent writers see each other's changes or fail; nothing is lost.
func TestTwoWriters(t *testing.T) {
	w := newWorld(t, "{}\n")
	keys := []string{"rate_limits.rps", "rate_limits.rpm", "rate_limits.concurrency", "rate_limits.declared_rps", "rate_limits.declared_rpm", "journal.rotateSize"}
	var all sync.WaitGroup
	for _, key := range keys {
		all.Go(func() {
			for range 5 {
				_, err := w.set(key, 7.0, false)
				assert.Check(t, err, key)
			}
		})
	}
	all.Wait()
	said, err := config.Parse(w.path(), []byte(w.file()))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(said, len(keys)))
}

// TestNothingElseChanges checks that any change of any file leaves all other settings unchanged.
func TestNothingElseChanges(t *testing.T) {
	values := map[string]any{"logLevel": "debug", "journal.rotateSize": 7.0, "security.denied_apps": []any{"a", "b"}, "http.idle": 60.0, "rate_limits.rps": 4.0, "journal.keepFull": true}
	for _, name := range []string{"config.json", "config.toml"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "")
			w.env["FILE"] = filepath.Join(w.home, name)
			w.write(map[string]string{"config.json": "{}", "config.toml": ""}[name])
			w.newProcess()
			rapid.Check(t, func(t *rapid.T) {
				key := rapid.SampledFrom([]string{"logLevel", "journal.rotateSize", "security.denied_apps", "http.idle", "rate_limits.rps", "journal.keepFull"}).Draw(t, "key")
				before, err := config.Parse(w.path(), []byte(w.file()))
				if err != nil {
					t.Fatalf("%v in\n%s", err, w.file())
				}
				want := maps.Clone(before)
				value := values[key]
				if rapid.Bool().Draw(t, "unset") {
					value = nil
					delete(want, key)
				} else {
					want[key] = value
				}
				if _, err := w.set(key, value, true); err != nil {
					t.Fatalf("%v in\n%s", err, w.file())
				}
				after, err := config.Parse(w.path(), []byte(w.file()))
				if err != nil || !reflect.DeepEqual(after, want) {
					t.Fatalf("%v: %v, want %v in\n%s", err, after, want, w.file())
				}
			})
		})
	}
}
