package gui_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// within limits calls. A call that succeeds in time has not waited for the hanging program.
const within = 30 * time.Second

// by makes a call with its own deadline.
func (w *realWorld) by(limit time.Duration, tool string, p params) (*aai.Result, *aai.Error) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), limit)
	defer cancel()
	return w.do(ctx, tool, p)
}

// fails makes a call with its own deadline, which must fail with the code and the delivery.
func (w *realWorld) fails(limit time.Duration, code aai.Code, delivery aai.Delivery, tool string, p params) *aai.Error {
	w.Helper()
	result, err := w.by(limit, tool, p)
	if t := w.tools.Tool(tool); t.Effect == aai.Reads && delivery == aai.NotDelivered && err != nil && err.Delivery == "" {
		delivery = "" // a read delivers nothing
	}
	switch {
	case err == nil:
		w.Fatalf("%s %v: succeeded with %q, warning %q; want %s", tool, p, result.Text, result.Warning, code)
	case err.Code != code || err.Delivery != delivery:
		w.Fatalf("%s %v: %v, delivery %q, hint %q; want %s, %q", tool, p, err, err.Delivery, err.Hint, code, delivery)
	case err.RetrySafe() != (delivery == "" || delivery == aai.NotDelivered):
		w.Errorf("%s %v: %v, delivery %q: safe to try again: %v", tool, p, err, err.Delivery, err.RetrySafe())
	}
	return err
}

// quick makes a call that must succeed before its deadline.
func (w *realWorld) quick(tool string, p params) answer {
	w.Helper()
	result, err := w.by(within, tool, p)
	if err != nil {
		w.Fatalf("%s %v: %v, delivery %q, hint %q", tool, p, err, err.Delivery, err.Hint)
	}
	return answer{result, asJSON(w.T, result.Data)}
}

// presses returns how often the fixture's button was pressed, by its own count.
func presses(t *testing.T, f *linuxtest.Fixture) float64 {
	n, _ := f.State(t)["presses"].(float64)
	return n
}

var press = func(app string) params { return params{"app": app, "query": "button Press"} }

// TestRealHang: calls to a hanging program fail, the first at its deadline and the next ones at
// once; other programs are not affected. Afterwards everything works as before.
func TestRealHang(t *testing.T) {
	w := parallelWorld(t)
	neighbour, other := w.open(linuxtest.Qt6)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			w := w.on(t)
			f, app := w.open(kind)
			w.ok("ax_click", press(app))
			f.WaitState(t, "presses", 1)
			before := presses(t, neighbour)
			name, _ := w.ok("ax_connect", params{"app": app}).data["app_name"].(string)

			f.Suspend(t)
			e := w.fails(2*time.Second, aai.Timeout, aai.NotDelivered, "ax_click", press(app))
			w.says(e.Message, "did not answer")
			for _, call := range []struct {
				tool string
				args params
			}{
				{"ax_click", press(app)},
				{"ax_get_tree", params{"app": app}},
				{"ax_type", params{"app": app, "query": "Full name", "text": "never"}},
				{"ax_wait_idle", params{"app": app}},
			} {
				e = w.fails(within, aai.Timeout, aai.NotDelivered, call.tool, call.args)
				w.says(e.Message, "has not answered for", name)
				assert.Check(t, e.Hint != "", "%s says nothing of what to do", call.tool)
			}
			w.quick("ax_click", press(other))
			neighbour.WaitState(t, "presses", before+1)
			w.quick("ax_get_tree", params{"app": other})
			w.says(w.quick("ax_list_apps", nil).Text, app, other)

			f.Continue(t)
			w.recovers(app)
			w.ok("ax_click", press(app))
			f.WaitState(t, "presses", 2) // and no press was queued
			assert.Check(t, is.Equal(f.State(t)["name"], ""))
		})
	}
}

// recovers waits until the program can be read again.
func (w *realWorld) recovers(app string) {
	w.Helper()
	w.eventually(app+" is read again", func() bool {
		_, err := w.by(within, "ax_get_tree", params{"app": app})
		assert.Assert(w, err == nil || err.Code == aai.Timeout, "while it recovers: %v", err)
		return err == nil
	})
}

// TestRealHangWhileActing: a program hangs between the read and the action. The error reports only
// a certain delivery.
func TestRealHangWhileActing(t *testing.T) {
	w := parallelWorld(t)
	stop := func() {}
	w.backend.Actor = beforeActing{w.backend.Actor, func() { stop() }}
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.Chromium} {
		t.Run(string(kind), func(t *testing.T) {
			w := w.on(t)
			f, app := w.open(kind)
			stop = func() { f.Suspend(t) }
			_, e := w.by(2*time.Second, "ax_click", press(app))
			stop = func() {}
			assert.Assert(t, e != nil, "got %v, want TIMEOUT", e)
			assert.Equal(t, e.Code, aai.Timeout, e)
			w.says(w.fails(within, aai.Timeout, aai.NotDelivered, "ax_click", press(app)).Message, "has not answered for")
			f.Continue(t)
			w.recovers(app)
			w.ok("ax_click", params{"app": app, "query": "button Slow"}) // the earlier request is done by its end
			f.WaitState(t, "slow", 1)
			if n := presses(t, f); n > 1 || n == 1 && e.RetrySafe() {
				t.Errorf("pressed %v times, and the answer was %v, delivery %q", n, e, e.Delivery)
			}
			t.Logf("delivery %q, pressed %v times", e.Delivery, presses(t, f))
		})
	}
}

// TestRealKilledWhileHanging: a program that is killed while it hangs has ended, also for the
// waiting call.
func TestRealKilledWhileHanging(t *testing.T) {
	w := newRealWorld(t)
	f, app := w.open(linuxtest.GTK3)
	f.Suspend(t)
	ended := make(chan *aai.Error, 1)
	go func() {
		_, err := w.by(2*within, "ax_get_tree", params{"app": app})
		ended <- err
	}()
	time.Sleep(200 * time.Millisecond) // any moment will do; most are in the middle of the call
	f.Kill(t)
	err := <-ended
	assert.Assert(t, err != nil, "the call that was waiting: %v", err)
	assert.Assert(t, err.Code == aai.AppNotRunning || err.Code == aai.AppNotFound, "the call that was waiting: %v", err)
	_ = w.fails(within, aai.AppNotFound, "", "ax_get_tree", params{"app": app})
}

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
