package gui_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealKilledMidWalk: a program that dies during a read has ended for all readers, and no call
// waits for it.
func TestRealKilledMidWalk(t *testing.T) {
	w := newRealWorld(t)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			w := w.on(t)
			f := w.Rows(t, kind, 10_000)
			app := w.process(f.App)
			var readers sync.WaitGroup
			begun := make(chan struct{}, 4)
			for range cap(begun) {
				fresh := joined(t, w.Session, w.Getenv) // it has no cache and must read everything
				readers.Go(func() {
					begun <- struct{}{}
					for {
						if _, err := fresh.by(within, "ax_get_tree", params{"app": app}); err != nil {
							if err.Code != aai.AppNotRunning && err.Code != aai.AppNotFound || !err.RetrySafe() {
								t.Errorf("while it died: %v, delivery %q", err, err.Delivery)
							}
							return
						}
					}
				})
			}
			for range cap(begun) {
				<-begun
			}
			time.Sleep(30 * time.Millisecond) // any moment will do; most are in the middle of a walk
			f.Kill(t)
			readers.Wait()
			_ = w.fails(within, aai.AppNotFound, "", "ax_get_tree", params{"app": app})
		})
	}
}

// TestRealKilledWhileActing: a program that dies between the read and the action did not get the
// action.
func TestRealKilledWhileActing(t *testing.T) {
	w := newRealWorld(t)
	happen := func() {}
	w.backend.Actor = beforeActing{w.backend.Actor, func() { happen() }}
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			w := w.on(t)
			f, app := w.open(kind)
			happen = func() { f.Kill(t) }
			assert.Check(t, w.fails(within, aai.AppNotRunning, aai.NotDelivered, "ax_click", press(app)).Hint != "", "it says nothing of what to do")
		})
	}
}

// TestRealWindowClosed: a window that the person closes is gone for the agent that found an element
// in it, whether or not its program ends.
func TestRealWindowClosed(t *testing.T) {
	w := newRealWorld(t)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			w := w.on(t)
			_, app := w.open(kind)
			w.ok("ax_connect", params{"app": app, "alias": "it"})
			ref := w.ref("it", "button Press")
			var pressed time.Time
			w.eventually("the window is gone", func() bool {
				if time.Since(pressed) > 5*time.Second { // a busy window manager may not have given it the keyboard yet
					w.Launch(t, "xdotool", "key", "alt+F4")
					pressed = time.Now()
				}
				return !strings.Contains(w.ok("ax_list_apps", nil).Text, app)
			})
			// Chromium takes a moment to end, and may be listed once more.
			_, e := w.by(within, "ax_click", params{"app": "it", "query": ref})
			assert.Assert(t, e != nil, "its window is gone, but: %v", e)
			assert.Equal(t, e.Code, aai.AppNotRunning, e)
			assert.Assert(t, e.RetrySafe(), "its window is gone, but: %v", e)
			w.says(e.Message, "has ended")
			w.eventually("nothing of it is left", func() bool {
				_, e := w.by(within, "ax_click", params{"app": app, "query": ref})
				return e != nil && e.Code == aai.AppNotFound && e.RetrySafe()
			})
		})
	}
}

// TestRealDialogCloses: a dialog that is answered between the search and the click is not answered
// again.
func TestRealDialogCloses(t *testing.T) {
	w := newRealWorld(t)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			w := w.on(t)
			f, app := w.open(kind)
			w.ok("ax_click", params{"app": app, "query": "button Open dialog"})
			f.WaitState(t, "dialog", "open")
			w.awaitElement(app, "button Yes")
			yes := w.ref(app, "button Yes")
			somebody := *w
			somebody.caller.Session = "s2"
			somebody.ok("ax_click", params{"app": app, "query": "button No"})
			f.WaitState(t, "dialog", "no")
			w.ok("ax_wait_idle", params{"app": app})
			_, e := w.by(within, "ax_click", params{"app": app, "query": yes})
			assert.Assert(t, e != nil, "the button of a dialog that is gone: %v", e)
			assert.Equal(t, e.Code, aai.StaleRef, e)
			assert.Assert(t, e.RetrySafe(), "the button of a dialog that is gone: %v", e)
			w.ok("ax_click", press(app))
			f.WaitState(t, "presses", 1)
			answer := f.State(t)["dialog"]
			assert.Check(t, is.Equal(answer, "no"), "the dialog was answered with %v", answer)
		})
	}
}
