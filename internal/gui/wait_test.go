package gui_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// looked counts the reads of programs.
type looked struct {
	desktop.Tree
	times *atomic.Int32
}

func (l looked) Snapshot(ctx context.Context, app desktop.App) (*desktop.Snapshot, error) {
	l.times.Add(1)
	return l.Tree.Snapshot(ctx, app)
}

// waits makes a call that waits, and returns how long it took.
func (w *world) waits(args string) (a answer, took time.Duration) {
	w.Helper()
	took = elapsed(func() { a = w.ok("ax_wait", `{"app": "Mail", `+args+`}`) })
	said := time.Duration(a.data["waited_ms"].(float64)) * time.Millisecond
	assert.Check(w, is.Equal(said, took), "%s took %s, and said %s", args, took, said)
	return a, took
}

// TestWait: the reply comes as soon as the condition holds, by events; a program that sends them at
// once is hardly read until then.
func TestWait(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		var looks atomic.Int32
		inWorldWithout(t, func(b *desktop.Backend) {
			b.Tree = looked{b.Tree, &looks}
			if deaf {
				b.Events = nil
			}
		}, func(w *world) {
			mail := w.d.Program("Mail")
			main := mail.Window("Mail")
			status, name, agree := main.Text("Sending"), main.Textbox("Name"), main.Checkbox("Agree")
			send, more := main.Button("Send", nil).RemoveState(desktop.Enabled), main.Button("More", nil).AddState(desktop.Expandable)
			volume, twin := main.Slider("Volume", 0, 100, 30), main.Button("Twin", nil)
			main.Button("Twin", nil)
			for _, c := range []struct {
				args, text string
				then       func()
			}{
				{`"query": "Sent"`, `"Sent" [e`, func() { status.Rename("Sent") }},
				{`"query": "Sent", "until": "vanishes"`, "Gone after", func() { status.Hide() }},
				{`"query": "Sent", "until": "appears"`, `"Sent" [e`, func() { status.Show() }},
				{`"query": "Name", "until": "value", "value": "Ann"`, `"Name" [e`, func() { name.SetText("Ann") }},
				{`"query": "Volume", "value": "40.0"`, `"Volume" [e`, func() { volume.SetNumber(40) }},
				{`"query": "Agree", "value": "true"`, `"Agree" [e`, func() { agree.Check(true) }},
				{`"query": "Agree", "until": "state", "state": "unchecked"`, `"Agree" [e`, func() { agree.Check(false) }},
				{`"query": "Agree", "state": "checked"`, `"Agree" [e`, func() { agree.Check(true) }},
				{`"query": "Send", "state": "enabled"`, `"Send" [e`, func() { send.AddState(desktop.Enabled) }},
				{`"query": "Send", "state": "disabled"`, `"Send" [e`, func() { send.RemoveState(desktop.Enabled) }},
				{`"query": "More", "state": "expanded"`, `"More" [e`, func() { more.AddState(desktop.Expanded) }},
				{`"query": "More", "state": "collapsed"`, `"More" [e`, func() { more.RemoveState(desktop.Expanded) }},
				{`"query": "Name", "state": "focused"`, `"Name" [e`, func() { name.Focus() }},
				{`"query": "Twin", "nth": 2, "until": "vanishes"`, "Gone after", func() { twin.Remove() }},
				{`"query": "window Mail", "until": "vanishes"`, "Gone after", mail.Quit},
			} {
				const late = 3300 * time.Millisecond
				before := looks.Load()
				mail.After(late, c.then)
				a, took := w.waits(c.args)
				w.has(a.Text, c.text)
				assert.Check(w, deaf || took >= late && took <= late+100*time.Millisecond, "%s (deaf %v) took %s", c.args, deaf, took)
				assert.Check(w, !deaf || took >= late && took <= late+time.Second, "%s (deaf %v) took %s", c.args, deaf, took)
				n := looks.Load() - before
				assert.Check(w, n <= 8, "%s (deaf %v) looked %d times", c.args, deaf, n)
			}
		})
	}
}

// TestWaitForWhatIsSo: a condition that holds is reported at once, for any of several matches.
func TestWaitForWhatIsSo(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w)
		ref := w.ref("Form", "Pressed 0 times")
		for _, args := range []string{
			`"query": "Twin"`, `"query": "Nobody", "until": "vanishes"`, `"query": "Disabled", "state": "disabled"`,
			`"query": "Quit-not", "until": "vanishes"`, fmt.Sprintf(`"query": %q, "value": "Pressed 0 times"`, ref),
		} {
			took := elapsed(func() { w.ok("ax_wait", `{"app": "Form", `+args+`}`) })
			assert.Check(w, took <= 0, "%s took %s", args, took)
		}
		a := w.ok("ax_wait", `{"app": "Form", "query": "Press"}`)
		w.want(a, "Press", "title")
		w.want(a, "button", "role")
		w.want(a, w.ref("Form", "Press"), "element_ref")
	})
}

