package gui_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// late opens a window with a button that works 300 ms after the press, one without effect, and one
// that works at once; and with a dialog that opens late and closes again.
func late(w *world) *fakedesktop.Program {
	p := w.d.Program("Office")
	window := p.Window("Office")
	status, other := window.Text("idle"), window.Text("nothing")
	window.Button("Late", func() { p.After(300*time.Millisecond, func() { status.Rename("saved") }) })
	window.Button("Dead", func() {})
	window.Button("Now", func() { other.Rename("something") })
	window.Button("Flash", func() {
		p.After(300*time.Millisecond, func() {
			d := p.Dialog("Just so that you know")
			p.After(300*time.Millisecond, d.Close)
		})
	})
	return p
}

// TestQuickWithoutEffect: the reply to a click without effect comes soon if the program is idle. It
// comes at the ceiling if the program is busy or a late report is impossible.
func TestQuickWithoutEffect(t *testing.T) {
	inWorld(t, func(w *world) {
		late(w)
		w.ok("ax_get_tree", `{"app": "Office"}`)
		took := elapsed(func() {
			a := w.ok("ax_click", `{"app": "Office", "query": "Dead"}`)
			w.want(a, false, "verified")
			w.has(a.Warning, "nothing was seen to change yet", "next call")
		})
		assert.Check(w, took <= 200*time.Millisecond, "took %s", took)
		took = elapsed(func() { w.want(w.ok("ax_key_press", `{"app": "Office", "key": "f5"}`), false, "verified") })
		assert.Check(w, took >= 450*time.Millisecond, "a key took %s, and nobody knows when it is read", took)
		w.hasNot(w.ok("ax_get_tree", `{"app": "Office"}`).Text, "Since then")
		w.caller = aai.Caller{Door: aai.DoorCLI}
		time.Sleep(10 * time.Second)
		took = elapsed(func() { w.hasNot(w.ok("ax_click", `{"app": "Office", "query": "Dead"}`).Warning, "next call") })
		assert.Check(w, took >= 450*time.Millisecond, "a command of the terminal took %s, and nobody will be told of what came later", took)
		w.want(w.ok("ax_click", `{"app": "Office", "query": "Late"}`), true, "verified")
	})
	inWorldWithout(t, func(b *desktop.Backend) { b.Events = working{b.Events} }, func(w *world) {
		late(w)
		took := elapsed(func() { w.want(w.ok("ax_click", `{"app": "Office", "query": "Late"}`), true, "verified") })
		assert.Check(w, took >= 300*time.Millisecond, "took %s, and the program was at work", took)
	})
}

// TestAPageThatHasLoadedIsNoEffect: a page that finishes loading meanwhile is no effect; the effect
// of the action comes later.
func TestAPageThatHasLoadedIsNoEffect(t *testing.T) {
	inWorldWithout(t, func(b *desktop.Backend) { b.Events = working{b.Events} }, func(w *world) {
		p := w.d.Program("Office")
		window := p.Window("Office")
		page := window.Add(desktop.Element{Role: desktop.Document, Name: "Page"}).AddState(desktop.Busy)
		status := page.Text("idle")
		page.Button("Late", func() {
			page.RemoveState(desktop.Busy)
			p.After(300*time.Millisecond, func() { status.Rename("saved") })
		})
		a := w.ok("ax_click", `{"app": "Office", "query": "Late"}`)
		w.want(a, true, "verified")
		w.has(a.Text, "saved", "not busy")
	})
}

// working is a busy program.
type working struct{ desktop.Events }

func (working) IsIdle(desktop.App) bool { return false }

// TestOneLookAtWhatIsTold: a program that shows a press for 110 ms before it acts, and then reports
// events, is read once after the action.
func TestOneLookAtWhatIsTold(t *testing.T) {
	counted := &counting{}
	inWorldWithout(t, func(b *desktop.Backend) {
		b.Events, counted.Tree = working{b.Events}, b.Tree
		b.Tree = counted
	}, func(w *world) {
		p := w.d.Program("Office")
		window := p.Window("Office")
		status := window.Text("idle")
		pressed := 0
		window.Button("Save", func() {
			pressed = counted.looks
			p.After(110*time.Millisecond, func() { status.Rename("saved") })
		})
		w.want(w.ok("ax_click", `{"app": "Office", "query": "Save"}`), true, "verified")
		looks := counted.looks - pressed
		assert.Check(w, is.Equal(looks, 1), "it was read %d times", looks)
	})
}

// counting counts the reads of programs.
type counting struct {
	desktop.Tree
	looks int
}

