package secrets

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// A vaultEnv is the environment of a vault. The zero environment has no place for a key.
type vaultEnv struct {
	t           *testing.T
	path        string // of the vault
	env         map[string]string
	keychain    *fakeKeychain
	unreachable error // why the keychain cannot be reached
	insecure    bool
	ask         PassphrasePrompt
}

func newDesk(t *testing.T) *vaultEnv {
	t.Helper()
	return &vaultEnv{
		t: t, path: filepath.Join(t.TempDir(), "secrets"), env: map[string]string{"XDG_RUNTIME_DIR": "/nonexistent"},
		keychain: newMemoryKeychain(), unreachable: errors.New("there is no session bus"),
	}
}

// open returns the vault of a new process.
func (d *vaultEnv) open() *Vault {
	v := New(Config{Folder: d.path, Getenv: func(name string) string { return d.env[name] }, AllowInsecureFile: d.insecure, Ask: d.ask})
	v.system = d.keychain.system(d.unreachable)
	return v
}

// keyFile creates a file with a key.
func (d *vaultEnv) keyFile(content []byte) string {
	d.t.Helper()
	path := filepath.Join(d.t.TempDir(), "aai-master")
	write(d.t, path, content)
	return path
}

func (d *vaultEnv) status() answer.Keychain {
	d.t.Helper()
	s, err := d.open().Status(d.t.Context())
	assert.NilError(d.t, err)
	return s
}

func (d *vaultEnv) tryPut() error {
	return d.open().Update(d.t.Context(), "a", func([]byte) ([]byte, error) { return []byte("secret"), nil })
}

// places returns all places in order, with a function that makes each usable.
func (d *vaultEnv) places() []struct {
	name   string
	enable func()
} {
	return []struct {
		name   string
		enable func()
	}{
		{placeInsecure, func() { d.insecure = true }},
		{placePassphrase, func() { d.insecure, d.ask = false, answers("correct horse", "correct horse", "correct horse") }},
		{placeKeyFile, func() { d.env[KeyFileEnv] = d.keyFile(newKey()) }},
		{placeCredential, func() { d.env["CREDENTIALS_DIRECTORY"] = filepath.Dir(d.keyFile(newKey())) }},
		{placeSystem, func() { d.unreachable = nil }},
	}
}

// answers types the lines one after the other.
func answers(lines ...string) PassphrasePrompt {
	return func(context.Context, string) (string, error) {
		if len(lines) == 0 {
			return "", errors.New("nobody types")
		}
		line := lines[0]
		lines = lines[1:]
		return line, nil
	}
}

// TestOrderOfPlaces checks that the best available place gets the key, and that Status
// reports it before and after.
func TestOrderOfPlaces(t *testing.T) {
	for i := range 5 {
		d := newDesk(t)
		want := ""
		for _, p := range d.places()[:i+1] {
			p.enable()
			want = p.name
		}
		if s := d.status(); s.Place != want || s.Exists || s.Problem != "" || stateOf(s, want) != answer.StateNext {
			t.Errorf("before: %+v; expected %s", s, want)
		}
		assert.NilError(t, d.tryPut())
		s := d.status()
		assert.Equal(t, s.Place, want, "%+v", s)
		assert.Assert(t, s.Exists, "after: %+v; expected %s", s, want)
		assert.Equal(t, s.Records, 1, "%+v", s)
		assert.Equal(t, s.Problem, "", "%+v", s)
		assert.Equal(t, (s.Warning != ""), (want == placeInsecure), "%+v", s)
		state := stateOf(s, want)
		assert.Check(t, state == answer.StateInUse || state == answer.StateNotAsked && want == placePassphrase, "%s %s", want, state)
		_, err := os.Stat(filepath.Join(d.path, insecureFile))
		assert.Check(t, is.Equal((err == nil), (want == placeInsecure)), "%s: the unprotected file: %v", want, err)
		if want == placePassphrase {
			d.ask = answers("wrong", "correct horse")
		}
		has(t, d.open(), "a", "secret")
	}
}

func stateOf(s answer.Keychain, name string) answer.PlaceState {
	for _, p := range s.Places {
		if p.Name == name {
			return p.State
		}
	}
	return ""
}

