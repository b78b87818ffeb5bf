package recording_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/recording"
)

// TestNoSecretIsRecorded: 22 secrets that a person enters in password fields, in fields with names of secrets, in another
// program and in a terminal, copies, or types while a window takes the keyboard, are in no recording.
func TestNoSecretIsRecorded(t *testing.T) {
	w := newWorld(t)
	p := w.orders()
	w.xdo("search", "--sync", "--name", "^Orders$", "windowmove", "20", "20")
	elsewhere := w.orders()
	w.xdo("windowmove", fmt.Sprint(w.window(elsewhere.app)), "800", "20")
	w.until("the windows side by side", func() bool {
		a, b := w.find(p.app, "role:window"), w.find(elsewhere.app, "role:window")
		return a != nil && b != nil && b.Frame.X-a.Frame.X > 700
	})
	var secrets []string
	secret := func() string {
		s := fmt.Sprintf("zq%dwkv%d", 1000+len(secrets)*37, 100+len(secrets)*7)
		secrets = append(secrets, s)
		return s
	}
	path := p.recordFile(func() {
		for range 3 {
			p.click(`role:textbox name:Password`)
			p.types(secret())
			p.click(`role:textbox name:"Door PIN"`)
			p.types(secret())
			for _, field := range []string{`role:textbox name:City`, `role:textbox name:"Customer name"`, `role:textbox name:Password`} {
				elsewhere.click(field)
				elsewhere.types(secret())
			}
		}
		copied := secret()
		_, err := w.screen.Set(w.Context(), desktop.Clip{Text: copied})
		assert.NilError(w, err)
		p.click(`role:textbox name:Password`)
		p.press("ctrl+v")
		w.until("the copied text", func() bool { return p.hasText(copied) })
		p.types(secret())
		p.press("shift+Home", "ctrl+x")
		for range 2 { // the window takes the keyboard in the middle of a text
			p.click(`role:button name:"Steal focus"`)
			p.click(`role:textbox name:Password`)
			first, second := secret(), secret()
			p.xdo("type", "--delay", "90", first+second+first+second)
			w.until("the text in another field", func() bool {
				stolen, _ := w.state(p.file)["customer"].(string)
				return stolen != "" && strings.HasSuffix(second, stolen[max(0, len(stolen)-4):])
			})
		}
		inTerminal, last := filepath.Join(t.TempDir(), "typed"), secret()
		w.Launch(w.T, "xterm", "-geometry", "60x8+20+700", "-e", "sh", "-c", "cat > "+inTerminal)
		w.xdo("search", "--sync", "--onlyvisible", "--class", "xterm", "windowactivate", "--sync")
		p.xdo("type", "--delay", "40", last+"\n")
		w.until("the text in the terminal", func() bool {
			b, err := os.ReadFile(inTerminal)
			return err == nil && strings.Contains(string(b), last)
		})
		p.click(`role:textbox name:City`)
		p.types("Lisbon")
	})
	assert.Assert(t, is.Len(secrets, 22))
	b, err := os.ReadFile(path)
	assert.NilError(t, err)
	info, err := os.Stat(path)
	assert.NilError(t, err, info)
	assert.Assert(t, info.Mode().Perm() == 0o600, "the file: %v, %v", info, err)
	for i, s := range secrets {
		for n := 0; n+6 <= len(s); n++ {
			assert.Check(t, !strings.Contains(string(b), s[n:n+6]), "secret %d is recorded: %s", i+1, b)
		}
	}
	assert.Check(t, is.Contains(string(b), "Lisbon"), "a text that is no secret is missing: %s", b)
}

// window returns the window of a program.
func (w *world) window(app desktop.App) desktop.WindowID {
	w.Helper()
	all, err := w.screen.Windows(w.Context())
	assert.NilError(w, err)
	for _, one := range all {
		if one.PID == app.PID {
			return one.ID
		}
	}
	w.Fatal("no window")
	return 0
}

// recordFile records by a manager, and returns the file.
func (p person) recordFile(acts func()) string {
	p.Helper()
	m := &recording.Manager{Folder: p.TempDir()}
	path, err := m.Start(p.Context(), p.config(), "", func() func() { return func() {} })
	assert.NilError(p, err)
	acts()
	assert.NilError(p, m.Close())
	return path
}

// TestTheFileIsReadableAtAnyMoment: while a recording runs its file has the steps so far, as if the gateway were killed.
func TestTheFileIsReadableAtAnyMoment(t *testing.T) {
	w := newWorld(t)
	p := w.orders()
	m := &recording.Manager{Folder: t.TempDir()}
	ctx, cancel := context.WithCancel(t.Context())
	path, err := m.Start(ctx, p.config(), "", func() func() { return func() {} })
	assert.NilError(t, err)
	cancel() // the call that began it has ended; the recording has not
	p.click(`role:button name:Clear`)
	var steps []recorded.Step
	w.until("the step in the file", func() bool {
		b, err := os.ReadFile(path)
		assert.NilError(t, err)
		_, steps, err = recorded.Read(append(b, `{"n": 2, "st`...))
		assert.NilError(t, err)
		return len(steps) == 1
	})
	text, _ := json.Marshal(steps)
	assert.Check(t, is.Contains(string(text), "Clear"), text)
	_, err = m.Start(t.Context(), p.config(), "", nil)
	assert.Check(t, err != nil, "a second recording began")
	assert.NilError(t, m.Close())
}
