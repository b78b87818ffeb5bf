package reauth

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/secrets"
)

const phrase = "correct horse battery"

// A place is a folder of an installation, with or without sealing.
type place struct{ folder string }

func (p place) vault(t *testing.T, seals bool) *secrets.Vault {
	t.Helper()
	return secrets.New(secrets.Config{
		Folder: filepath.Join(p.folder, "secrets"), AllowInsecureFile: seals,
		Getenv: func(string) string { return "/nonexistent" },
	}).NonInteractive()
}

// passphrase returns the Passphrase of a new process.
func (p place) passphrase(t *testing.T, seals bool, now *time.Time) *Passphrase {
	t.Helper()
	w := NewPassphrase(p.vault(t, seals), filepath.Join(p.folder, "passphrase.json"))
	w.n = 1 << 4 // the duration is not tested
	w.now = func() time.Time { return *now }
	return w
}

func code(err error) aai.Code {
	if err == nil {
		return ""
	}
	return aai.AsError(err).Code
}

func TestPassphrase(t *testing.T) {
	for name, seals := range map[string]bool{"sealed": true, "nothing can be sealed": false} {
		t.Run(name, func(t *testing.T) {
			at, now := place{t.TempDir()}, time.Now()
			w := at.passphrase(t, seals, &now)
			assert.Assert(t, !w.IsSet(t.Context()), "there is one before it was set")
			assert.Equal(t, code(w.CheckPassphrase(t.Context(), phrase)), aai.PermissionDenied)
			assert.Equal(t, code(w.CheckPassphrase(t.Context(), "")), aai.PermissionDenied)
			assert.Check(t, is.Equal(code(w.Change(t.Context(), "short")), aai.InvalidParams))
			assert.Check(t, !w.IsSet(t.Context()), "a short one is taken")
			assert.NilError(t, w.Change(t.Context(), phrase))
			other := at.passphrase(t, seals, &now)
			assert.Assert(t, other.IsSet(t.Context()), "another process does not know it")
			assert.NilError(t, other.CheckPassphrase(t.Context(), phrase))
			for _, wrong := range []string{"", phrase + " ", strings.ToUpper(phrase)} {
				assert.Check(t, is.Equal(code(other.CheckPassphrase(t.Context(), wrong)), aai.PermissionDenied), "%q", wrong)
			}
			err := w.Change(t.Context(), "another phrase")
			assert.NilError(t, err)
			assert.NilError(t, other.CheckPassphrase(t.Context(), "another phrase"))
			assert.Assert(t, other.CheckPassphrase(t.Context(), phrase) != nil, "after a change: %v", err)
			p := at.folder
			assert.NilError(t, filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				b, err := os.ReadFile(path)
				if bytes.Contains(b, []byte(phrase)) || bytes.Contains(b, []byte("another phrase")) {
					t.Errorf("%s has it", path)
				}
				info, statErr := d.Info()
				if statErr != nil || info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s: %v, %v", path, info.Mode(), statErr)
				}
				return err
			}))
		})
	}
}

// TestTriesAreBounded checks that the wait grows with each failure, across processes, that
// attempts meanwhile are rejected unchecked, and that a correct one resets it.
func TestTriesAreBounded(t *testing.T) {
	at, now := place{t.TempDir()}, time.Now()
	w := at.passphrase(t, true, &now)
	assert.NilError(t, w.Change(t.Context(), phrase))
	var waited time.Duration
	for range 16 {
		err := aai.AsError(at.passphrase(t, true, &now).CheckPassphrase(t.Context(), "guess"))
		assert.Assert(t, err != nil, "%+v after %s", err, waited)
		assert.Equal(t, err.Code, aai.PermissionDenied, "%+v %s", err, waited)
		assert.Assert(t, err.RetryAfter >= waited/2, "%+v after %s", err, waited)
		assert.Assert(t, err.RetryAfter <= maxWait, "%+v after %s", err, waited)
		waited = err.RetryAfter
		if waited > 0 {
			now = now.Add(waited - time.Millisecond)
			early := aai.AsError(at.passphrase(t, true, &now).CheckPassphrase(t.Context(), phrase))
			assert.Assert(t, early != nil, "looked at after %s of %s: %v", waited-time.Millisecond, waited, early)
			assert.Assert(t, is.Contains(early.Message, "too many"), "%s %s %v", waited-time.Millisecond, waited, early)
		}
		now = now.Add(2 * time.Millisecond)
	}
	assert.Check(t, waited >= 30*time.Minute, "after 16 failures the wait is %s", waited)
	assert.NilError(t, w.CheckPassphrase(t.Context(), phrase))
	err := aai.AsError(w.CheckPassphrase(t.Context(), "guess"))
	assert.Check(t, err.RetryAfter == 0, "a typing error after the right one costs %s", err.RetryAfter)
}