// TestWaitTimesOut: the error contains the actual state, and the program does not count as
// unresponsive.
func TestWaitTimesOut(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		f.Main.Textbox("Name").SetText("Ann")
		for args, want := range map[string]string{
			`"query": "Pres5"`:                                                 "waited 1s: nothing in Form",
			`"query": "Pre"`:                                                   "waited 1s: nothing in Form is called \"Pre\"", // a similar name is no match
			`"query": "Quit-not"`:                                              "is there, but not showing",
			`"query": "Press", "until": "vanishes"`:                            `waited 1s: button "Press" [e`,
			`"query": "Name", "until": "value", "value": "Bea"`:                `textbox "Name" [e`,
			`"query": "Agree", "until": "state", "state": "checked"`:           "is not checked",
			`"query": "Nobody", "until": "state", "state": "checked"`:          "nothing in Form",
			`"query": "Press", "nth": 2, "until": "state", "state": "enabled"`: "nth: 2 is more than the 1 that match",
		} {
			var e *aai.Error
			assert.Check(w, is.Equal(elapsed(func() { e = w.failure(aai.Timeout, "ax_wait", `{"app": "Form", "timeout_ms": 1000, `+args+`}`) }), time.Second), args)
			w.has(e.Message, want, "waited 1s: ")
			assert.Check(w, e.Hint != "", "%s: hint %q, delivery %q", args, e.Hint, e.Delivery)
			assert.Check(w, e.Delivery == "", "%s: hint %q, delivery %q", args, e.Hint, e.Delivery)
			w.ok("ax_find", `{"app": "Form", "query": "Press"}`)
		}
		e := w.failure(aai.Timeout, "ax_wait", `{"app": "Form", "query": "Pres5"}`)
		w.has(fmt.Sprint(e.Candidates), `button "Press"`)
		w.has(e.Message, "waited 10s")
		w.has(w.failure(aai.Timeout, "ax_wait", `{"app": "Form", "query": "Name", "value": "Bea"}`).Message, `has the value "Ann"`)
	})
}

// TestWaitForNonsense: an impossible condition is an error at once.
func TestWaitForNonsense(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w)
		for args, code := range map[string]aai.Code{
			`"query": "Press", "until": "value"`:                 aai.InvalidParams,
			`"query": "Press", "until": "state"`:                 aai.InvalidParams,
			`"query": "Press", "until": "appears", "value": "x"`: aai.InvalidParams,
			`"query": "Press", "value": "x", "state": "checked"`: aai.InvalidParams,
			`"query": "Press", "state": "happy"`:                 aai.InvalidParams,
			`"query": "Password", "value": "x"`:                  aai.InvalidParams,
			`"query": "Twin", "value": "x"`:                      aai.AmbiguousTarget,
			`"query": "//button["`:                               aai.InvalidParams,
		} {
			took := elapsed(func() { w.fails(code, "ax_wait", `{"app": "Form", `+args+`}`) })
			assert.Check(w, took <= 0, "%s took %s", args, took)
		}
	})
}

// TestWaitBesideOthers: other calls may act on the program meanwhile, also in the same
// conversation, and progress is reported. A program that does not rest is read at a limited rate.
func TestWaitBesideOthers(t *testing.T) {
	var looks atomic.Int32
	inWorldWithout(t, func(b *desktop.Backend) { b.Tree = looked{b.Tree, &looks} }, func(w *world) {
		f := form(w)
		clock := f.Main.Text("0")
		for i := range 300 {
			f.After(time.Duration(10*i)*time.Millisecond, func() { clock.Rename(fmt.Sprint(i)) })
		}
		var heard []string
		ctx := gateway.WithProgress(w.Context(), func(done, total float64, message string) {
			heard = append(heard, fmt.Sprintf("%v/%v %s", done, total, message))
		})
		var all sync.WaitGroup
		all.Go(func() {
			_, err := w.doBy(ctx, "ax_wait", `{"app": "Form", "query": "Pressed 1 times"}`)
			assert.Check(w, err == nil, err)
		})
		time.Sleep(2 * time.Second)
		n := looks.Load()
		assert.Check(w, n <= 21, "it was looked at %d times in two seconds", n)
		w.ok("ax_click", `{"app": "Form", "query": "Press"}`)
		took := elapsed(all.Wait)
		assert.Check(w, took <= 200*time.Millisecond, "it was told %s after it was so", took)
		assert.Check(w, len(heard) == 3 || len(heard) == 4, "heard %q", heard)
	})
}

// TestWaitForTheHanging: a program that hangs ends the call by its deadline, marked as hanging.
func TestWaitForTheHanging(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w).Hang()
		took := elapsed(func() { w.fails(aai.Timeout, "ax_wait", `{"app": "Form", "query": "Press", "timeout_ms": 5000}`) })
		assert.Check(w, took <= 5*time.Second+deadline, "took %s", took)
		took = elapsed(func() { w.fails(aai.Timeout, "ax_get_tree", `{"app": "Form"}`) })
		assert.Check(w, took <= 0, "the next call took %s", took)
	})
}

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
