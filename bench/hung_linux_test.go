package bench

import (
	"fmt"
	"strconv"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// manyHung exceeds an agent's limit of concurrent calls.
const manyHung = 70

// hungService measures the other calls of a caller with calls to a stopped service: they are
// answered as usual, with the program's limits.
func (w *world) hungService(b *testing.B) {
	const frozen = "org.example.Frozen"
	w.serve(b, frozen)
	h := newHome(b, 0)
	for _, app := range []string{fastApp, frozen} {
		h.install(b, app, callDescriptor(app))
	}
	h.configure(b, usualSlots, fastApp, frozen)
	gateway := open(b, h.env(w.bus.Address), w.gateway, 2+fixedTools)
	calls := mixedCalls{session: gateway, hung: serviceCall(frozen, "read", `{"v":"hello"}`), other: readCall}
	gateway.ask(b, "tools/call", calls.hung) // it works until it is stopped
	var pid int
	assert.NilError(b, w.bus.Connect(b).BusObject().Call(processOf, 0, frozen).Store(&pid))
	assert.NilError(b, syscall.Kill(pid, syscall.SIGSTOP))
	b.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	calls.compare(b, &w.table, "a hung service")
}

// hungWindow is hungService for a window with a stopped program.
func (w *desktopBench) hungWindow(b *testing.B) {
	s := &scene{Session: linuxtest.StartAccessible(b)}
	s.gateway = w.openWithin(b, s.Session, usualSlots, "gtk3")
	stopped, other := s.Fixture(b, linuxtest.GTK3), s.Fixture(b, linuxtest.GTK3)
	find := func(f *linuxtest.Fixture) string {
		s.await(b, f.PID, "button Press")
		return toolCall(b, "ax_find", map[string]any{"app": strconv.Itoa(f.PID), "query": "button Press"})
	}
	calls := mixedCalls{session: s.gateway, hung: find(stopped), other: find(other)}
	stopped.Suspend(b)
	b.Cleanup(func() { stopped.Continue(b) })
	calls.compare(b, &w.table, "a frozen window")
}

// mixedCalls are the calls of one agent: many to a stopped program, and others.
type mixedCalls struct {
	*session
	hung, other string
	ids         map[int]bool // of the hanging ones
}

// compare makes the other calls alone, and then beside the hanging ones. A refused call, or one
// without response within a minute, ends the benchmark.
func (c *mixedCalls) compare(b *testing.B, t *table, what string) {
	b.Helper()
	const calls = 50
	var alone, disturbed samples
	for range calls {
		alone.add(c.timedOther(b))
	}
	c.ids = make(map[int]bool)
	for range manyHung {
		c.ids[c.send(b, "tools/call", c.hung)] = true
	}
	for range calls {
		disturbed.add(c.timedOther(b))
		time.Sleep(20 * time.Millisecond) // all hanging calls are active meanwhile
	}
	figure := fmt.Sprintf("other calls of an agent with %d to %s", manyHung, what)
	for _, q := range []float64{0.5, 0.95} {
		t.add(fmt.Sprintf("%s, p%.0f", figure, 100*q), millis(disturbed.quantile(q)), "none of those "+millis(alone.quantile(q)),
			times(ratio(disturbed.quantile(q), alone.quantile(q))))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ratio(disturbed.median(), alone.median()), "×alone")
}

// timedOther returns the time of another call. The hanging calls may fail, but cannot succeed.
func (c *mixedCalls) timedOther(b *testing.B) time.Duration {
	b.Helper()
	begun := time.Now()
	id := c.send(b, "tools/call", c.other)
	late := time.AfterFunc(time.Minute, func() { _ = c.process.Process.Kill() })
	defer late.Stop()
	for {
		a, err := c.next()
		switch {
		case a.ID == id && err == nil:
			return time.Since(begun)
		case a.ID == id:
			b.Fatal("a call that has nothing to do with what hangs was refused: ", err)
		case !c.ids[a.ID]:
			b.Fatal("not answered within a minute, beside what hangs: ", err)
		case err == nil:
			b.Fatalf("what hangs has answered: %s", a.line)
		}
	}
}