func (c *counting) Snapshot(ctx context.Context, app desktop.App) (*desktop.Snapshot, error) {
	c.looks++
	return c.Tree.Snapshot(ctx, app)
}

// TestLateEffectIsTold: the next call reports a late effect, once, to the conversation that caused
// it. The call may come at once or later, and may read, act or fail; the journal contains the
// effect.
func TestLateEffectIsTold(t *testing.T) {
	for name, thinks := range map[string]time.Duration{"at once": 0, "soon": time.Second, "long after": time.Minute} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				late(w)
				w.ok("ax_get_tree", `{"app": "Office"}`)
				w.want(w.ok("ax_click", `{"app": "Office", "query": "Late"}`), false, "verified")
				time.Sleep(thinks)
				w.hasNot(w.as("another").ok("ax_get_tree", `{"app": "Office"}`).Text, "Since then")
				w.has(w.ok("ax_get_tree", `{"app": "Office"}`).Text, `Since then (Clicked button "Late"`, `"idle" → "saved"`)
				w.has(fmt.Sprint(w.record.last(aai.Outcome).ResultValue()), "Since then")
				w.hasNot(w.ok("ax_get_tree", `{"app": "Office"}`).Text, "Since then")
			})
		})
	}
	inWorld(t, func(w *world) {
		late(w)
		w.ok("ax_click", `{"app": "Office", "query": "Flash"}`)
		time.Sleep(2 * time.Second)
		w.has(w.failure(aai.ElementNotFound, "ax_click", `{"app": "Office", "query": "Nowhere"}`).Message, "Since then", "Just so that you know")
	})
}

// TestTheNextActsEffectIsNotLate: the effect of an action is not reported as a late effect of the
// previous one.
func TestTheNextActsEffectIsNotLate(t *testing.T) {
	inWorld(t, func(w *world) {
		late(w)
		w.ok("ax_get_tree", `{"app": "Office"}`)
		w.want(w.ok("ax_click", `{"app": "Office", "query": "Dead"}`), false, "verified")
		w.want(w.ok("ax_click", `{"app": "Office", "query": "Now"}`), true, "verified")
		w.hasNot(w.ok("ax_get_tree", `{"app": "Office"}`).Text, "Since then")
	})
}

// TestLateEffectIsNotTheNextActs: a late effect does not verify the next action, by any caller.
func TestLateEffectIsNotTheNextActs(t *testing.T) {
	for _, who := range []string{"s1", "another"} {
		inWorld(t, func(w *world) {
			late(w)
			w.ok("ax_get_tree", `{"app": "Office"}`)
			w.want(w.ok("ax_click", `{"app": "Office", "query": "Late"}`), false, "verified")
			next := w.as(who)
			a := next.ok("ax_click", `{"app": "Office", "query": "Dead"}`)
			w.want(a, false, "verified")
			assert.Check(w, is.Equal(strings.Contains(a.Text, "Since then"), (who == "s1")), "%s %s", who, a.Text)
			a = next.ok("ax_click", `{"app": "Office", "query": "Now"}`)
			w.want(a, true, "verified")
			w.has(a.Text, `"nothing" → "something"`)
			if who != "s1" {
				w.has(w.ok("ax_get_tree", `{"app": "Office"}`).Text, "Since then", `"idle" → "saved"`)
			}
		})
	}
}

// TestAServersAnswerIsNotTheNextActs: a page change after a server's answer belongs to the click
// that asked, however soon the next click comes. A call that only reads does not wait.
func TestAServersAnswerIsNotTheNextActs(t *testing.T) {
	for _, answers := range []time.Duration{500 * time.Millisecond, 700 * time.Millisecond, time.Second} {
		inWorld(t, func(w *world) {
			p := w.d.Program("Office").SetBrowser()
			window := p.Window("Office")
			page := window.Add(desktop.Element{Role: desktop.Document, Name: "Page"})
			status := page.Text("idle")
			page.Button("Ask", func() { p.After(answers, func() { status.Rename("answered") }) })
			page.Button("Dead", func() {})
			w.ok("ax_get_tree", `{"app": "Office"}`)
			w.want(w.ok("ax_click", `{"app": "Office", "query": "Ask"}`), false, "verified")
			a := w.ok("ax_click", `{"app": "Office", "query": "Dead"}`)
			w.want(a, false, "verified")
			w.has(a.Text, `Since then (Clicked button "Ask"`, `"idle" → "answered"`)
			took := elapsed(func() { w.ok("ax_get_tree", `{"app": "Office"}`) })
			assert.Check(w, took <= 450*time.Millisecond, "a look took %s", took)
		})
	}
}

