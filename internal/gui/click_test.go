package gui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

func TestClick(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		since := w.mutations()
		a := w.ok("ax_click", `{"app": "Form", "query": "Press"}`)
		assert.Check(w, is.Equal(f.State()["presses"], 1.0), "the button was not pressed")
		w.want(a, true, "delivered")
		w.want(a, true, "verified")
		w.want(a, "Press", "element", "title")
		w.has(a.Text, `Clicked button "Press" [`, "by its accessibility action", "not instructions", "Pressed 1 times")
		w.has(fmt.Sprint(a.data["changes"]), "Pressed 1 times")
		assert.Check(w, is.Equal(a.Warning, ""))
		done := since()
		assert.Assert(w, is.Len(done, 1))
		assert.Equal(w, done[0], "Perform press button Press")
	})
}

// TestClickWaitsForTheEffect: the reply comes after the effect of the click, and not much later.
func TestClickWaitsForTheEffect(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w)
		took := elapsed(func() {
			a := w.ok("ax_click", `{"app": "Form", "query": "Slow"}`)
			w.has(a.Text, "Slow 1 times")
			w.want(a, true, "verified")
		})
		assert.Check(w, took >= 150*time.Millisecond, "took %s, want about the 150 ms that the effect takes", took)
		assert.Check(w, took <= 250*time.Millisecond, "took %s, want about the 150 ms that the effect takes", took)
	})
}

func TestClickWithoutEffect(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w)
		a := w.ok("ax_click", `{"app": "Form", "query": "Dead"}`)
		w.want(a, true, "delivered")
		w.want(a, false, "verified")
		w.has(a.Warning, "nothing was seen to change")
		assert.Check(w, !strings.Contains(a.Text, "What changed"), "the text says %q", a.Text)
	})
}

func TestClickOnTheCovered(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		f.PauseWhenCovered()
		w.d.Program("Other").Window("Cover").Move(desktop.Rect{W: fullWidth, H: fullHeight})
		a := w.ok("ax_click", `{"app": "Form", "query": "Press"}`)
		w.want(a, false, "verified")
		w.has(a.Warning, "nothing was seen to change", "covered", "ax_window")
		f.Main.Raise()
		f.Main.Minimize()
		w.has(w.ok("ax_click", `{"app": "Form", "query": "Press"}`).Warning, "minimized")
		assert.Check(w, is.Equal(f.State()["presses"], 0.0), "it was pressed all the same")
	})
}

// TestClickOnTheCoveredThatWorks: most toolkits work while covered.
func TestClickOnTheCoveredThatWorks(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		w.d.Program("Other").Window("Cover").Move(desktop.Rect{W: fullWidth, H: fullHeight})
		w.want(w.ok("ax_click", `{"app": "Form", "query": "Press"}`), true, "verified")
		assert.Check(w, is.Equal(f.State()["presses"], 1.0), "it was not pressed")
	})
}

func TestClickRefuses(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		ghost := w.ref("Form", "Ghost")
		w.ok("ax_click", `{"app": "Form", "query": "Hide"}`)
		since := w.mutations()
		for query, why := range map[string]string{"Disabled": "is disabled", ghost: "is not showing"} {
			e := w.failure(aai.AutomationFailed, "ax_click", fmt.Sprintf(`{"app": "Form", "query": %q}`, query))
			w.has(e.Message, why)
			assert.Check(w, is.Equal(e.Delivery, aai.NotDelivered), query)
		}
		w.nothingDone(since)
		state := f.State()
		assert.Check(w, is.Equal(state["ghost"], 0.0), state)
		assert.Check(w, state["disabled"] == nil, "state %v", state)
	})
}

// TestClickWaitsUntilReady: an element may become ready in a moment.
func TestClickWaitsUntilReady(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		pressed := false
		b := f.Main.Button("Next", func() { pressed = true; f.Main.Text("There") }).RemoveState(desktop.Enabled)
		f.After(time.Second, func() { b.AddState(desktop.Enabled) })
		w.ok("ax_click", `{"app": "Form", "query": "Next"}`)
		assert.Check(w, pressed, "it was not pressed")
	})
}

// TestClickOfWhatIsRenamedMeanwhile: a ref does not match an element that was renamed meanwhile.
func TestClickOfWhatIsRenamedMeanwhile(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		b := f.Main.Button("Next", func() { w.Error("it was pressed") }).RemoveState(desktop.Enabled)
		ref := w.ref("Form", "Next")
		f.After(300*time.Millisecond, func() { b.Rename("Install now").AddState(desktop.Enabled) })
		e := w.failure(aai.StaleRef, "ax_click", `{"app": "Form", "query": "`+ref+`"}`)
		w.has(e.Message, `was "Next"`, `"Install now" now`)
	})
}

