package bench

import (
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

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
	b.ReportMetric(0, "ns/op")
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
