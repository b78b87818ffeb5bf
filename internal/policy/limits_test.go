package policy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// by returns the request with the caller.
func by(caller string, r *aai.Request) *aai.Request {
	r.Call.Caller.Name, r.Call.Caller.Session, r.Call.Caller.Identity = caller, caller, "/usr/bin/"+caller
	return r
}

// limitDesk is the gate with a fake clock, and its calls' slots.
type limitDesk struct {
	*Limits
	clock *clock
}

func newLimitDesk(limits map[Kind]Limit) *limitDesk {
	d := &limitDesk{NewLimits(limits), newClock()}
	d.now = d.clock.now
	return d
}

// call makes one call that ends at once, through a real gateway, and returns its result.
func (d *limitDesk) call(t *testing.T, caller string) string {
	t.Helper()
	_, err := d.gateway(nil).Do(t.Context(), by(caller, asking(notesApp("d1"), "list")).Call)
	return code(err)
}

// gateway returns a gateway with this gate alone and a tool with this Action.
func (d *limitDesk) gateway(run aai.Action) *gateway.Gateway {
	w := &world{records: &records{}, ran: map[string]int{}, apps: map[string]*aai.App{}}
	app := notesApp("d1")
	for _, tool := range app.Tools {
		tool.Params.Check = func(v any) (any, error) { return v, nil }
		tool.Run = func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{}, nil }
		if run != nil {
			tool.Run = run
		}
	}
	w.apps[app.ID] = app
	return &gateway.Gateway{Catalog: shelf{w.apps}, Journal: w.records, Gates: []aai.Gate{d}}
}

func TestRates(t *testing.T) {
	d := newLimitDesk(map[Kind]Limit{KindDeclared: {PerSecond: 3, PerMinute: 5, Concurrent: 9}})
	expect := func(want ...string) {
		t.Helper()
		for i, w := range want {
			assert.Check(t, is.Equal(d.call(t, "a"), w), "%d", i)
		}
	}
	expect("ok", "ok", "ok", "RATE_LIMITED")
	d.clock.advance(time.Second)
	expect("ok", "ok", "RATE_LIMITED") // the minute's five; a second refills less than one
	got := d.call(t, "b")
	assert.Check(t, is.Equal(got, "ok"), "another caller: %s", got)
	d.clock.advance(12 * time.Second)
	expect("ok", "RATE_LIMITED")
	d.clock.advance(time.Hour)
	expect("ok", "ok", "ok", "RATE_LIMITED")
}

// TestRetryAfter checks that the same call succeeds after RetryAfter, and not a little
// earlier.
func TestRetryAfter(t *testing.T) {
	for _, limit := range []Limit{{PerSecond: 4, PerMinute: 1000, Concurrent: 1}, {PerSecond: 50, PerMinute: 6, Concurrent: 1}} {
		d := newLimitDesk(map[Kind]Limit{KindDeclared: limit})
		for range min(limit.PerSecond, limit.PerMinute) {
			assert.Equal(t, d.call(t, "a"), "ok")
		}
		_, err := d.Check(t.Context(), by("a", asking(notesApp("d1"), "list")))
		e, ok := errors.AsType[*aai.Error](err)
		assert.Assert(t, ok, "%+v", err)
		assert.Equal(t, e.Code, aai.RateLimited, "%+v", err)
		assert.Assert(t, e.RetryAfter > 0, "%+v", err)
		assert.Assert(t, e.Hint != "", "%+v", err)
		assert.Assert(t, e.RetrySafe(), "%+v", err)
		d.clock.advance(e.RetryAfter - 2*time.Millisecond)
		got := d.call(t, "a")
		assert.Check(t, is.Equal(got, "RATE_LIMITED"), "too early: %s", got)
		d.clock.advance(3 * time.Millisecond)
		if got := d.call(t, "a"); got != "ok" {
			t.Errorf("after %s: %s", e.RetryAfter, got)
		}
	}
}

