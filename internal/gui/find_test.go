package gui_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// form opens a window with some of everything.
func form(w *world) *fakedesktop.Fixture { return w.d.Fixture("Form") }

func TestFind(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w)
		a := w.ok("ax_find", `{"app": "Form", "query": "Full name"}`)
		w.want(a, true, "found")
		w.want(a, "textbox", "role")
		w.want(a, "Full name", "title")
		w.want(a, "accessibility", "method")
		w.want(a, true, "enabled")
		w.has(a.Text, `textbox "Full name" [`, `in window "Form"`)
		for query, role := range map[string]string{
			"role:slider": "slider", "/^Vol/": "slider", "//button[@name='Press']": "button", "role:button title:Shuffle": "button",
		} {
			w.want(w.ok("ax_find", fmt.Sprintf(`{"app": "Form", "query": %q}`, query)), role, "role")
		}
		w.want(w.ok("ax_find", `{"app": "Form", "query": "slider", "strategy": "role"}`), "Volume", "title")
		w.fails(aai.ElementNotFound, "ax_find", `{"app": "Form", "query": "Vol", "strategy": "exact"}`)
		w.fails(aai.InvalidParams, "ax_find", `{"app": "Form", "query": "//button[", "strategy": "auto"}`)
		w.fails(aai.InvalidParams, "ax_find", `{"app": "Form", "query": "x", "strategy": "guess"}`)
	})
}

func TestFindNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w)
		e := w.failure(aai.ElementNotFound, "ax_find", `{"app": "Form", "query": "Pres5"}`)
		assert.Assert(w, len(e.Candidates) != 0, "candidates %q, want the button Press with its ref first", e.Candidates)
		assert.Assert(w, is.Contains(e.Candidates[0], `button "Press"`), "%q", e.Candidates)
		assert.Assert(w, refs.Is(strings.Fields(e.Candidates[0])[0]), "candidates %q, want the button Press with its ref first", e.Candidates)
		assert.Check(w, e.Delivery == "", "delivery %q of what delivers nothing", e.Delivery)
		w.has(e.Message, "Form", `"Pres5"`)
	})
}

func TestFindInClosedMenu(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w)
		text := w.ok("ax_find", `{"app": "Form", "query": "Quit-not"}`).Text
		w.has(text, `menuitem "Quit-not"`, "a closed menu: ax_click chooses it there")
		w.ok("ax_get_attributes", `{"app": "Form", "query": "Quit-not"}`)
		w.ok("ax_click", `{"app": "Form", "query": "Quit-not"}`) // as the reply says
	})
}

func TestAmbiguity(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		since := w.mutations()
		e := w.failure(aai.AmbiguousTarget, "ax_click", `{"app": "Form", "query": "Twin"}`)
		w.nothingDone(since)
		assert.Assert(w, is.Len(e.Candidates, 2))
		assert.Equal(w, e.Delivery, aai.NotDelivered)
		assert.Assert(w, is.Contains(e.Hint, "nth"))
		for n := 1; n <= 2; n++ {
			ref, _, _ := strings.Cut(e.Candidates[n-1], " ")
			w.ok("ax_click", fmt.Sprintf(`{"app": "Form", "query": %q}`, ref))
			got := f.State()["twin"]
			assert.Check(w, is.Equal(got, float64(n)), "the %d. candidate pressed twin %v", n, got)
		}
		for n := 1; n <= 2; n++ {
			w.ok("ax_click", fmt.Sprintf(`{"app": "Form", "query": "Twin", "nth": %d}`, n))
			got := f.State()["twin"]
			assert.Check(w, is.Equal(got, float64(n)), "nth %d pressed twin %v", n, got)
		}
		assert.Check(w, is.Len(w.failure(aai.ElementNotFound, "ax_click", `{"app": "Form", "query": "Twin", "nth": 3}`).Candidates, 2))
	})
}