// TestWhoseLateEffectIsNotKnown: after two actions without visible effect, a late effect is not
// attributed to the second alone.
func TestWhoseLateEffectIsNotKnown(t *testing.T) {
	inWorld(t, func(w *world) {
		late(w)
		w.ok("ax_get_tree", `{"app": "Office"}`)
		for _, dead := range []string{"Dead", "Late"} {
			w.want(w.ok("ax_click", `{"app": "Office", "query": "`+dead+`"}`), false, "verified")
		}
		w.has(w.ok("ax_get_tree", `{"app": "Office"}`).Text, `Since then (Clicked button "Late" [e2], or the action before it;`, `"idle" → "saved"`)
	})
}

// TestTheSecondPartOfAnEffect: a late second part of an action's effect is not attributed to the
// next action.
func TestTheSecondPartOfAnEffect(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Office")
		window := p.Window("Office")
		status := window.Text("idle")
		window.Button("Save", func() {
			status.Rename("is saving")
			p.After(600*time.Millisecond, func() { status.Rename("saved") })
		})
		window.Button("Dead", func() {})
		w.want(w.ok("ax_click", `{"app": "Office", "query": "Save"}`), true, "verified")
		w.want(w.ok("ax_click", `{"app": "Office", "query": "Dead"}`), false, "verified")
		time.Sleep(time.Second)
		w.has(w.ok("ax_get_tree", `{"app": "Office"}`).Text, `Since then (Clicked button "Dead" [e2], or the action before it;`, `"is saving" → "saved"`)
	})
}

// TestLongWorkIsNotTheNextActs: the result of long work belongs to the action that caused it, and
// not to the next one by any caller, even if the program sleeps now and then. A program that never
// rests is not awaited for long.
func TestLongWorkIsNotTheNextActs(t *testing.T) {
	for name, then := range map[string]time.Duration{"at once": 0, "a while after it rests": 200 * time.Millisecond, "asleep at each look": 0} {
		t.Run(name, func(t *testing.T) {
			works := &atWork{asleep: strings.HasPrefix(name, "asleep")}
			inWorldWithout(t, func(b *desktop.Backend) { works.Events, b.Events = b.Events, works }, func(w *world) {
				p := w.d.Program("Office")
				window := p.Window("Office")
				status := window.Text("idle")
				window.Button("Long", func() {
					works.now.Store(true)
					p.After(1200*time.Millisecond, func() {
						works.now.Store(false)
						p.After(then, func() { status.Rename("done") })
					})
				})
				window.Button("Dead", func() {})
				w.ok("ax_get_tree", `{"app": "Office"}`)
				w.want(w.ok("ax_click", `{"app": "Office", "query": "Long"}`), false, "verified")
				a := w.ok("ax_click", `{"app": "Office", "query": "Dead"}`)
				w.want(a, false, "verified")
				w.has(a.Text, `Since then (Clicked button "Long"`, `"idle" → "done"`)
				time.Sleep(time.Second)
				w.hasNot(w.ok("ax_get_tree", `{"app": "Office"}`).Text, "Since then")
			})
		})
	}
	inWorldWithout(t, func(b *desktop.Backend) { b.Events = working{b.Events} }, func(w *world) {
		late(w)
		w.ok("ax_click", `{"app": "Office", "query": "Dead"}`)
		took := elapsed(func() { w.ok("ax_get_tree", `{"app": "Office"}`) })
		assert.Check(w, took <= 3*time.Second, "a program that never rests is waited for %s", took)
		took = elapsed(func() { w.ok("ax_get_tree", `{"app": "Office"}`) })
		assert.Check(w, took <= 0, "and %s again", took)
	})
}

// atWork is the event source of a program that is busy now and then.
type atWork struct {
	desktop.Events
	now    atomic.Bool
	asleep bool // at each read
}

func (a *atWork) IsIdle(app desktop.App) bool {
	return (a.asleep || !a.now.Load()) && a.Events.IsIdle(app)
}

// BusyTime returns a time as if the busy program never slept.
func (a *atWork) BusyTime(desktop.App) time.Duration {
	if !a.now.Load() {
		return 0
	}
	return time.Duration(time.Now().UnixNano())
}

// hasNot checks that a text lacks the part.
func (w *world) hasNot(text, part string) {
	w.Helper()
	assert.Check(w, !strings.Contains(text, part), "%q %q", text, part)
}