// TestNewNamesHaveNoNewLimits checks that a new name or session has no new limits.
func TestNewNamesHaveNoNewLimits(t *testing.T) {
	d := newLimitDesk(map[Kind]Limit{KindDeclared: {PerSecond: 3, PerMinute: 9, Concurrent: 9}})
	for i := range 5 {
		r := asking(notesApp("d1"), "list")
		r.Call.Caller.Name, r.Call.Caller.Session, r.Call.Caller.Identity = fmt.Sprint("name", i), fmt.Sprint("session", i), "http:token"
		got := check(d, r)
		assert.Check(t, is.Equal((got == "admits"), (i < 3)), "%d %s", i, got)
		r = asking(notesApp("d1"), "list")
		r.Call.Caller.Name, r.Call.Caller.Session, r.Call.Caller.Identity = fmt.Sprint("name", i), "one process", ""
		got = check(d, r)
		assert.Check(t, is.Equal((got == "admits"), (i < 3)), "call %d of a process: %s", i, got)
	}
}

func TestKinds(t *testing.T) {
	screen := screen()
	screen.Tools = append(screen.Tools, &aai.Tool{Name: "ax_run_script", Assess: aai.Always(aai.Assessment{Kind: aai.KindScript})}, &aai.Tool{Name: "ax_find_visual", Assess: aai.Always(aai.Assessment{Kind: aai.KindVision}), Effect: aai.Reads})
	for tool, want := range map[string]Kind{"click": KindDesktop, "look": KindDesktop, "ax_run_script": KindScript, "ax_find_visual": KindVision} {
		assert.Check(t, is.Equal(kindOf(screen, screen.Tool(tool)), want), tool)
	}
	// An app cannot change the kind of its tools by their names.
	assert.Check(t, is.Equal(kindOf(&aai.App{ID: notes}, &aai.Tool{Name: "ax_run_script"}), KindDeclared))
	// Kinds have separate limits.
	d := newLimitDesk(map[Kind]Limit{KindDeclared: {PerSecond: 1, PerMinute: 9, Concurrent: 9}, KindDesktop: {PerSecond: 1, PerMinute: 9, Concurrent: 9}})
	for _, want := range []string{"admits", "RATE_LIMITED"} {
		for _, r := range []*aai.Request{asking(notesApp("d1"), "list"), operating(program("editor", "e"), "look")} {
			if got := check(d, r); got != want {
				t.Errorf("%s: %s", r.App.ID, got)
			}
		}
	}
	// A kind without a limit is not admitted.
	assert.Check(t, is.Equal(check(NewLimits(nil), asking(notesApp("d1"), "list")), "RATE_LIMITED"))
}

// TestSlots checks that slots are released at the end of each call, and not before.
func TestSlots(t *testing.T) {
	const slots, all = 5, 10 // of a target, and of a caller
	for name, run := range map[string]aai.Action{
		"ends":   func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{}, nil },
		"fails":  func(context.Context, *aai.Call) (*aai.Result, error) { return nil, errors.New("x") },
		"panics": func(context.Context, *aai.Call) (*aai.Result, error) { panic("x") },
	} {
		t.Run(name, func(t *testing.T) {
			d := newLimitDesk(map[Kind]Limit{KindDeclared: {PerSecond: 1000, PerMinute: 1000, Concurrent: all}})
			begun, goOn := make(chan bool), make(chan bool)
			g := d.gateway(func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
				begun <- true
				<-goOn
				return run(ctx, call)
			})
			var wg sync.WaitGroup
			for round := range 3 {
				for range slots {
					wg.Go(func() { _, _ = g.Do(t.Context(), call(notes, "list")) })
					<-begun
				}
				_, err := g.Do(t.Context(), call(notes, "list"))
				assert.Check(t, is.Equal(code(err), "RATE_LIMITED"), "round %d: one call too many came to %s", round, code(err))
				for range slots {
					goOn <- true
				}
				wg.Wait()
				assert.Check(t, is.Equal(d.active[KindDeclared], 0))
				assert.Check(t, is.Equal(d.busy[KindDeclared], 0))
				for _, m := range d.byCaller {
					assert.Check(t, is.Len(m.at, 0), "slots are left of %v", m.at)
				}
			}
		})
	}
}