// TestFindWaits: a search waits for an element that appears in a moment, and not long for one that
// does not.
func TestFindWaits(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		f.After(300*time.Millisecond, func() { f.Main.Button("Late", nil) })
		w.ok("ax_find", `{"app": "Form", "query": "Late"}`)
		took := elapsed(func() { w.fails(aai.ElementNotFound, "ax_find", `{"app": "Form", "query": "Never"}`) })
		assert.Check(w, took >= 300*time.Millisecond, "looked for %s", took)
		assert.Check(w, took <= time.Second, "looked for %s", took)
	})
}

// TestFindWaitsWithoutEvents: a backend without events is polled.
func TestFindWaitsWithoutEvents(t *testing.T) {
	inWorldWithout(t, func(b *desktop.Backend) { b.Events = nil }, func(w *world) {
		f := form(w)
		f.After(300*time.Millisecond, func() { f.Main.Button("Late", nil) })
		w.ok("ax_find", `{"app": "Form", "query": "Late"}`)
		w.ok("ax_click", `{"app": "Form", "query": "Slow"}`)
		assert.Check(w, is.Equal(f.State()["slow"], 1.0), "the click was reported before its effect")
	})
}

func TestRefsAreStable(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		press, fruit := w.ref("Form", "Press"), w.ref("Form", "Fruit 3")
		w.ok("ax_get_tree", `{"app": "Form"}`)
		f.Fruits.Rerender("Fruit 1", "Fruit 2", "Fruit 3", "Fruit 4")
		f.Main.Button("Another", nil)
		again := w.ref("Form", "Press")
		assert.Check(w, is.Equal(again, press), "the button is %s and then %s", press, again)
		w.ok("ax_click", fmt.Sprintf(`{"app": "Form", "query": %q}`, fruit)) // recreated, and still the same
		assert.Check(w, is.Equal(f.State()["fruit"], "Fruit 3"))
		other := w.as("s2") // refs belong to a conversation
		e := other.failure(aai.ElementNotFound, "ax_click", fmt.Sprintf(`{"app": "Form", "query": %q}`, fruit))
		w.has(e.Hint, "ax_get_tree")
	})
}

func TestStaleRef(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		fruit, gone := w.ref("Form", "Fruit 3"), w.ref("Form", "Press")
		f.Fruits.Recycle("Plum 1", "Plum 2", "Plum 3") // the same row objects with other names
		since := w.mutations()
		for _, ref := range []string{fruit, gone} {
			if ref == gone {
				f.Main.Close()
				f.Window("Form").Button("Pressed", nil)
			}
			e := w.failure(aai.StaleRef, "ax_click", fmt.Sprintf(`{"app": "Form", "query": %q}`, ref))
			assert.Check(w, e.Hint != "", "hint %q, delivery %q", e.Hint, e.Delivery)
			assert.Check(w, e.RetrySafe(), "hint %q, delivery %q", e.Hint, e.Delivery)
		}
		w.nothingDone(since)
		w.fails(aai.ElementNotFound, "ax_click", `{"app": "Form", "query": "e9999"}`)
	})
}

func TestGetAttributes(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		f.Main.Textbox("Mail").Describe("Your address", "mail").AddState(desktop.Required).SetText("a@b")
		a := w.ok("ax_get_attributes", `{"app": "Form", "query": "identifier:mail"}`)
		w.want(a, "textbox", "role")
		w.want(a, "a@b", "value")
		w.want(a, "Your address", "description")
		w.want(a, "mail", "identifier")
		w.want(a, "activate", "actions", 0)
		w.has(fmt.Sprint(a.data["states"]), "required", "showing", "enabled")
		assert.Check(w, at(a.data, "frame", "w") != 0.0, "no frame")
		a = w.ok("ax_get_attributes", `{"app": "Form", "query": "Volume"}`)
		w.want(a, 100, "maximum")
		actions, ok := a.data["actions"].([]any)
		assert.Assert(w, ok, "actions %v, want an empty list", a.data["actions"])
		assert.Assert(w, is.Len(actions, 0), a.data["actions"])
		a = w.ok("ax_get_attributes", `{"app": "Form", "query": "Fruit 3"}`)
		w.want(a, 3, "position_in_set")
		w.want(a, 40, "set_size")
	})
}

