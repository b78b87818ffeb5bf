package gui_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// deadline is the time limit of most tools.
const deadline = 10 * time.Second

// TestHang: a program that hangs costs one deadline, then nothing until it recovers, and other
// programs are not affected.
func TestHang(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		w.d.Program("Other").Window("Other").Button("Fine", nil)
		f.Hang()
		var e *aai.Error
		took := elapsed(func() { e = w.failure(aai.Timeout, "ax_get_tree", `{"app": "Form"}`) })
		assert.Check(w, is.Equal(took, deadline), "the first call took %s, want %s", took, deadline)
		w.has(e.Message, "Form")
		for _, call := range everyCall() {
			switch call.tool {
			case "ax_screenshot", "ax_find_visual", "ax_ask_model", "ax_visual_diff", "ax_clipboard", "ax_drag", "ax_list_apps":
				continue // they need no answer of the program, or fail by themselves; the list measures which programs work
			}
			took := elapsed(func() { _, _ = w.do(call.tool, call.args) })
			assert.Check(w, took <= 0, "%s %s took %s while the program is known to hang", call.tool, call.args, took)
		}
		e = w.failure(aai.Timeout, "ax_click", `{"app": "Form", "query": "Press"}`)
		assert.Check(w, is.Equal(e.Delivery, aai.NotDelivered), "%q", e.Hint)
		assert.Check(w, e.Hint != "", "delivery %q, hint %q", e.Delivery, e.Hint)
		took = elapsed(func() { w.ok("ax_find", `{"app": "Other", "query": "Fine"}`) })
		assert.Check(w, took <= 0, "another program took %s", took)
		w.ok("ax_list_apps", `{}`)
		w.ok("ax_screenshot", `{"app": "Form"}`) // the latest painted content is available

		f.Resume()
		time.Sleep(3 * time.Second) // it is probed every two seconds
		w.ok("ax_click", `{"app": "Form", "query": "Press"}`)
		assert.Check(w, is.Equal(f.State()["presses"], 1.0), "pressed %v times", f.State()["presses"])
	})
}

// TestHangWhileActing: the delivery is unknown, and reported as unknown.
func TestHangWhileActing(t *testing.T) {
	var hang func()
	before := func(b *desktop.Backend) { b.Actor = beforeActing{b.Actor, func() { hang() }} }
	inWorldWithout(t, before, func(w *world) {
		f := form(w)
		hang = f.Hang
		e := w.failure(aai.Timeout, "ax_click", `{"app": "Form", "query": "Press"}`)
		assert.Check(w, is.Equal(e.Delivery, aai.DeliveryUnknown))
		assert.Check(w, !e.RetrySafe(), "delivery %q", e.Delivery)
		f.Resume() // and the queued actions happen
		assert.Check(w, is.Equal(f.State()["presses"], 1.0), "pressed %v times", f.State()["presses"])
	})
}

// TestHangAtTheCallersDeadline: an earlier deadline of the caller applies, too.
func TestHangAtTheCallersDeadline(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w).Hang()
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		took := elapsed(func() {
			if _, err := w.doBy(ctx, "ax_get_tree", `{"app": "Form"}`); err == nil || err.Code != aai.Timeout {
				w.Errorf("got %v", err)
			}
		})
		assert.Check(w, is.Equal(took, time.Second))
	})
}

// TestHangEnds: a program that ends while it hangs is gone at once.
func TestHangEnds(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		f.Hang()
		time.AfterFunc(time.Second, f.Quit)
		took := elapsed(func() { w.fails(aai.AppNotRunning, "ax_get_tree", `{"app": "Form"}`) })
		assert.Check(w, is.Equal(took, time.Second))
	})
}

