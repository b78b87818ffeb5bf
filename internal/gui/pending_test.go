package gui_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// late is a window with a button that works 300 ms after it is pressed, one that does
// nothing, and one that works at once; and a dialog that comes late and goes again.
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

// TestQuickWithoutEffect: a click that does nothing is answered soon where the program is
// idle, and at the old ceiling where it is at work or nobody could be told later.
func TestQuickWithoutEffect(t *testing.T) {
	inWorld(t, func(w *world) {
		late(w)
		w.ok("ax_get_tree", `{"app": "Office"}`)
		took := elapsed(func() {
			a := w.ok("ax_click", `{"app": "Office", "query": "Dead"}`)
			w.want(a, false, "verified")
			w.has(a.Warning, "nothing was seen to change yet", "next call")
		})
		if took > 200*time.Millisecond {
			w.Errorf("took %s", took)
		}
		took = elapsed(func() { w.want(w.ok("ax_key_press", `{"app": "Office", "key": "f5"}`), false, "verified") })
		if took < 450*time.Millisecond {
			w.Errorf("a key took %s, and nobody knows when it is read", took)
		}
		w.hasNot(w.ok("ax_get_tree", `{"app": "Office"}`).Text, "Since then")
		w.caller = aai.Caller{Door: aai.DoorCLI}
		time.Sleep(10 * time.Second)
		took = elapsed(func() { w.hasNot(w.ok("ax_click", `{"app": "Office", "query": "Dead"}`).Warning, "next call") })
		if took < 450*time.Millisecond {
			w.Errorf("a command of the terminal took %s, and nobody will be told of what came later", took)
		}
		w.want(w.ok("ax_click", `{"app": "Office", "query": "Late"}`), true, "verified")
	})
	inWorldWithout(t, func(b *desktop.Backend) { b.Events = working{b.Events} }, func(w *world) {
		late(w)
		took := elapsed(func() { w.want(w.ok("ax_click", `{"app": "Office", "query": "Late"}`), true, "verified") })
		if took < 300*time.Millisecond {
			w.Errorf("took %s, and the program was at work", took)
		}
	})
}

// TestAPageThatHasLoadedIsNoEffect: a page that comes to its end meanwhile would have without the
// act; what the act did comes after that.
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

// working is a program at work.
type working struct{ desktop.Events }

func (working) IsIdle(desktop.App) bool { return false }

// TestOneLookAtWhatIsTold: a program that shows a press for 110 ms before it acts, and tells
// of what it did then, is read once after the act.
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
		if looks := counted.looks - pressed; looks != 1 {
			w.Errorf("it was read %d times", looks)
		}
	})
}

// counting counts the looks at programs.
type counting struct {
	desktop.Tree
	looks int
}

func (c *counting) Snapshot(ctx context.Context, app desktop.App) (*desktop.Snapshot, error) {
	c.looks++
	return c.Tree.Snapshot(ctx, app)
}

// TestLateEffectIsTold: what comes after the answer is told by the next call, once, to the
// conversation that did it: at once or later, by what reads, acts or fails; and the record
// has it.
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

// TestTheNextActsEffectIsNotLate: what an act does is not told as what came late of the one
// before.
func TestTheNextActsEffectIsNotLate(t *testing.T) {
	inWorld(t, func(w *world) {
		late(w)
		w.ok("ax_get_tree", `{"app": "Office"}`)
		w.want(w.ok("ax_click", `{"app": "Office", "query": "Dead"}`), false, "verified")
		w.want(w.ok("ax_click", `{"app": "Office", "query": "Now"}`), true, "verified")
		w.hasNot(w.ok("ax_get_tree", `{"app": "Office"}`).Text, "Since then")
	})
}

// TestLateEffectIsNotTheNextActs: an act that comes sooner than the effect of the one
// before, by whomever, is not believed for its sake.
func TestLateEffectIsNotTheNextActs(t *testing.T) {
	for _, who := range []string{"s1", "another"} {
		inWorld(t, func(w *world) {
			late(w)
			w.ok("ax_get_tree", `{"app": "Office"}`)
			w.want(w.ok("ax_click", `{"app": "Office", "query": "Late"}`), false, "verified")
			next := w.as(who)
			a := next.ok("ax_click", `{"app": "Office", "query": "Dead"}`)
			w.want(a, false, "verified")
			if tells := strings.Contains(a.Text, "Since then"); tells != (who == "s1") {
				w.Errorf("%s is told: %s", who, a.Text)
			}
			a = next.ok("ax_click", `{"app": "Office", "query": "Now"}`)
			w.want(a, true, "verified")
			w.has(a.Text, `"nothing" → "something"`)
			if who != "s1" {
				w.has(w.ok("ax_get_tree", `{"app": "Office"}`).Text, "Since then", `"idle" → "saved"`)
			}
		})
	}
}

// TestAServersAnswerIsNotTheNextActs: what a page shows when its server has answered is what the
// click did that asked, however quickly the next one comes; who only looks is not kept waiting.
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
			if took := elapsed(func() { w.ok("ax_get_tree", `{"app": "Office"}`) }); took > 450*time.Millisecond {
				w.Errorf("a look took %s", took)
			}
		})
	}
}

// TestWhoseLateEffectIsNotKnown: of two acts that showed nothing, one after the other, it is not
// said that the second did what came later.
func TestWhoseLateEffectIsNotKnown(t *testing.T) {
	inWorld(t, func(w *world) {
		late(w)
		w.ok("ax_get_tree", `{"app": "Office"}`)
		for _, dead := range []string{"Dead", "Late"} {
			w.want(w.ok("ax_click", `{"app": "Office", "query": "`+dead+`"}`), false, "verified")
		}
		w.has(w.ok("ax_get_tree", `{"app": "Office"}`).Text, `Since then (Clicked button "Late" [e2], or what was done before it;`, `"idle" → "saved"`)
	})
}

// TestTheSecondPartOfAnEffect: what an act that was seen does a second time, after the next one
// was answered, is not said to be of that.
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
		w.has(w.ok("ax_get_tree", `{"app": "Office"}`).Text, `Since then (Clicked button "Dead" [e2], or what was done before it;`, `"is saving" → "saved"`)
	})
}

// TestLongWorkIsNotTheNextActs: what a program works at for longer than an answer waits is
// what the act did that it was asked for, and not the next one, by whomever, also if it sleeps
// at each turn; and one that never rests is not waited for long.
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
		if took := elapsed(func() { w.ok("ax_get_tree", `{"app": "Office"}`) }); took > 3*time.Second {
			w.Errorf("a program that never rests is waited for %s", took)
		}
		if took := elapsed(func() { w.ok("ax_get_tree", `{"app": "Office"}`) }); took > 0 {
			w.Errorf("and %s again", took)
		}
	})
}

// atWork are the events of a program that is at work now and then.
type atWork struct {
	desktop.Events
	now    atomic.Bool
	asleep bool // whenever it is looked at
}

func (a *atWork) IsIdle(app desktop.App) bool {
	return (a.asleep || !a.now.Load()) && a.Events.IsIdle(app)
}

// BusyTime is as if all time were work, while it is at work.
func (a *atWork) BusyTime(desktop.App) time.Duration {
	if !a.now.Load() {
		return 0
	}
	return time.Duration(time.Now().UnixNano())
}

// hasNot checks that a text lacks the part.
func (w *world) hasNot(text, part string) {
	w.Helper()
	if strings.Contains(text, part) {
		w.Errorf("%q has %q", text, part)
	}
}
