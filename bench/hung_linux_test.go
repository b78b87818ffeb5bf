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

// Real services, each in its own process: some never answer, some answer late, and the others must
// not be affected.
const (
	hungServices = 5
	lateServices = 5
	fastServices = 40
)

// The calls of a service. A hung one sleeps for longer than the benchmark, and the gateway waits
// for it; a late one answers after two seconds.
const (
	hungForMs = 280_000
	lateForMs = 2_000
)

func serviceName(kind string, i int) string { return fmt.Sprintf("org.example.%s%d", kind, i) }

func serviceCall(app, tool, args string) string {
	return fmt.Sprintf(`{"name":"aai_exec","arguments":{"app":%q,"tool":%q,"args":%s}}`, app, tool, args)
}

func sleepFor(app string, ms int) string {
	return serviceCall(app, "sleep", fmt.Sprintf(`{"ms":%d}`, ms))
}

// isolation measures calls of forty fast services, one of each at a time, through an otherwise
// idle gateway and through one with ten hung or late services, alternately.
func (w *world) isolation(b *testing.B) {
	const calls = 16 * fastServices
	rounds := roundLimit(b, 40)
	var apps, fast []string
	for i := range fastServices {
		apps = append(apps, serviceName("Quick", i))
		fast = append(fast, serviceCall(apps[i], "read", `{"v":"hello"}`))
	}
	for i := range hungServices {
		apps = append(apps, serviceName("Hung", i))
	}
	for i := range lateServices {
		apps = append(apps, serviceName("Late", i))
	}
	for _, app := range apps {
		w.serve(b, app)
	}
	quiet := &serviceClient{session: w.openWith(b, apps...), fast: fast}
	busy := &serviceClient{session: w.openWith(b, apps...), fast: fast, late: map[int]string{}}
	busy.disturb(b)
	var undisturbed, disturbed samples
	for range rounds {
		quiet.walk(b, calls, &undisturbed)
		busy.walk(b, calls, &disturbed)
	}
	for busy.answers == 0 { // without one there was no disturbance
		busy.walk(b, calls, &disturbed)
	}
	beside := func(q float64) (ours, theirs time.Duration) { return disturbed.quantile(q), undisturbed.quantile(q) }
	figure := fmt.Sprintf("%d fast services beside %d hung and %d at 2 s", fastServices, hungServices, lateServices)
	p50, floor := beside(0.5)
	w.table.add(figure+", p50", millis(p50), "none of those "+millis(floor), times(ratio(p50, floor)))
	p99, floor := beside(0.99)
	r := ratio(p99, floor)
	w.table.judge(figure+", p99", millis(p99), "none of those "+millis(floor), times(r), "≤ 1.5×", r <= 1.5)
	b.ReportMetric(float64(p99)/1e3, "µs/p99")
	b.ReportMetric(r, "×alone")
}

// serviceClient is a client of a gateway with all the services.
type serviceClient struct {
	*session
	fast    []string
	late    map[int]string // calls of late services in flight, by id
	answers int            // of late services
}

// disturb calls each hung service, and each late one for the first time.
func (s *serviceClient) disturb(b *testing.B) {
	b.Helper()
	for i := range hungServices {
		s.send(b, "tools/call", sleepFor(serviceName("Hung", i), hungForMs))
	}
	for i := range lateServices {
		call := sleepFor(serviceName("Late", i), lateForMs)
		s.late[s.send(b, "tools/call", call)] = call
	}
}

// walk makes n calls of the fast services, one of each always in flight, and adds their times. A
// late service that has answered is called again.
func (s *serviceClient) walk(b *testing.B, n int, took *samples) {
	b.Helper()
	type call struct {
		begun   time.Time
		service int
	}
	sent := make(map[int]call, len(s.fast))
	begin := func(service int) {
		now := time.Now()
		sent[s.send(b, "tools/call", s.fast[service])] = call{now, service}
	}
	for service := range s.fast {
		begin(service)
	}
	for done := 0; done < n; {
		id := s.receive(b).ID
		if again, isLate := s.late[id]; isLate {
			delete(s.late, id)
			s.late[s.send(b, "tools/call", again)] = again
			s.answers++
			continue
		}
		c, ours := sent[id]
		assert.Assert(b, ours, "the call %d of a hung service was answered", id)
		took.add(time.Since(c.begun))
		delete(sent, id)
		if done++; done+len(s.fast) <= n {
			begin(c.service)
		}
	}
}

// The apps of this benchmark are the same MCP server: for one, the descriptor declares a reading
// tool, for the other nothing is declared.
const (
	readingServer = "org.example.Reading"
	actingServer  = "org.example.Acting"
)

// BenchmarkServers measures a call to an MCP server behind the gateway, compared with the same
// call through a proxy with only the SDK, alternately. It prints a table.
func BenchmarkServers(b *testing.B) {
	const calls = 25
	rounds, warm := roundLimit(b, 200), roundLimit(b, 20)
	gateway, proxy, bare := build(b, "github.com/gybob/aai-gateway/cmd/aai-gateway"), build(b, "github.com/gybob/aai-gateway/bench/peers/bareproxy"), build(b, "github.com/gybob/aai-gateway/bench/peers/baresdk")
	h := newHome(b, 0)
	descriptor := func(id, tools string) string {
		return fmt.Sprintf(`{"schema_version": "1.0", "platform": "linux", "app": {"id": %q, "name": "Server", "description": "A server."},
			"execution": {"type": "mcp", "command": %q}%s}`, id, bare, tools)
	}
	h.install(b, readingServer, descriptor(readingServer, `, "tools": [{"name": "echo", "description": "Answers with its arguments.", "effect": "reads",
		"parameters": {"type": "object", "properties": {"v": {"type": "string"}}}}]`))
	h.install(b, actingServer, descriptor(actingServer, ""))
	h.allow(b, readingServer, actingServer)
	ours := open(b, h.env(""), gateway, 2+fixedTools)
	floor := open(b, h.env(""), proxy, 1, bare)
	exec := func(app, tool string) string {
		return fmt.Sprintf(`{"name":"aai_exec","arguments":{"app":%q,"tool":%q,"args":{%s}}}`, app, tool, map[bool]string{true: `"v":"hello"`}[tool == "echo"])
	}
	ours.ask(b, "tools/call", exec(actingServer, "mcp_start"))
	disk := newDisk(b)

	var through, read, act, flush samples
	for round := range rounds + warm {
		for range calls {
			d, e := floor.timed(b, echoCall), ours.timed(b, exec(readingServer, "echo"))
			if round >= warm {
				through.add(d)
				read.add(e)
			}
		}
		for range calls / 5 {
			d, e := ours.timed(b, exec(actingServer, "echo")), disk.flush(b)
			if round >= warm {
				act.add(d)
				flush.add(e)
			}
		}
	}
	var t table
	r, a := ratio(read.median(), through.median()), ratio(act.median(), through.median()+flush.median())
	t.judge("a tool of an MCP server that reads, p50", millis(read.median()), "bare proxy "+millis(through.median()), times(r), "≤ 1.3×", r <= 1.3)
	t.add("a tool of an MCP server that reads, p99", millis(read.quantile(0.99)), "bare proxy "+millis(through.quantile(0.99)), times(ratio(read.quantile(0.99), through.quantile(0.99))))
	t.judge("a tool of an MCP server that acts, p50", millis(act.median()), "the same + disk "+millis(flush.median()), times(a), "≤ 1.3×", a <= 1.3)
	fmt.Print(t.String())
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(read.median())/1e3, "µs/read")
	b.ReportMetric(float64(act.median())/1e3, "µs/act")
}