// TestNoPlace checks that without a place for the key nothing is stored, and that the error has advice.
func TestNoPlace(t *testing.T) {
	d := newDesk(t)
	err := d.tryPut()
	e := refusal(t, err, aai.AutomationNotSupported)
	assert.Assert(t, is.ErrorIs(err, errors.ErrUnsupported))
	assert.Assert(t, e.RetrySafe(), "%v cannot be told from other errors", err)
	for _, word := range []string{"no session bus", "CREDENTIALS_DIRECTORY is not set", "AAI_MASTER_KEY_FILE: it is not set", "nobody can be asked", "--insecure-storage"} {
		assert.Check(t, is.Contains(e.Message, word))
	}
	for _, remedy := range []string{"unlock the keychain", "AAI_MASTER_KEY_FILE", "--insecure-storage", "AAI_INSECURE_STORAGE"} {
		assert.Check(t, is.Contains(e.Hint, remedy))
	}
	has(t, d.open(), "a", "absent")
	s := d.status()
	assert.Check(t, is.Equal(s.Problem, e.Message), "%+v", s)
	assert.Check(t, is.Equal(s.Place, ""), "%+v", s)
	_, err = os.Stat(d.path)
	assert.Check(t, is.ErrorIs(err, fs.ErrNotExist), "a folder was made: %v", err)
}

// TestKeyIsGone checks that a missing or different key is an error that names its place.
// The vault is not reset, and opens again with the key.
func TestKeyIsGone(t *testing.T) {
	for name, lose := range map[string]func(d *vaultEnv) (giveBack func()){
		placeSystem: func(d *vaultEnv) func() {
			old := d.keychain.items
			d.keychain.items = map[string]string{}
			return func() { d.keychain.items = old }
		},
		"another in the keychain": func(d *vaultEnv) func() {
			old := d.keychain.items
			d.keychain.items = map[string]string{service + "/" + account: base64.StdEncoding.EncodeToString(newKey())}
			return func() { d.keychain.items = old }
		},
		"no bus": func(d *vaultEnv) func() {
			d.unreachable = errors.New("no bus")
			return func() { d.unreachable = nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.unreachable = nil
			assert.NilError(t, d.tryPut())
			giveBack := lose(d)
			d.insecure, d.env[KeyFileEnv] = true, d.keyFile(newKey())
			for range 2 {
				_, err := d.open().Get(t.Context(), "a")
				e := refusal(t, err, aai.AutomationFailed)
				assert.Assert(t, is.Contains(e.Message, "the keychain of the operating system, which cannot be had"), e)
				assert.Assert(t, !errors.Is(err, errors.ErrUnsupported), e)
				refuses(t, d.tryPut(), aai.AutomationFailed)
				_, err = d.open().Names(t.Context(), "")
				refuses(t, err, aai.AutomationFailed)
			}
			s := d.status()
			assert.Check(t, s.Problem != "", "%+v", s)
			assert.Check(t, is.Equal(s.Place, placeSystem), "%+v", s)
			assert.Check(t, is.Equal(stateOf(s, placeKeyFile), answer.StateOtherKey), "%+v", s)
			assert.Check(t, stateOf(s, placeSystem) != answer.StateInUse, "%+v", s)
			giveBack()
			has(t, d.open(), "a", "secret")
		})
	}
}

// TestKeyHasMoved checks that a copy of the right key opens the vault from any place.
func TestKeyHasMoved(t *testing.T) {
	d := newDesk(t)
	d.unreachable = nil
	assert.NilError(t, d.tryPut())
	key, err := base64.StdEncoding.DecodeString(d.keychain.items[service+"/"+account])
	assert.NilError(t, err)
	d.unreachable = errors.New("no bus")
	for _, content := range []string{string(key), hex.EncodeToString(key), base64.StdEncoding.EncodeToString(key) + "\n"} {
		d.env[KeyFileEnv] = d.keyFile([]byte(content))
		has(t, d.open(), "a", "secret")
	}
	s := d.status()
	assert.Check(t, is.Equal(s.Place, placeKeyFile), "%+v", s)
	assert.Check(t, is.Equal(s.Problem, ""), "%+v", s)
}

