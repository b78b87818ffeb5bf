package ax_test

import (
	"aai/internal/desktop/linuxtest"
)

// realFocus is what is done with the person's own pointer and keyboard, of which
// the person knows.
func realFocus() []realPart {
	parts := []realPart{
		{"press", func(w *realForm) {
			presses, _ := w.f.State(w.T)["presses"].(float64)
			w.done("ax_click", w.with("button Press", "mode", "focus"))
			w.f.WaitState(w.T, "presses", presses+1)
			if title := w.ActiveWindow(w.T); title != w.f.Title {
				w.Errorf("the focus is on %q", title)
			}
		}},
		{"dead", func(w *realForm) { // to come to the front is no effect
			if a := w.ok("ax_click", w.with("button Dead", "mode", "focus")); at(a.data, "verified") != false {
				w.Errorf("nothing happened, and it says %s", a.Text)
			}
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
			w.done("ax_click", w.with("combobox Colour", "mode", "focus"))
			a, e := w.do(w.Context(), "ax_click", w.with("name:Green", "mode", "focus"))
			w.Log(a, e)
			w.f.WaitState(w.T, "colour", "Green")
		}},
		{"menu", func(w *realForm) {
			a, e := w.do(w.Context(), "ax_click", w.with("menuitem File", "mode", "focus"))
			w.Log(a, e)
			a, e = w.do(w.Context(), "ax_click", w.with("menuitem Quit-not", "mode", "focus"))
			w.Log(a, e)
			w.f.WaitState(w.T, "menu", "Quit-not")
		}},
		{"keys", func(w *realForm) {
			w.ok("ax_key_press", params{"app": w.app, "key": "f6", "modifiers": []any{"ctrl"}, "mode": "focus"})
			w.f.WaitFor(w.T, "the key came", func(s map[string]any) bool {
				keys, _ := s["keys"].([]any)
				return len(keys) > 0 && keys[len(keys)-1] == "ctrl+F6"
			})
		}},
		{"scroll", func(w *realForm) {
			before := w.scrolled()
			w.ok("ax_scroll", params{"app": w.app, "query": "listbox Fruits", "direction": "up", "amount": 200, "mode": "focus"})
			w.f.WaitFor(w.T, "the list is scrolled", func(map[string]any) bool { return w.scrolled() < before })
		}},
		{"canvas", realCanvas},
	}
	for i, p := range parts {
		parts[i] = realPart{"focus " + p.name, func(w *realForm) {
			p.do(w)
			w.p.back(w.T)
		}}
	}
	return parts
}

// realCanvas: clicks and a drag, at the points where they were meant to be.
func realCanvas(w *realForm) {
	r := w.f.Where(w.T, "Canvas")
	cx, cy := r.Centre()
	was := len(w.clicks())
	for _, kind := range []string{"double", "right"} {
		w.ok("ax_click_at", params{"app": w.app, "x": cx, "y": cy, "click_type": kind, "mode": "focus"})
	}
	w.f.WaitFor(w.T, "the clicks came", func(map[string]any) bool { return len(w.clicks()) >= was+3 })
	for i, want := range []struct{ button, count float64 }{{1, 1}, {1, 2}, {3, 1}} {
		c := w.clicks()[was+i]
		if at(c, "button") != want.button || at(c, "count") != want.count || !near(c, "x", cx-r.X) || !near(c, "y", cy-r.Y) {
			w.Errorf("click %d is %v, want %v in the middle of %v", i, c, want, r)
		}
	}
	w.ok("ax_drag", params{"app": w.app, "from_x": r.X + 20, "from_y": r.Y + 20, "to_x": r.X + 70, "to_y": r.Y + 50, "duration_ms": 200, "mode": "focus"})
	w.f.WaitFor(w.T, "the drag came", func(s map[string]any) bool { drags, _ := s["drags"].([]any); return len(drags) == 1 })
	w.Log(w.f.State(w.T)["drags"])
}

func (w *realForm) clicks() []any {
	clicks, _ := w.f.State(w.T)["clicks"].([]any)
	return clicks
}

// near reports whether a number of the state is about what it should be.
func near(state any, key string, want int) bool {
	n, ok := at(state, key).(float64)
	return ok && n > float64(want)-3 && n < float64(want)+3
}

var _ = linuxtest.GTK3
