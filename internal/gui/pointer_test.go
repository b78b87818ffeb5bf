package gui_test

import (
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

func TestScroll(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		a := w.ok("ax_scroll", `{"app": "Form", "query": "Fruits"}`)
		w.want(a, "its scroll bar", "way")
		w.want(a, true, "verified")
		w.has(a.Text, "Scrolled down")
		if got := f.Fruits.Offset(); got != 5 { // 100 pixels
			w.Errorf("scrolled to item %d", got)
		}
		w.ok("ax_scroll", `{"app": "Form", "query": "Fruit 7", "direction": "up", "amount": 40}`)
		got := f.Fruits.Offset()
		assert.Check(w, is.Equal(got, 3), "scrolled to item %d", got)
		w.ok("ax_scroll", `{"app": "Form", "amount": 100000}`)
		got = f.Fruits.Offset()
		assert.Check(w, is.Equal(got, 34), "scrolled to item %d, want the last", got)
		w.has(w.ok("ax_scroll", `{"app": "Form"}`).Warning, "nothing was seen to change") // at the end of the list
	})
}

// TestScrollByWheel: without a scroll bar, the gateway's own pointer turns the wheel.
func TestScrollByWheel(t *testing.T) {
	inWorldWithout(t, func(b *desktop.Backend) { b.Actor = nil }, func(w *world) {
		f := form(w)
		w.d.Program("Other").Window("Person")
		a := w.ok("ax_scroll", `{"app": "Form", "query": "Fruits", "amount": 50}`)
		w.has(a.Text, "in the background")
		got := f.Fruits.Offset()
		assert.Check(w, is.Equal(got, 3), "scrolled to item %d", got)
		p := w.d.Person()
		assert.Check(w, is.Equal(p.PointerMoves, 0), "the person noticed %+v", p)
		w.ok("ax_scroll", `{"app": "Form", "query": "Fruits", "direction": "up", "mode": "focus"}`)
		p = w.d.Person()
		assert.Check(w, is.Equal(p.PointerMoves, 1), "%+v", p)
		assert.Check(w, is.Equal(f.Fruits.Offset(), 0), "%+v", p)
	})
}

func TestScrollToView(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		e := w.failure(aai.ElementNotFound, "ax_click", `{"app": "Form", "query": "Fruit 30"}`)
		w.has(e.Hint, "to_view")
		a := w.ok("ax_scroll", `{"app": "Form", "query": "Fruit 30", "to_view": true}`)
		w.want(a, true, "verified")
		w.ok("ax_click", `{"app": "Form", "query": "Fruit 30"}`)
		assert.Check(w, is.Equal(f.State()["fruit"], "Fruit 30"))
		w.want(w.ok("ax_scroll", `{"app": "Form", "query": "Fruit 30", "to_view": true}`), true, "verified")
		w.fails(aai.InvalidParams, "ax_scroll", `{"app": "Form", "to_view": true}`)
		since := w.mutations()
		w.want(w.ok("ax_scroll", `{"app": "Form", "query": "Press", "to_view": true}`), true, "verified")
		w.nothingDone(since) // it was in view already
	})
}

// TestScrollTheFrontWindow: without an element, the front window scrolls.
func TestScrollTheFrontWindow(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Lists")
		rows := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
		back := p.Window("Back").List("One", 3, rows...)
		front := p.Window("Front").List("Two", 3, rows...)
		w.ok("ax_scroll", `{"app": "Lists", "amount": 40}`)
		assert.Check(w, is.Equal(back.Offset(), 0))
		assert.Check(w, is.Equal(front.Offset(), 2))
	})
}

func TestDrag(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		e := w.failure(aai.AutomationNotSupported, "ax_drag", `{"app": "Form", "from_query": "Canvas", "to_query": "Status: ready"}`)
		w.has(e.Hint, "focus")
		took := elapsed(func() {
			w.ok("ax_drag", `{"app": "Form", "from_query": "Canvas", "to_query": "Status: ready", "duration_ms": 700, "mode": "focus"}`)
		})
		if drags, _ := f.State()["drags"].([]any); len(drags) != 1 || took < 700*time.Millisecond {
			w.Errorf("dragged %v in %s", drags, took)
		}
		at := middleOf(w, "Canvas")
		w.ok("ax_drag", fmt.Sprintf(`{"app": "Form", "from_x": %d, "from_y": %d, "to_x": %d, "to_y": %d, "mode": "focus"}`, at.X, at.Y, at.X+5, at.Y))
		drags, _ := f.State()["drags"].([]any)
		from, to := fmt.Sprint(atIndex(drags, 1, "from", 0)), fmt.Sprint(atIndex(drags, 1, "to", 0))
		assert.Check(w, from != to, "dragged %v", drags)
		w.fails(aai.InvalidParams, "ax_drag", `{"app": "Form", "from_query": "Canvas"}`)
		w.fails(aai.InvalidParams, "ax_drag", `{"app": "Form", "from_query": "Canvas", "to_x": 5}`)
		w.fails(aai.InvalidParams, "ax_drag", `{"app": "Form", "from_query": "Canvas", "to_x": 1599, "to_y": 2}`)
		w.fails(aai.AutomationFailed, "ax_drag", `{"app": "Form", "from_query": "Disabled", "to_query": "Canvas"}`)
	})
}

func atIndex(list []any, path ...any) any { return at(list, path...) }

// TestDragWhileTheProgramChanges: the reply names the dragged element, even if the program was read
// again for the other end.
func TestDragWhileTheProgramChanges(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Board")
		win := p.Window("Board")
		first := win.Text("Soon gone")
		dragged := 0
		win.Canvas("Card").OnDrag(func(desktop.Point, desktop.Point) { dragged++; win.Text("Dropped") })
		p.After(200*time.Millisecond, func() {
			first.Remove()
			win.Canvas("Bin")
		})
		a := w.ok("ax_drag", `{"app": "Board", "from_query": "Card", "to_query": "Bin", "mode": "focus"}`)
		w.has(a.Text, `Dragged canvas "Card"`)
		assert.Check(w, is.Equal(dragged, 1), "dragged %d times", dragged)
	})
}
