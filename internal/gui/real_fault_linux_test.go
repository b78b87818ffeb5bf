package gui_test

import (
	"context"
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
	t.Parallel() // it mostly waits
	w := newRealWorld(t)
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
	t.Parallel() // it mostly waits
	w := newRealWorld(t)
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