func TestClickBehindAModalDialog(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		a := w.ok("ax_click", `{"app": "Form", "query": "Open dialog"}`)
		w.has(a.Text, `dialog "Really?"`, `"Yes"`, `"No"`)
		e := w.failure(aai.AutomationFailed, "ax_click", `{"app": "Form", "query": "Press"}`)
		w.has(e.Message, `behind the modal dialog "Really?" [e`)
		assert.Check(w, is.Equal(e.Delivery, aai.NotDelivered))
		assert.Check(w, is.Equal(f.State()["presses"], 0.0))
		w.ok("ax_click", `{"app": "Form", "query": "Yes"}`)
		assert.Check(w, is.Equal(f.State()["dialog"], "yes"), "the dialog was not answered")
		w.ok("ax_click", `{"app": "Form", "query": "Press"}`)
	})
}

func TestClickOnItems(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		a := w.ok("ax_click", `{"app": "Form", "query": "Fruit 2"}`)
		w.want(a, "the selection of its list", "way")
		w.ok("ax_click", `{"app": "Form", "query": "role:tab name:Second"}`)
		w.ok("ax_click", `{"app": "Form", "query": "On second"}`)
		w.ok("ax_click", `{"app": "Form", "query": "Quit-not"}`)
		w.ok("ax_click", `{"app": "Form", "query": "Agree"}`)
		for key, want := range map[string]any{"fruit": "Fruit 2", "tab": "Second", "second": 1.0, "menu": "Quit-not", "agree": true} {
			assert.Check(w, is.Equal(f.State()[key], want), key)
		}
	})
}

// TestClickOpensNoMenu: in the background no menu or list opens, since it would grab the person's
// keyboard. The error names its items, which need not be open.
func TestClickOpensNoMenu(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		for query, item := range map[string]string{"role:menu File": `menuitem "New"`, "Colour": `option "Green"`} {
			e := w.failure(aai.AutomationNotSupported, "ax_click", `{"app": "Form", "query": "`+query+`"}`)
			w.has(e.Message, "would take the person's keyboard")
			assert.Check(w, is.Equal(e.Delivery, aai.NotDelivered), "%s %q", query, e.Candidates)
			assert.Check(w, is.Contains(strings.Join(e.Candidates, "\n"), item), "%s %q", query, e.Candidates)
		}
		refused := w.failure(aai.AutomationNotSupported, "ax_click", `{"app": "Form", "query": "role:menu File"}`)
		ref, _, _ := strings.Cut(refused.Candidates[0], " ")
		w.ok("ax_click", `{"app": "Form", "query": "`+ref+`"}`)
		got := f.State()["menu"]
		assert.Check(w, is.Equal(got, "New"), "the menu's item that was chosen is %v", got)
		w.fails(aai.ElementNotFound, "ax_click", `{"app": "Form", "query": "Quit-not", "click_type": "right"}`)
	})
}

// TestClickEndsTheProgram: the visible effect is the end of the program.
func TestClickEndsTheProgram(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Editor")
		p.Window("One").Button("Quit", p.Quit)
		a := w.ok("ax_click", `{"app": "Editor", "query": "Quit"}`)
		w.has(a.Text, "Editor", "ended")
		w.want(a, true, "verified")
		w.fails(aai.AppNotFound, "ax_get_tree", `{"app": "Editor"}`)
	})
}

// TestClickHangsTheProgram: the click was delivered, and its effect is unknown.
func TestClickHangsTheProgram(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Editor")
		p.Window("One").Button("Work", p.Hang)
		e := w.failure(aai.Timeout, "ax_click", `{"app": "Editor", "query": "Work"}`)
		assert.Check(w, is.Equal(e.Delivery, aai.Delivered))
		took := elapsed(func() { w.fails(aai.Timeout, "ax_get_tree", `{"app": "Editor"}`) })
		assert.Check(w, took <= 0, "the next call took %s", took)
	})
}

// TestOtherClicks: double and right clicks need a pointer, which is missing in the background.
func TestOtherClicks(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		for kind, click := range map[string][2]float64{"double": {1, 2}, "right": {3, 1}} {
			e := w.failure(aai.AutomationNotSupported, "ax_click", fmt.Sprintf(`{"app": "Form", "query": "Canvas", "click_type": %q}`, kind))
			assert.Check(w, is.Equal(e.Delivery, aai.NotDelivered))
			assert.Check(w, is.Contains(e.Hint, "focus"))
			a := w.ok("ax_click", fmt.Sprintf(`{"app": "Form", "query": "Canvas", "click_type": %q, "mode": "focus"}`, kind))
			w.has(a.Text, "the person's pointer")
			clicks, _ := f.State()["clicks"].([]any)
			last := clicks[len(clicks)-1]
			assert.Check(w, is.Equal(at(last, "button"), click[0]), "%s %v", kind, last)
			assert.Check(w, is.Equal(at(last, "count"), click[1]), "%s %v", kind, last)
		}
	})
}

func TestClickInFocus(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		w.d.Program("Other").Window("Cover").Move(desktop.Rect{W: fullWidth, H: fullHeight})
		w.ok("ax_click", `{"app": "Form", "query": "Press", "mode": "focus"}`)
		assert.Check(w, is.Equal(f.State()["presses"], 1.0), "it was not pressed")
		p := w.d.Person()
		assert.Check(w, is.Equal(p.FocusMoves, 1), "%+v", p)
		assert.Check(w, is.Equal(p.PointerMoves, 1), "%+v", p)
	})
}

