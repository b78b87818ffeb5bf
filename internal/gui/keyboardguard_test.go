package gui_test

import (
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// keyboard returns the title of the window that has the keyboard.
func (w *world) keyboard() string {
	w.Helper()
	windows, err := w.d.Backend().Windows.Windows(w.Context())
	assert.NilError(w, err)
	for _, window := range windows {
		if window.Active {
			return window.Title
		}
	}
	return ""
}

// TestTheKeyboardIsRestored: a program that takes the person's keyboard when it opens a window
// loses it again, even if it takes it a moment later. If nothing has opened, the person has moved
// to the program's window.
func TestTheKeyboardIsRestored(t *testing.T) {
	const moment = 100 * time.Millisecond
	for button, c := range map[string]struct {
		press func(p *fakedesktop.Program, main *fakedesktop.Window)
		given bool
		then  string
	}{
		"Open":  {func(p *fakedesktop.Program, _ *fakedesktop.Window) { p.Window("Another") }, true, "Letter"},
		"Ask":   {func(p *fakedesktop.Program, _ *fakedesktop.Window) { p.Dialog("Really?").Raise() }, true, "Letter"},
		"Raise": {func(_ *fakedesktop.Program, main *fakedesktop.Window) { main.Raise() }, true, "Letter"},
		"Later": {func(p *fakedesktop.Program, _ *fakedesktop.Window) {
			d := p.Dialog("Really?")
			p.After(moment, func() { d.Raise() })
		}, true, "Letter"},
		"Discard": {func(p *fakedesktop.Program, main *fakedesktop.Window) {
			main.Text("discarded")
			p.After(3*moment/2, func() { main.Raise() })
		}, false, "Editor"},
	} {
		t.Run(button, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := w.d.Program("Editor")
				main := p.Window("Editor")
				main.Button(button, func() { c.press(p, main) })
				w.d.Program("Letter").Window("Letter")
				text := w.ok("ax_click", `{"app": "Editor", "query": "`+button+`"}`).Text
				time.Sleep(10 * moment)
				got := w.keyboard()
				assert.Check(w, is.Equal(got, c.then), text)
				assert.Check(w, is.Equal(strings.Contains(text, "they have it back"), c.given), text)
			})
		})
	}
}

// TestTheFocusIsKept: a call that may take the keyboard keeps it.
func TestTheFocusIsKept(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Editor")
		p.Window("Editor").Button("Open", func() { p.Window("Another") })
		w.d.Program("Letter").Window("Letter")
		text := w.ok("ax_click", `{"app": "Editor", "query": "Open", "mode": "focus"}`).Text
		got := w.keyboard()
		assert.Check(w, is.Equal(got, "Another"), text)
		assert.Check(w, !strings.Contains(text, "they have it back"), "%q has the keyboard; it is said: %s", got, text)
	})
}