func TestGetValueIsWhole(t *testing.T) {
	inWorld(t, func(w *world) {
		long := strings.Repeat("äöü ", 2*desktop.MaxValue)
		p := w.d.Program("Editor")
		p.Window("One").TextArea("Notes").SetText(long)
		a := w.ok("ax_get_value", `{"app": "Editor", "query": "Notes"}`)
		w.want(a, long, "value")
		w.want(a, true, "found")
	})
}

func TestAssert(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		f.Main.Button("Ghostly", nil).Hide()
		for _, c := range []struct{ query, assertions, wrong string }{
			{"Press", `{"exists": true, "enabled": true, "visible": true, "role": "button", "title": "Press"}`, ""},
			{"Press", `{"role": "AXButton"}`, ""},
			{"Press", `{"role": "AXCheckBox"}`, "role"},
			{"Disabled", `{"enabled": true}`, "enabled"},
			{"Agree", `{"checked": false, "focused": false, "selected": false}`, ""},
			{"Agree", `{"checked": true}`, "checked"},
			{"Volume", `{"value": "30"}`, ""},
			{"Volume", `{"value": "31"}`, "value"},
			{"Press", `{"contains_text": "ress"}`, ""},
			{"Press", `{"contains_text": "nope"}`, "contains_text"},
			{"Nowhere", `{"exists": false}`, ""},
			{"Nowhere", `{"exists": true}`, "exists"},
			{"Nowhere", `{"enabled": false}`, "exists"},
			{"Press", `{"exists": false}`, "exists"},
			{"Ghostly", `{"visible": false, "exists": true}`, ""},
			{"Ghostly", `{"visible": true}`, "visible"},
		} {
			a := w.ok("ax_assert", fmt.Sprintf(`{"app": "Form", "query": %q, "assertions": %s}`, c.query, c.assertions))
			w.want(a, c.wrong == "", "passed")
			if c.wrong == "" {
				w.want(a, nil, "failures", 0)
				w.has(a.Text, "passed")
			} else {
				w.want(a, c.wrong, "failures", 0, "property")
				w.has(a.Text, "failed: "+c.wrong)
			}
		}
		w.fails(aai.AmbiguousTarget, "ax_assert", `{"app": "Form", "query": "Twin", "assertions": {"exists": true}}`)
		w.fails(aai.InvalidParams, "ax_assert", `{"app": "Form", "query": "Press", "assertions": {}}`)
		w.fails(aai.InvalidParams, "ax_assert", `{"app": "Form", "query": "Password", "assertions": {"value": "a"}}`)
	})
}

// TestWhatWasNotSearchedIsSaid: if nothing is found, the error names lists too long to read.
func TestWhatWasNotSearchedIsSaid(t *testing.T) {
	inWorld(t, func(w *world) {
		window := w.d.Program("Sheet").Window("One")
		window.HugeTable("Cells", 5, 1_000_000, func(i int) string { return fmt.Sprint("Line ", i) })
		for _, tool := range []string{"ax_find", "ax_click"} {
			e := w.failure(aai.ElementNotFound, tool, `{"app": "Sheet", "query": "Totals"}`)
			assert.Check(t, regexp.MustCompile(`Not searched, because they are too many or not loaded: 999995 in table "Cells" \[e\d+\]; ax_scroll goes there\.$`).MatchString(e.Hint), "%s: the hint is %q", tool, e.Hint)
		}
		window.Button("Line", func() {})
		e := w.failure(aai.ElementNotFound, "ax_click", `{"app": "Sheet", "query": "Lin"}`)
		assert.Check(t, is.Contains(e.Hint, "Not searched, because they are too many or not loaded: 999995"), "of what may be meant: the hint is %q", e.Hint)
	})
}