// TestSlotsOfATarget checks that calls to a target that hangs leave slots for the caller's others.
func TestSlotsOfATarget(t *testing.T) {
	d := newLimitDesk(map[Kind]Limit{KindDeclared: {PerSecond: 1000, PerMinute: 1000, Concurrent: 8}, KindDesktop: {PerSecond: 1000, PerMinute: 1000, Concurrent: 1}})
	other := &aai.App{ID: "org.example.Other", Digest: "d", Tools: []*aai.Tool{{Name: "list"}}}
	for i := range 5 {
		got := check(d, by("a", asking(notesApp("d1"), "list")))
		assert.Check(t, is.Equal((got == "admits"), (i < 4)), "call %d to the one: %s", i, got)
	}
	for i := range 5 {
		got := check(d, by("a", asking(other, "list")))
		assert.Check(t, is.Equal((got == "admits"), (i < 4)), "call %d to the other: %s", i, got)
	}
	third := &aai.App{ID: "org.example.Third", Digest: "d", Tools: []*aai.Tool{{Name: "list"}}}
	assert.Check(t, check(d, by("a", asking(third, "list"))) != "admits", "a third target has slots beyond those of the caller")
	got := check(d, by("a", operating(program("editor", "e"), "look")))
	assert.Check(t, is.Equal(got, "admits"), "a single slot is half enough: %s", got)
}

// TestIntake checks that a connection's input is counted whatever its name and its number
// of sessions, without affecting others, and is admitted again in time.
func TestIntake(t *testing.T) {
	d := newLimitDesk(map[Kind]Limit{KindDeclared: {PerSecond: 10, PerMinute: 1000, Concurrent: 8}})
	send := func(principal, name string, bytes int) string {
		return code(d.CountReceived(aai.Caller{Door: aai.DoorMCP, Identity: principal, Name: name, Session: name}, bytes))
	}
	for i := range 41 {
		got := send("a", fmt.Sprint(i), 10)
		assert.Check(t, is.Equal((got == "ok"), (i < 40)), "%d %s", i, got)
	}
	assert.Check(t, is.Equal(send("b", "b", connectionBurst), "ok"))
	got := send("b", "b", 1<<20)
	assert.Check(t, is.Equal(got, "RATE_LIMITED"), "its next MiB: %s", got)
	d.clock.advance(time.Second)
	for _, who := range []string{"a", "b"} {
		got := send(who, who, 1<<20)
		assert.Check(t, is.Equal(got, "ok"), "%s a second later: %s", who, got)
	}
	for i := range 3 * maxCallers {
		send(fmt.Sprint("crowd", i), "", 0)
		d.clock.advance(time.Second)
	}
	assert.Check(t, len(d.byConnection) <= maxCallers, "%d connections are remembered", len(d.byConnection))
}

// TestSlotsAreFair checks that a caller with all slots leaves some to others.
func TestSlotsAreFair(t *testing.T) {
	d := newLimitDesk(map[Kind]Limit{KindDeclared: {PerSecond: 1000, PerMinute: 1000, Concurrent: 4}})
	n := 0
	open := func(caller string) string { // alternately from two apps
		n++
		r := by(caller, asking(notesApp("d1"), "list"))
		r.Call.Target = &aai.App{ID: fmt.Sprint("app", n%2)}
		return check(d, r)
	}
	for i := range totalSlotFactor {
		for range 4 {
			assert.Equal(t, open(fmt.Sprint("greedy", i)), "admits")
		}
		got := open(fmt.Sprint("greedy", i))
		assert.Check(t, is.Equal(got, "RATE_LIMITED"), "a fifth call: %s", got)
	}
	for i := range 50 {
		got := open(fmt.Sprint("modest", i))
		assert.Check(t, is.Equal(got, "admits"), "the first call of one more caller: %s", got)
	}
	got := open("modest7")
	assert.Check(t, is.Equal(got, "RATE_LIMITED"), "its second, when all is taken: %s", got)
}

// TestCallersAreForgotten checks that memory is bounded for ever new callers.
func TestCallersAreForgotten(t *testing.T) {
	d := newLimitDesk(DefaultLimits())
	for i := range 5 * maxCallers {
		assert.Equal(t, d.call(t, fmt.Sprint(i)), "ok")
		d.clock.advance(time.Second)
	}
	assert.Check(t, len(d.byCaller) <= maxCallers, "%d callers are remembered", len(d.byCaller))
}
