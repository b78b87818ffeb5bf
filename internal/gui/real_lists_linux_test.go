package gui_test

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// realLists returns tests of tabs, rows and scrolling, in the background.
func realLists() []realPart {
	return []realPart{
		{"tab", func(w *realForm) {
			a := w.done("ax_click", w.on("tab Second"))
			w.says(a.Text, "On second")
			w.f.WaitState(w.T, "tab", "Second")
			w.ok("ax_click", w.on(`button "On second"`))
			w.f.WaitState(w.T, "second", 1)
		}},
		{"row", func(w *realForm) {
			w.done("ax_click", w.on(`option "Fruit 3"`))
			w.f.WaitState(w.T, "fruit", "Fruit 3")
			w.done("ax_set_value", w.with("listbox Fruits", "value", "Fruit 5"))
			w.f.WaitState(w.T, "fruit", "Fruit 5")
		}},
		{"scroll", realScroll},
		{"shuffle", realShuffle},
	}
}

func (w *realForm) scrolled() float64 {
	w.Helper()
	pixels, _ := w.f.State(w.T)["scroll"].(float64)
	return pixels
}

// realScroll: by pixels, and to a row that is not in view.
func realScroll(w *realForm) {
	w.ok("ax_scroll", params{"app": w.app, "query": "listbox Fruits", "direction": "down", "amount": 100})
	w.f.WaitFor(w.T, "the list is scrolled", func(map[string]any) bool { return w.scrolled() > 0 })
	down := w.scrolled()
	w.says(w.ok("ax_find", w.on(`option "Fruit 30"`)).Text, `option "Fruit 30" [e`, "out of view")
	w.says(w.done("ax_click", w.on(`option "Fruit 30"`)).Text, "was scrolled into it first")
	w.f.WaitState(w.T, "fruit", "Fruit 30")
	at := w.scrolled()
	assert.Check(w, !(at <= down), "it is scrolled to %v, and was to %v", at, down)
	w.done("ax_scroll", w.with(`option "Fruit 2"`, "to_view", true))
	w.done("ax_click", w.on(`option "Fruit 2"`))
	w.f.WaitState(w.T, "fruit", "Fruit 2")
}

// realShuffle: the list is recreated in another order. An old ref refers to the row of that name,
// or is stale.
func realShuffle(w *realForm) {
	ref := w.ref(w.app, `option "Fruit 4"`)
	a := w.done("ax_click", w.on("button Shuffle"))
	w.says(a.Text, "Fruit")
	w.f.WaitState(w.T, "shuffled", 1)
	before := w.f.State(w.T)["fruit"]
	switch _, e := w.do(w.Context(), "ax_click", w.on(ref)); {
	case e == nil:
		w.f.WaitState(w.T, "fruit", "Fruit 4")
	case slices.Contains([]aai.Code{aai.StaleRef, aai.AutomationFailed}, e.Code): // gone, or out of view
		w.notDelivered(e)
		w.says(e.Message, "Fruit 4")
		w.f.WaitState(w.T, "fruit", before)
	default:
		w.Errorf("%s %v", e.Code, e)
	}
	w.done("ax_click", w.on(`option "Fruit 7"`))
	w.f.WaitState(w.T, "fruit", "Fruit 7")
}

// TestRealListOfSeveral: an option of a page's list is selected when the reply to the click comes,
// although the page first deselects another; and the list's value is its selection.
func TestRealListOfSeveral(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<label>Pick many <select id="many" multiple size="4"><option>Red<option selected>Blue<option>Green<option selected>Black</select></label>`)
	f.says(f.ok("ax_get_value", f.on("listbox Pick many")).Text, `has the value "Blue, Black"`)
	for _, option := range []string{"Green", "Red", "Black", "Blue", "Green"} {
		a := f.ok("ax_click", f.on("option "+option))
		f.comes("many", option)
		assert.Check(t, is.Equal(a.Warning, ""), "%s %s", option, a.Text)
		assert.Check(t, is.Equal(at(a.data, "verified"), true), "%s %s", option, a.Text)
		got := f.ok("ax_get_value", f.on("listbox Pick many")).data["value"]
		assert.Check(t, is.Equal(got, option), "the list holds %v, not %s", got, option)
	}
}