// TestKeyIsAdopted checks that an existing key is used: deleting one data folder must not
// affect other folders with the same key.
func TestKeyIsAdopted(t *testing.T) {
	d := newDesk(t)
	d.unreachable = nil
	key := base64.StdEncoding.EncodeToString(newKey())
	d.keychain.items[service+"/"+account] = key
	assert.NilError(t, d.tryPut())
	assert.Check(t, is.Equal(d.keychain.items[service+"/"+account], key), "the keychain has another key now")
}

// TestInsecureMustBeAllowed checks that the unprotected file is used only while it is allowed.
func TestInsecureMustBeAllowed(t *testing.T) {
	d := newDesk(t)
	d.insecure = true
	assert.NilError(t, d.tryPut())
	d.insecure = false
	_, err := d.open().Get(t.Context(), "a")
	e := refusal(t, err, aai.AutomationFailed)
	assert.Check(t, is.Contains(e.Message, "used only with --insecure-storage"), e)
	var log bytes.Buffer
	New(Config{Folder: d.path, Getenv: noKeychain, AllowInsecureFile: true, Log: slog.New(slog.NewTextHandler(&log, nil))})
	assert.Assert(t, is.Contains(log.String(), "level=WARN"))
	assert.Assert(t, is.Contains(log.String(), strings.ReplaceAll(filepath.Join(d.path, insecureFile), `\`, `\\`)))
	New(Config{Folder: d.path, Getenv: noKeychain, Log: slog.New(slog.NewTextHandler(&log, nil))})
	assert.Check(t, is.Equal(strings.Count(log.String(), "\n"), 1), "a warning without a reason: %q", log.String())
}

func TestPassphrase(t *testing.T) {
	d := newDesk(t)
	for name, ask := range map[string]PassphrasePrompt{
		"short":     answers("short", "short"),
		"different": answers("correct horse", "correct house"),
		"left":      answers("correct horse"),
	} {
		d.ask = ask
		refuses(t, d.tryPut(), aai.AutomationNotSupported)
		l, err := d.open().label()
		assert.Assert(t, l == nil, "%s: there is a vault: %+v, %v", name, l, err)
		assert.NilError(t, err, "%s %+v", name, l)
	}
	d.ask = answers("correct horse", "correct horse")
	v := d.open()
	put(t, v, "a", "secret")
	has(t, v, "a", "secret") // asked once in a process

	d.ask = answers("wrong", "wrong again", "and again", "correct horse")
	_, err := d.open().Get(t.Context(), "a")
	e := refusal(t, err, aai.AutomationFailed)
	assert.Check(t, is.Contains(e.Message, "a passphrase: the passphrase was wrong"), e)
	d.ask = nil
	_, err = d.open().Get(t.Context(), "a")
	e = refusal(t, err, aai.AutomationFailed)
	assert.Check(t, is.Contains(e.Message, "nobody can be asked"), e)
	s := d.status()
	assert.Check(t, s.Problem != "", "%+v", s)
	assert.Check(t, is.Equal(s.Place, placePassphrase), "%+v", s)
	// Records for every process are not sealed with a passphrase.
	d.ask = answers("correct horse")
	for _, v := range []*Vault{v, d.open()} {
		_, err := v.NonInteractive().Get(t.Context(), "a")
		refuses(t, err, aai.AutomationNotSupported)
		assert.Check(t, is.ErrorIs(err, errors.ErrUnsupported))
	}
	other := newDesk(t)
	other.ask = answers("correct horse", "correct horse")
	refuses(t, other.open().NonInteractive().Update(t.Context(), "a", nil), aai.AutomationNotSupported)
}

// TestHostileLabel checks that a label with extreme scrypt parameters is refused.
func TestHostileLabel(t *testing.T) {
	id := `"key":"` + strings.Repeat("ab", keyIDSize) + `"`
	salt := base64.StdEncoding.EncodeToString(make([]byte, saltSize))
	l, err := parseLabel([]byte(`{"version":1,` + id + `,"place":"passphrase","scrypt":{"salt":"` + salt + `","n":131072}}`))
	assert.NilError(t, err, "%+v", l)
	assert.Equal(t, l.Scrypt.N, scryptN, "%+v", l)
	for name, text := range map[string]string{
		"a version of the future": `{"version":2,` + id + `,"place":"keychain"}`,
		"a field of the future":   `{"version":1,` + id + `,"place":"keychain","wrapped":""}`,
		"no key":                  `{"version":1,"place":"keychain"}`,
		"a short key":             `{"version":1,"key":"ab","place":"keychain"}`,
		"two":                     `{"version":1,` + id + `,"place":"keychain"}{}`,
		"much memory":             `{"version":1,` + id + `,"place":"passphrase","scrypt":{"salt":"` + salt + `","n":1073741824}}`,
		"no work":                 `{"version":1,` + id + `,"place":"passphrase","scrypt":{"salt":"` + salt + `","n":2}}`,
		"an odd N":                `{"version":1,` + id + `,"place":"passphrase","scrypt":{"salt":"` + salt + `","n":131073}}`,
		"no salt":                 `{"version":1,` + id + `,"place":"passphrase","scrypt":{"salt":"","n":131072}}`,
		"no scrypt":               `{"version":1,` + id + `,"place":"passphrase"}`,
		"scrypt of a keychain":    `{"version":1,` + id + `,"place":"keychain","scrypt":{"salt":"` + salt + `","n":131072}}`,
	} {
		l, err := parseLabel([]byte(text))
		assert.Check(t, err != nil, "%s %+v", name, l)
	}
}

func TestKeyFiles(t *testing.T) {
	key := newKey()
	for name, c := range map[string]struct {
		content string
		good    bool
	}{
		"raw":          {string(key), true},
		"hexadecimal":  {hex.EncodeToString(key), true},
		"base64":       {base64.StdEncoding.EncodeToString(key), true},
		"a line":       {hex.EncodeToString(key) + "\r\n", true},
		"a password":   {"0123456789abcdef0123456789abcdef", false},
		"raw, short":   {string(key[1:]), false},
		"raw, long":    {string(key) + "x", false},
		"hex, short":   {hex.EncodeToString(key[1:]), false},
		"empty":        {"", false},
		"much":         {strings.Repeat(" ", 2000) + hex.EncodeToString(key), false},
		"half of text": {"passphrase", false},
	} {
		d := newDesk(t)
		d.env[KeyFileEnv] = d.keyFile([]byte(c.content))
		err := d.tryPut()
		assert.Check(t, is.Equal(c.good, (err == nil)), "%s %v", name, err)
		assert.Check(t, c.good || strings.Contains(refusal(t, err, aai.AutomationNotSupported).Message, d.env[KeyFileEnv]), "%s: the file is not named: %v", name, err)
	}
	d := newDesk(t)
	for _, path := range []string{"relative", filepath.Join(t.TempDir(), "absent"), t.TempDir()} {
		d.env[KeyFileEnv] = path
		e := refusal(t, d.tryPut(), aai.AutomationNotSupported)
		assert.Check(t, is.Contains(e.Message, path), e)
	}
}

// TestSeals checks that CheckSealing creates no file.
func TestSeals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the keychain is a part of the system")
	}
	folder := filepath.Join(t.TempDir(), "secrets")
	err := New(Config{Folder: folder, Getenv: noKeychain}).CheckSealing(t.Context())
	assert.Check(t, is.ErrorIs(err, errors.ErrUnsupported), "without a place: %v", err)
	v := openVault(folder)
	assert.Check(t, v.CheckSealing(t.Context()))
	_, err = os.Lstat(folder)
	assert.Check(t, is.ErrorIs(err, fs.ErrNotExist), "the folder was made: %v", err)
	put(t, v, "a", "x")
	assert.Check(t, openVault(folder).CheckSealing(t.Context()))
	err = New(Config{Folder: folder, Getenv: noKeychain}).CheckSealing(t.Context())
	assert.Assert(t, err != nil, "with a vault whose key is gone: %v", err)
	assert.Assert(t, !errors.Is(err, errors.ErrUnsupported), "with a vault whose key is gone: %v", err)
}
