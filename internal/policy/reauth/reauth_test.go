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
			if w.IsSet(t.Context()) || code(w.CheckPassphrase(t.Context(), phrase)) != aai.PermissionDenied || code(w.CheckPassphrase(t.Context(), "")) != aai.PermissionDenied {
				t.Error("there is one before it was set")
			}
			if code(w.Change(t.Context(), "short")) != aai.InvalidParams || w.IsSet(t.Context()) {
				t.Error("a short one is taken")
			}
			if err := w.Change(t.Context(), phrase); err != nil {
				t.Fatal(err)
			}
			other := at.passphrase(t, seals, &now)
			if !other.IsSet(t.Context()) || other.CheckPassphrase(t.Context(), phrase) != nil {
				t.Error("another process does not know it")
			}
			for _, wrong := range []string{"", phrase + " ", strings.ToUpper(phrase)} {
				if got := code(other.CheckPassphrase(t.Context(), wrong)); got != aai.PermissionDenied {
					t.Errorf("%q: %q", wrong, got)
				}
			}
			if err := w.Change(t.Context(), "another phrase"); err != nil || other.CheckPassphrase(t.Context(), "another phrase") != nil || other.CheckPassphrase(t.Context(), phrase) == nil {
				t.Errorf("after a change: %v", err)
			}
			p := at.folder
			if err := filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
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
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestTriesAreBounded checks that the wait grows with each failure, across processes, that
// attempts meanwhile are rejected unchecked, and that a correct one resets it.
func TestTriesAreBounded(t *testing.T) {
	at, now := place{t.TempDir()}, time.Now()
	w := at.passphrase(t, true, &now)
	if err := w.Change(t.Context(), phrase); err != nil {
		t.Fatal(err)
	}
	var waited time.Duration
	for range 16 {
		err := aai.AsError(at.passphrase(t, true, &now).CheckPassphrase(t.Context(), "guess"))
		if err == nil || err.Code != aai.PermissionDenied || err.RetryAfter < waited/2 || err.RetryAfter > maxWait {
			t.Fatalf("%+v after %s", err, waited)
		}
		waited = err.RetryAfter
		if waited > 0 {
			now = now.Add(waited - time.Millisecond)
			early := aai.AsError(at.passphrase(t, true, &now).CheckPassphrase(t.Context(), phrase))
			if early == nil || !strings.Contains(early.Message, "too many") {
				t.Fatalf("looked at after %s of %s: %v", waited-time.Millisecond, waited, early)
			}
		}
		now = now.Add(2 * time.Millisecond)
	}
	if waited < 30*time.Minute {
		t.Errorf("after 16 failures the wait is %s", waited)
	}
	if err := w.CheckPassphrase(t.Context(), phrase); err != nil {
		t.Fatal(err)
	}
	if err := aai.AsError(w.CheckPassphrase(t.Context(), "guess")); err.RetryAfter != 0 {
		t.Errorf("a typing error after the right one costs %s", err.RetryAfter)
	}
}

// TestDamagedPassphrase checks that an invalid record counts as set: otherwise a program
// that damages it could set a passphrase.
func TestDamagedPassphrase(t *testing.T) {
	at, now := place{t.TempDir()}, time.Now()
	for _, content := range []string{"", "{}", `{"salt": "AA==", "n": 16, "key": ""}`, `{"salt":"AAAAAAAAAAAAAAAAAAAAAA==","n":1073741824,"key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}`} {
		if err := os.WriteFile(filepath.Join(at.folder, "passphrase.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
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
		if err != nil {
			t.Error(err)
		}
		return ch
	}
	if err := NewConfirmedSettings(at.vault(t, false)).Confirm(t.Context(), []Setting{one}, aai.DesktopDialog); code(err) != aai.AutomationNotSupported || by(one) != "" {
		t.Errorf("confirmed where nothing can be sealed: %v", err)
	}
	if err := NewConfirmedSettings(at.vault(t, true)).Confirm(t.Context(), []Setting{one}, aai.DesktopDialog); err != nil || by(one) != aai.DesktopDialog {
		t.Errorf("%v, %q", err, by(one))
	}
	for _, other := range []Setting{
		{one.From, one.Key, []any{"a.example", "b.example"}}, {one.From, one.Key, nil},
		{"AAI_X", one.Key, one.Value}, {one.From, "dev", one.Value},
	} {
		if got := by(other); got != "" {
			t.Errorf("%+v is confirmed by %q", other, got)
		}
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
	if err := other.Change(t.Context(), phrase); err != nil {
		t.Fatal(err)
	}
	w.vault = &meantime{w.vault, func() {
		if err := other.Change(t.Context(), "another phrase"); err != nil {
			t.Error(err)
		}
	}}
	if err := w.CheckPassphrase(t.Context(), phrase); err == nil || !strings.Contains(err.Error(), "changed in the meantime") {
		t.Errorf("the old one: %v", err)
	}
	if err := w.CheckPassphrase(t.Context(), "another phrase"); err != nil {
		t.Errorf("the new one: %v", err)
	}
}