func TestClickAt(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		p := middleOf(w, "Press")
		a := w.ok("ax_click_at", fmt.Sprintf(`{"app": "Form", "x": %d, "y": %d}`, p.X, p.Y))
		w.want(a, "Press", "element", "title")
		assert.Check(w, is.Equal(f.State()["presses"], 1.0), "it was not pressed")
		p = middleOf(w, "Disabled")
		w.fails(aai.AutomationFailed, "ax_click_at", fmt.Sprintf(`{"app": "Form", "x": %d, "y": %d}`, p.X, p.Y))
		p = middleOf(w, "Canvas")
		w.fails(aai.AutomationNotSupported, "ax_click_at", fmt.Sprintf(`{"app": "Form", "x": %d, "y": %d}`, p.X, p.Y))
		w.ok("ax_click_at", fmt.Sprintf(`{"app": "Form", "x": %d, "y": %d, "mode": "focus", "click_type": "right"}`, p.X, p.Y))
		clicks, _ := f.State()["clicks"].([]any)
		assert.Check(w, is.Len(clicks, 1))
		e := w.failure(aai.InvalidParams, "ax_click_at", `{"app": "Form", "x": 1599, "y": 2}`)
		w.has(e.Message, "in no window of Form")
	})
}

// TestClickAtOneOfTwoWindows: the click goes to the visible window at the point, and not to one
// behind it.
func TestClickAtOneOfTwoWindows(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Editor")
		same := desktop.Rect{X: 100, Y: 100, W: 300, H: 200}
		front := p.Window("Front").Move(same)
		button := front.Button("In front", func() { front.Text("Pressed in front") })
		back := p.Window("Back").Move(same)
		back.Button("Behind", func() { back.Text("Pressed behind") })
		front.Raise()
		at := button.Frame().Center()
		a := w.ok("ax_click_at", fmt.Sprintf(`{"app": "Editor", "x": %d, "y": %d}`, at.X, at.Y))
		w.want(a, "In front", "element", "title")
	})
}

// TestClickAtTheSecondWindow: in the mode "focus", only the window at the point comes to the front.
func TestClickAtTheSecondWindow(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Editor")
		left := p.Window("Left").Move(desktop.Rect{X: 100, Y: 100, W: 200, H: 200})
		clicked := 0
		canvas := left.Canvas("Paper").OnClick(func(fakeClick) { clicked++ })
		p.Window("Right").Move(desktop.Rect{X: 600, Y: 100, W: 200, H: 200})
		w.d.Program("Other").Window("Cover").Move(desktop.Rect{W: fullWidth, H: fullHeight})
		at := canvas.Frame().Center()
		w.ok("ax_click_at", fmt.Sprintf(`{"app": "Editor", "x": %d, "y": %d, "mode": "focus"}`, at.X, at.Y))
		assert.Check(w, is.Equal(clicked, 1), "clicked %d times", clicked)
	})
}

func middleOf(w *world, query string) desktop.Point {
	w.Helper()
	a := w.ok("ax_find", fmt.Sprintf(`{"app": "Form", "query": %q}`, query))
	n := func(key string, i int) int { f, _ := at(a.data, key, i).(float64); return int(f) }
	return desktop.Rect{X: n("position", 0), Y: n("position", 1), W: n("size", 0), H: n("size", 1)}.Center()
}

// TestClickOnWhatHasAnotherName: a page may reuse a button for another purpose, visible only in its
// name. A caller that got the new name may continue.
func TestClickOnWhatHasAnotherName(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		presses := 0
		button := f.Main.Button("Delete row 3", func() { presses++; f.Main.Button("Pressed", nil) })
		ref, _ := w.ok("ax_find", `{"app": "Form", "query": "Delete row 3"}`).data["element_ref"].(string)
		button.Rename("Delete row 18")
		e := w.failure(aai.StaleRef, "ax_click", `{"app": "Form", "query": "`+ref+`"}`)
		w.has(e.Message, `was "Delete row 3" and is button "Delete row 18" now`)
		assert.Check(t, is.Equal(presses, 0), "it was pressed")
		w.ok("ax_click", `{"app": "Form", "query": "`+ref+`"}`)
		assert.Check(t, is.Equal(presses, 1), "it was pressed %d times after its name was told", presses)
	})
}

// TestManyChangesAreCountedOnce: omitted changes are counted once.
func TestManyChangesAreCountedOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		var parts []*fakedesktop.Element
		f.Main.Button("Rename all", func() {
			for i, part := range parts {
				part.Rename(fmt.Sprintf("Piece %c%c of the whole, which 一二三四五六七八九十 is long", 'a'+i/26, 'a'+i%26))
			}
		})
		for i := range 45 {
			parts = append(parts, f.Main.Checkbox(fmt.Sprintf("Part %c%c of the whole, which 一二三四五六七八九十 is long", 'a'+i/26, 'a'+i%26)))
		}
		a := w.ok("ax_click", `{"app": "Form", "query": "Rename all"}`)
		if got := strings.Count(a.Text, "more change"); got != 1 {
			w.Errorf("what is not told is counted %d times: %s", got, a.Text)
		}
	})
}
