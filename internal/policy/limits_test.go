package policy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

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
			if got := d.call(t, "a"); got != w {
				t.Errorf("call %d: %s, expected %s", i, got, w)
			}
		}
	}
	expect("ok", "ok", "ok", "RATE_LIMITED")
	d.clock.advance(time.Second)
	expect("ok", "ok", "RATE_LIMITED") // the minute's five; a second refills less than one
	if got := d.call(t, "b"); got != "ok" {
		t.Errorf("another caller: %s", got)
	}
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
			if got := d.call(t, "a"); got != "ok" {
				t.Fatal(got)
			}
		}
		_, err := d.Check(t.Context(), by("a", asking(notesApp("d1"), "list")))
		e, ok := errors.AsType[*aai.Error](err)
		if !ok || e.Code != aai.RateLimited || e.RetryAfter <= 0 || e.Hint == "" || !e.RetrySafe() {
			t.Fatalf("%+v", err)
		}
		d.clock.advance(e.RetryAfter - 2*time.Millisecond)
		if got := d.call(t, "a"); got != "RATE_LIMITED" {
			t.Errorf("too early: %s", got)
		}
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
		if got := check(d, r); (got == "admits") != (i < 3) {
			t.Errorf("call %d: %s", i, got)
		}
		r = asking(notesApp("d1"), "list")
		r.Call.Caller.Name, r.Call.Caller.Session, r.Call.Caller.Identity = fmt.Sprint("name", i), "one process", ""
		if got := check(d, r); (got == "admits") != (i < 3) {
			t.Errorf("call %d of a process: %s", i, got)
		}
	}
}

func TestKinds(t *testing.T) {
	screen := screen()
	screen.Tools = append(screen.Tools, &aai.Tool{Name: "ax_run_script", Assess: aai.Always(aai.Assessment{Kind: aai.KindScript})}, &aai.Tool{Name: "ax_find_visual", Assess: aai.Always(aai.Assessment{Kind: aai.KindVision}), Effect: aai.Reads})
	for tool, want := range map[string]Kind{"click": KindDesktop, "look": KindDesktop, "ax_run_script": KindScript, "ax_find_visual": KindVision} {
		if got := kindOf(screen, screen.Tool(tool)); got != want {
			t.Errorf("%s is %s", tool, got)
		}
	}
	// An app cannot change the kind of its tools by their names.
	if got := kindOf(&aai.App{ID: notes}, &aai.Tool{Name: "ax_run_script"}); got != KindDeclared {
		t.Error(got)
	}
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
	if got := check(NewLimits(nil), asking(notesApp("d1"), "list")); got != "RATE_LIMITED" {
		t.Error(got)
	}
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
				if _, err := g.Do(t.Context(), call(notes, "list")); code(err) != "RATE_LIMITED" {
					t.Errorf("round %d: one call too many came to %s", round, code(err))
				}
				for range slots {
					goOn <- true
				}
				wg.Wait()
				if d.active[KindDeclared] != 0 || d.busy[KindDeclared] != 0 {
					t.Errorf("%d slots and %d callers are left", d.active[KindDeclared], d.busy[KindDeclared])
				}
				for _, m := range d.byCaller {
					if len(m.at) != 0 {
						t.Errorf("slots are left of %v", m.at)
					}
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
		if got := check(d, by("a", asking(notesApp("d1"), "list"))); (got == "admits") != (i < 4) {
			t.Errorf("call %d to the one: %s", i, got)
		}
	}
	for i := range 5 {
		if got := check(d, by("a", asking(other, "list"))); (got == "admits") != (i < 4) {
			t.Errorf("call %d to the other: %s", i, got)
		}
	}
	third := &aai.App{ID: "org.example.Third", Digest: "d", Tools: []*aai.Tool{{Name: "list"}}}
	if got := check(d, by("a", asking(third, "list"))); got == "admits" {
		t.Error("a third target has slots beyond those of the caller")
	}
	if got := check(d, by("a", operating(program("editor", "e"), "look"))); got != "admits" {
		t.Errorf("a single slot is half enough: %s", got)
	}
}

// TestIntake checks that a connection's input is counted whatever its name and its number
// of sessions, without affecting others, and is admitted again in time.
func TestIntake(t *testing.T) {
	d := newLimitDesk(map[Kind]Limit{KindDeclared: {PerSecond: 10, PerMinute: 1000, Concurrent: 8}})
	send := func(principal, name string, bytes int) string {
		return code(d.CountReceived(aai.Caller{Door: aai.DoorMCP, Identity: principal, Name: name, Session: name}, bytes))
	}
	for i := range 41 {
		if got := send("a", fmt.Sprint(i), 10); (got == "ok") != (i < 40) {
			t.Errorf("call %d: %s", i, got)
		}
	}
	if got := send("b", "b", connectionBurst); got != "ok" {
		t.Errorf("another: %s", got)
	}
	if got := send("b", "b", 1<<20); got != "RATE_LIMITED" {
		t.Errorf("its next MiB: %s", got)
	}
	d.clock.advance(time.Second)
	for _, who := range []string{"a", "b"} {
		if got := send(who, who, 1<<20); got != "ok" {
			t.Errorf("%s a second later: %s", who, got)
		}
	}
	for i := range 3 * maxCallers {
		send(fmt.Sprint("crowd", i), "", 0)
		d.clock.advance(time.Second)
	}
	if len(d.byConnection) > maxCallers {
		t.Errorf("%d connections are remembered", len(d.byConnection))
	}
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
			if got := open(fmt.Sprint("greedy", i)); got != "admits" {
				t.Fatal(got)
			}
		}
		if got := open(fmt.Sprint("greedy", i)); got != "RATE_LIMITED" {
			t.Errorf("a fifth call: %s", got)
		}
	}
	for i := range 50 {
		if got := open(fmt.Sprint("modest", i)); got != "admits" {
			t.Errorf("the first call of one more caller: %s", got)
		}
	}
	if got := open("modest7"); got != "RATE_LIMITED" {
		t.Errorf("its second, when all is taken: %s", got)
	}
}

// TestCallersAreForgotten checks that memory is bounded for ever new callers.
func TestCallersAreForgotten(t *testing.T) {
	d := newLimitDesk(DefaultLimits())
	for i := range 5 * maxCallers {
		if got := d.call(t, fmt.Sprint(i)); got != "ok" {
			t.Fatal(got)
		}
		d.clock.advance(time.Second)
	}
	if len(d.byCaller) > maxCallers {
		t.Errorf("%d callers are remembered", len(d.byCaller))
	}
}
