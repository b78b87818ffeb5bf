package recording_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/recording"
)

// TestNoSecretIsRecorded: 22 secrets that a person enters in password fields, in fields with names of secrets, in another
// program and in a terminal, copies, or types while a window takes the keyboard, are in no recording.
func TestNoSecretIsRecorded(t *testing.T) {
	w := newWorld(t)
	app, file := w.orders()
	w.xdo("search", "--sync", "--name", "^Orders$", "windowmove", "20", "20")
	other, _ := w.orders()
	w.xdo("windowmove", fmt.Sprint(w.window(other)), "800", "20")
	w.until("the windows side by side", func() bool {
		a, b := w.find(app, "role:window"), w.find(other, "role:window")
		return a != nil && b != nil && b.Frame.X-a.Frame.X > 700
	})
	var secrets []string
	secret := func() string {
		s := fmt.Sprintf("zq%dwkv%d", 1000+len(secrets)*37, 100+len(secrets)*7)
		secrets = append(secrets, s)
		return s
	}
	path := w.recordFile(app, func(p person) {
		elsewhere := person{p.world, other}
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
		if _, err := w.screen.Set(w.Context(), desktop.Clip{Text: copied}); err != nil {
			w.Fatal(err)
		}
		p.click(`role:textbox name:Password`)
		p.press("ctrl+v")
		p.types(secret())
		p.press("shift+Home", "ctrl+x")
		for range 2 { // the window takes the keyboard in the middle of a text
			p.click(`role:button name:"Steal focus"`)
			p.click(`role:textbox name:Password`)
			first, second := secret(), secret()
			p.xdo("type", "--delay", "60", first+second+first+second)
			time.Sleep(2 * rest)
		}
		w.Launch(w.T, "xterm", "-geometry", "60x8+20+700", "-e", "cat")
		w.xdo("search", "--sync", "--onlyvisible", "--class", "xterm", "windowactivate", "--sync")
		p.types(secret())
		p.click(`role:textbox name:City`)
		p.types("Lisbon")
	})
	if len(secrets) != 22 {
		t.Fatalf("%d secrets; want 22", len(secrets))
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	for i, s := range secrets {
		for n := 0; n+6 <= len(s); n++ {
			if strings.Contains(string(b), s[n:n+6]) {
				t.Errorf("secret %d is recorded: %s", i+1, b)
			}
		}
	}
	if !strings.Contains(string(b), "Lisbon") {
		t.Errorf("a text that is no secret is missing: %s", b)
	}
	if stolen, _ := w.state(file)["customer"].(string); stolen == "" {
		t.Error("no window took the keyboard in the middle of a text")
	}
}

// window returns the window of a program.
func (w *world) window(app desktop.App) desktop.WindowID {
	w.Helper()
	all, err := w.screen.Windows(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	for _, one := range all {
		if one.PID == app.PID {
			return one.ID
		}
	}
	w.Fatal("no window")
	return 0
}

// recordFile records by a manager, and returns the file.
func (w *world) recordFile(app desktop.App, acts func(person)) string {
	w.Helper()
	m := &recording.Manager{Folder: w.TempDir()}
	path, err := m.Start(w.Context(), recording.Config{Backend: w.backend, App: app, IsApp: func(pid int) bool { return pid == app.PID }}, "", func() func() { return func() {} })
	if err != nil {
		w.Fatal(err)
	}
	acts(person{w, app})
	if err := m.Close(); err != nil {
		w.Fatal(err)
	}
	return path
}

// TestTheFileIsReadableAtAnyMoment: while a recording runs its file has the steps so far, as if the gateway were killed.
func TestTheFileIsReadableAtAnyMoment(t *testing.T) {
	w := newWorld(t)
	app, _ := w.orders()
	m := &recording.Manager{Folder: t.TempDir()}
	ctx, cancel := context.WithCancel(t.Context())
	path, err := m.Start(ctx, recording.Config{Backend: w.backend, App: app, IsApp: func(pid int) bool { return pid == app.PID }}, "", func() func() { return func() {} })
	if err != nil {
		t.Fatal(err)
	}
	cancel() // the call that began it has ended; the recording has not
	p := person{w, app}
	p.click(`role:button name:Clear`)
	var steps []recorded.Step
	w.until("the step in the file", func() bool {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, steps, err = recorded.Read(append(b, `{"n": 2, "st`...)); err != nil {
			t.Fatal(err)
		}
		return len(steps) == 1
	})
	if text, _ := json.Marshal(steps); !strings.Contains(string(text), "Clear") {
		t.Errorf("%s", text)
	}
	if _, err := m.Start(t.Context(), recording.Config{Backend: w.backend, App: app}, "", nil); err == nil {
		t.Error("a second recording began")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}