// TestHangForLong: after a while the next call probes by itself.
func TestHangForLong(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		f.Hang()
		w.fails(aai.Timeout, "ax_get_tree", `{"app": "Form"}`)
		time.Sleep(time.Minute)
		took := elapsed(func() { w.fails(aai.Timeout, "ax_get_tree", `{"app": "Form"}`) })
		assert.Check(w, took <= 0, "a minute later a call took %s", took)
		time.Sleep(2 * time.Minute)
		took = elapsed(func() { w.fails(aai.Timeout, "ax_get_tree", `{"app": "Form"}`) })
		assert.Check(w, is.Equal(took, deadline), "after the watch a call took %s", took)
	})
}

// TestConcurrencyModes: calls to one program run one after another, so that each sees its own
// effect; calls to others do not wait for them.
func TestConcurrencyModes(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		w.d.Program("Other").Window("Other").Button("Fine", nil)
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { w.ok("ax_click", `{"app": "Form", "query": "Slow"}`) })
		}
		time.Sleep(time.Millisecond)
		if took := elapsed(func() { w.ok("ax_find", `{"app": "Other", "query": "Fine"}`) }); took > 0 {
			w.Errorf("another program took %s", took)
		}
		took := elapsed(wg.Wait)
		if f.State()["slow"] != 5.0 || took < 700*time.Millisecond {
			w.Errorf("5 clicks of 150 ms took %s, and %v happened", took, f.State()["slow"])
		}
	})
}

// TestWaitersForAHangingProgram: queued calls do not wait a deadline each.
func TestWaitersForAHangingProgram(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w).Hang()
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { w.fails(aai.Timeout, "ax_get_tree", `{"app": "Form"}`) })
		}
		took := elapsed(wg.Wait)
		assert.Check(w, took <= deadline+time.Second, "all together took %s", took)
	})
}

func TestWaitIdle(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		took := elapsed(func() { w.want(w.ok("ax_wait_idle", `{"app": "Form"}`), true, "idle") })
		assert.Check(w, took == 100*time.Millisecond, "a quiet program was waited for %s", took)
		for i := range 10 {
			f.After(time.Duration(50*(i+1))*time.Millisecond, func() { f.Main.Text("more") })
		}
		took = elapsed(func() {
			a := w.ok("ax_wait_idle", `{"app": "Form"}`)
			w.want(a, true, "idle")
			w.want(a, 10, "events")
			w.want(a, 600, "waited_ms")
		})
		assert.Check(w, took == 600*time.Millisecond, "took %s", took)
	})
}

func TestWaitIdleForTheRestless(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		clock := f.Main.Text("0")
		for i := range 100 {
			f.After(time.Duration(50*i)*time.Millisecond, func() { clock.Rename(time.Duration(i).String()) })
		}
		took := elapsed(func() {
			a := w.ok("ax_wait_idle", `{"app": "Form", "timeout_ms": 2000}`)
			w.want(a, false, "idle")
			w.has(a.Text, "still changing")
		})
		assert.Check(w, took == 2*time.Second, "took %s", took)
	})
}

// TestWaitIdleForABusyBar: a program that shows a progress bar of unknown length is at work, although it sends no
// events; it is idle when the bar is gone.
func TestWaitIdleForABusyBar(t *testing.T) {
	inWorld(t, func(w *world) {
		bar := form(w).Main.Add(desktop.Element{Role: desktop.Progressbar, Name: "Loading", Value: "-1"})
		a := w.ok("ax_wait_idle", `{"app": "Form", "timeout_ms": 2000}`)
		w.want(a, false, "idle")
		w.has(a.Text, "still changing", `progressbar "Loading"`)
		bar.Hide()
		w.want(w.ok("ax_wait_idle", `{"app": "Form", "timeout_ms": 2000}`), true, "idle")
	})
}

// TestWaitIdleForTheHanging: a program that hangs is quiet, but not idle.
func TestWaitIdleForTheHanging(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w).Hang()
		took := elapsed(func() { w.fails(aai.Timeout, "ax_wait_idle", `{"app": "Form"}`) })
		assert.Check(w, took <= 2*deadline, "took %s", took)
		took = elapsed(func() { w.fails(aai.Timeout, "ax_get_tree", `{"app": "Form"}`) })
		assert.Check(w, took <= 0, "the next call took %s", took)
	})
}
