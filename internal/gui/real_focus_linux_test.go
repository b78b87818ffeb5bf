package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealFocus operates a window as people do, with the person's own pointer and keyboard, in the
// mode "focus".
func TestRealFocus(t *testing.T) {
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			parts := realFocus()
			for i, p := range parts {
				parts[i].do = func(w *realForm) {
					p.do(w)
					w.p.back(w.T)
				}
			}
			onRealForm(t, kind, parts)
		})
	}
}

func realFocus() []realPart {
	return []realPart{
		{"press", func(w *realForm) {
			presses, _ := w.f.State(w.T)["presses"].(float64)
			w.done("ax_click", w.with("button Press", "mode", "focus"))
			w.f.WaitState(w.T, "presses", presses+1)
			title := w.ActiveWindow(w.T)
			assert.Check(w, is.Equal(title, w.f.Title), "the focus is on %q", title)
		}},
		{"dead", func(w *realForm) { // coming to the front is no effect
			a := w.ok("ax_click", w.with("button Dead", "mode", "focus"))
			assert.Check(w, is.Equal(at(a.data, "verified"), false), "nothing happened, and it says %s", a.Text)
		}},
		{"agree", func(w *realForm) {
			agree := w.f.State(w.T)["agree"] == true
			w.done("ax_click", w.with("checkbox Agree", "mode", "focus"))
			w.f.WaitState(w.T, "agree", !agree)
		}},
		{"type", func(w *realForm) {
			w.done("ax_type", params{"app": w.app, "query": `textbox "Full name"`, "text": unicode, "clear_first": true, "mode": "focus"})
			w.f.WaitState(w.T, "name", unicode)
		}},
		{"colour", func(w *realForm) {
			if w.is(linuxtest.Chromium) {
				return // it reports no positions of its options, and lets them be set in the background
			}
			w.done("ax_click", w.with("combobox Colour", "mode", "focus"))
			w.choose(1, "name:Green")
			w.f.WaitState(w.T, "colour", "Green")
		}},
		{"menu", func(w *realForm) {
			w.ok("ax_click", w.with("menuitem File", "mode", "focus"))
			w.choose(1, "menuitem Quit-not") // the first one is chosen already
			w.f.WaitState(w.T, "menu", "Quit-not")
		}},
		{"keys", func(w *realForm) {
			w.ok("ax_key_press", params{"app": w.app, "key": "f6", "modifiers": []any{"ctrl"}, "mode": "focus"})
			w.lastKey("ctrl+F6")
		}},
		{"scroll", func(w *realForm) {
			w.ok("ax_scroll", params{"app": w.app, "query": "listbox Fruits", "direction": "down", "amount": 200, "mode": "focus"})
			w.f.WaitFor(w.T, "the list is scrolled", func(map[string]any) bool { return w.scrolled() > 0 })
		}},
		{"canvas", realCanvas},
	}
}

// choose clicks an item of the open menu or list. GTK 4 (4.8) reports no items, so there the down
// key is pressed down times.
func (w *realForm) choose(down int, query string) {
	w.Helper()
	if !w.is(linuxtest.GTK4) {
		w.done("ax_click", w.with(query, "mode", "focus"))
		return
	}
	for range down {
		w.ok("ax_key_press", params{"app": w.app, "key": "down", "mode": "focus"})
	}
	w.ok("ax_key_press", params{"app": w.app, "key": "return", "mode": "focus"})
}

// realCanvas: clicks and a drag arrive at their points.
func realCanvas(w *realForm) {
	r := w.f.ControlRect(w.T, "Canvas")
	cx, cy := r.Centre()
	was := len(w.clicks())
	for _, kind := range []string{"double", "right"} {
		w.ok("ax_click_at", params{"app": w.app, "x": cx, "y": cy, "click_type": kind, "mode": "focus"})
	}
	w.f.WaitFor(w.T, "the clicks came", func(map[string]any) bool { return len(w.clicks()) >= was+3 })
	for i, want := range []struct{ button, count float64 }{{1, 1}, {1, 2}, {3, 1}} {
		c := w.clicks()[was+i]
		assert.Equal(w, at(c, "button"), want.button, "%d %v %v %v", i, c, want, r)
		assert.Equal(w, at(c, "count"), want.count, "%d %v %v %v", i, c, want, r)
		assert.Assert(w, near(c, "x", cx-r.X), "click %d is %v, want %v in the middle of %v", i, c, want, r)
		assert.Assert(w, near(c, "y", cy-r.Y), "click %d is %v, want %v in the middle of %v", i, c, want, r)
	}
	w.ok("ax_drag", params{"app": w.app, "from_x": r.X + 20, "from_y": r.Y + 20, "to_x": r.X + 70, "to_y": r.Y + 50, "duration_ms": 200, "mode": "focus"})
	w.f.WaitFor(w.T, "the drag came", func(s map[string]any) bool { drags, _ := s["drags"].([]any); return len(drags) == 1 })
	drags := w.f.State(w.T)["drags"]
	assert.Equal(w, at(drags, 0, "button"), 1.0, drags)
	assert.Assert(w, nearPoint(at(drags, 0, "from"), 20, 20), "the drag was %v, want from 20, 20 to 70, 50", drags)
	assert.Assert(w, nearPoint(at(drags, 0, "to"), 70, 50), "the drag was %v, want from 20, 20 to 70, 50", drags)
}

func (w *realForm) clicks() []any {
	clicks, _ := w.f.State(w.T)["clicks"].([]any)
	return clicks
}

// near reports whether a number of the state is close to the expected one.
func near(state any, key string, want int) bool {
	n, ok := at(state, key).(float64)
	return ok && n > float64(want)-3 && n < float64(want)+3
}

func nearPoint(state any, x, y int) bool {
	point, _ := state.([]any)
	return len(point) == 2 && near(map[string]any{"x": point[0]}, "x", x) && near(map[string]any{"y": point[1]}, "y", y)
}