// TestDamagedPassphrase checks that an invalid record counts as set: otherwise a program
// that damages it could set a passphrase.
func TestDamagedPassphrase(t *testing.T) {
	at, now := place{t.TempDir()}, time.Now()
	for _, content := range []string{"", "{}", `{"salt": "AA==", "n": 16, "key": ""}`, `{"salt":"AAAAAAAAAAAAAAAAAAAAAA==","n":1073741824,"key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}`} {
		assert.NilError(t, os.WriteFile(filepath.Join(at.folder, "passphrase.json"), []byte(content), 0o600))
		w := at.passphrase(t, false, &now)
		if got := code(w.CheckPassphrase(t.Context(), "")); !w.IsSet(t.Context()) || got == "" {
			t.Errorf("%q: set %v, %q", content, w.IsSet(t.Context()), got)
		}
	}
}

// TestSettings checks that a confirmation covers a value and a source, and needs sealing.
func TestSettings(t *testing.T) {
	at := place{t.TempDir()}
	one := Setting{From: "/home/x/.aai/config.json", Key: "net.allowPrivate", Value: []any{"a.example"}}
	by := func(s Setting) aai.Channel {
		t.Helper()
		ch, err := NewConfirmedSettings(at.vault(t, true)).ConfirmedBy(t.Context(), s)
		assert.Check(t, err)
		return ch
	}
	err := NewConfirmedSettings(at.vault(t, false)).Confirm(t.Context(), []Setting{one}, aai.DesktopDialog)
	assert.Check(t, is.Equal(code(err), aai.AutomationNotSupported), err)
	assert.Check(t, by(one) == "", "confirmed where nothing can be sealed: %v", err)
	err = NewConfirmedSettings(at.vault(t, true)).Confirm(t.Context(), []Setting{one}, aai.DesktopDialog)
	assert.NilError(t, err)
	assert.Equal(t, by(one), aai.DesktopDialog)
	for _, other := range []Setting{
		{one.From, one.Key, []any{"a.example", "b.example"}}, {one.From, one.Key, nil},
		{"AAI_X", one.Key, one.Value}, {one.From, "dev", one.Value},
	} {
		got := by(other)
		assert.Check(t, got == "", "%+v is confirmed by %q", other, got)
	}
	// Only the last value is confirmed, not an earlier one.
	next := Setting{one.From, one.Key, []any{}}
	if err := NewConfirmedSettings(at.vault(t, true)).Confirm(t.Context(), []Setting{next}, aai.Passphrase); err != nil || by(next) != aai.Passphrase || by(one) != "" {
		t.Errorf("%v, %q, %q", err, by(next), by(one))
	}
}

// meantime is a RecordStore that calls a function after the next change.
type meantime struct {
	RecordStore
	do func()
}

func (m *meantime) Update(ctx context.Context, id string, edit func(old []byte) ([]byte, error)) error {
	err := m.RecordStore.Update(ctx, id, edit)
	if do := m.do; do != nil {
		m.do = nil
		do()
	}
	return err
}

// TestChangedInTheMeantime checks that a passphrase changed during its check is not accepted.
func TestChangedInTheMeantime(t *testing.T) {
	at, now := place{t.TempDir()}, time.Now()
	other, w := at.passphrase(t, true, &now), at.passphrase(t, true, &now)
	assert.NilError(t, other.Change(t.Context(), phrase))
	w.vault = &meantime{w.vault, func() {
		assert.Check(t, other.Change(t.Context(), "another phrase"))
	}}
	err := w.CheckPassphrase(t.Context(), phrase)
	assert.Check(t, is.ErrorContains(err, "changed in the meantime"), "the old one: %v", err)
	err = w.CheckPassphrase(t.Context(), "another phrase")
	assert.Check(t, err, "the new one: %v", err)
}
