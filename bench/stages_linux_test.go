package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"aai"
	"aai/internal/catalog"
	"aai/internal/doors/mcp"
	"aai/internal/drivers/dbus"
	"aai/internal/drivers/dbus/dbustest"
	"aai/internal/journal"
	"aai/internal/own"
	"aai/internal/policy"
)

// A border is a moment of a call on its way. Each lies where two rooms meet, so that
// it can be seen from the outside.
type border int

const (
	asked      border = iota // the client begins to write its request
	begun                    // the first line of Do
	receivedIn               // the journal gets the received line, where there is one
	receivedOut
	findIn // the catalog is asked for the app
	findOut
	checkIn // the arguments meet their schema
	checkOut
	gatesIn // the first gate is asked
	gatesOut
	intentIn // the journal gets the intent, where there is one
	intentOut
	runIn // the action begins
	runOut
	outcomeIn // the journal gets the outcome
	outcomeOut
	answered // the client has read the answer
	borders
)

// stageNames say what ends at the border.
var stageNames = [borders]string{
	begun: "door: pipe, decode, dispatch", receivedIn: "received, metering", receivedOut: "received on record",
	findIn: "to the catalog", findOut: "resolve", checkIn: "to the schema", checkOut: "validate", gatesIn: "target", gatesOut: "gates",
	intentIn: "lane, redaction of the arguments", intentOut: "intent on record", runIn: "begin to run", runOut: "run",
	outcomeIn: "check of the answer, redaction", outcomeOut: "outcome on record", answered: "answer: encode, pipe",
}

// A clockwork notes when a call passed the borders. It stands around the parts of a
// real gateway, one call at a time.
type clockwork struct {
	mu     sync.Mutex
	passed [borders]time.Time
}

// pass notes the border's first passing, or its last.
func (c *clockwork) pass(at border, now time.Time, last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last || c.passed[at].IsZero() {
		c.passed[at] = now
	}
}

// stages returns how long each took, and forgets the call. A border that was not
// passed is where the one before it is.
func (c *clockwork) stages(b *testing.B) (took [borders]time.Duration) {
	b.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, needed := range []border{asked, begun, findIn, checkOut, gatesOut, runOut, outcomeOut, answered} {
		if c.passed[needed].IsZero() {
			b.Fatalf("the call did not pass %q", stageNames[needed])
		}
	}
	at := c.passed[asked]
	for i := begun; i < borders; i++ {
		if next := c.passed[i]; next.After(at) {
			took[i], at = next.Sub(at), next
		}
	}
	c.passed = [borders]time.Time{}
	return took
}

// clockedCatalog, clockedGate and clockedJournal are those parts with a clockwork.
type (
	clockedCatalog struct {
		aai.Catalog
		*clockwork
	}
	clockedGate struct {
		aai.Gate
		*clockwork
	}
	clockedJournal struct {
		aai.Journal
		*clockwork
	}
)

func (c clockedCatalog) Find(ctx context.Context, name string) (*aai.App, error) {
	c.pass(findIn, time.Now(), true) // the door may have asked before
	defer func() { c.pass(findOut, time.Now(), true) }()
	return c.Catalog.Find(ctx, name)
}

func (g clockedGate) Check(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	g.pass(gatesIn, time.Now(), false)
	defer func() { g.pass(gatesOut, time.Now(), true) }()
	return g.Gate.Check(ctx, r)
}

func (j clockedJournal) Record(ctx context.Context, e *aai.Entry) error {
	now := time.Now()
	in, out := receivedIn, receivedOut
	switch e.Kind {
	case aai.Intent:
		in, out = intentIn, intentOut
	case aai.Outcome:
		in, out = outcomeIn, outcomeOut
		j.pass(begun, e.Time.Add(-e.Elapsed), true)
	}
	j.pass(in, now, true)
	defer func() { j.pass(out, time.Now(), true) }()
	return j.Journal.Record(ctx, e)
}

// wrap puts the clockwork around an app's tools, before anybody uses them.
func (c *clockwork) wrap(app *aai.App) {
	for _, tool := range app.Tools {
		check, run := tool.Params.Check, tool.Run
		tool.Params.Check = func(v any) (any, error) {
			c.pass(checkIn, time.Now(), true)
			defer func() { c.pass(checkOut, time.Now(), true) }()
			return check(v)
		}
		tool.Run = func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			c.pass(runIn, time.Now(), true)
			defer func() { c.pass(runOut, time.Now(), true) }()
			return run(ctx, call)
		}
	}
}

// assemble joins the rooms as the program does, with an app on the bus, and a
// clockwork around all of them, if there is one.
func assemble(b *testing.B, bus *dbustest.Bus, clock *clockwork) *aai.Gateway {
	b.Helper()
	h := newHome(b, 0)
	h.write(b, filepath.Join(fastApp, "aai.json"), callDescriptor(fastApp))
	record := journal.New(filepath.Join(h.folder, "audit.jsonl"))
	b.Cleanup(func() { _ = record.Close() })
	store := policy.NewFileStore(filepath.Join(h.folder, "consent.json"))
	driver := dbus.New(dbus.Config{Getenv: bus.Getenv})
	b.Cleanup(func() { _ = driver.Close() })
	known := catalog.New(catalog.Config{
		Places: []catalog.Place{catalog.Folders(h.folder)}, HostPlatform: "linux", Drivers: map[string]aai.Driver{"linux/dbus": driver},
	})
	g := &aai.Gateway{Catalog: known, Journal: record, Gates: []aai.Gate{
		policy.NewLimits(map[policy.Kind]policy.Limit{policy.Declared: {PerSecond: 1e6, PerMinute: 1e7, Concurrent: 1000}}),
		policy.NewOwn(policy.OwnConfig{Open: own.OpenTools(), Personal: []string{aai.DoorCLI}}),
		&policy.Modes{Path: filepath.Join(h.folder, "mode")},
		policy.Lists{Denied: []string{"org.example.Denied"}},
		policy.Untouchable{},
		policy.NewDestructive(policy.DestructiveWords()),
		policy.NewConsent(policy.ConsentConfig{Store: store, Preapproved: []policy.Grant{
			{Caller: policy.Every, App: fastApp, Tool: policy.Every, Decision: policy.Allow},
		}}),
	}}
	if clock == nil {
		return g
	}
	for _, app := range known.Apps() {
		clock.wrap(app)
	}
	g.Catalog, g.Journal = clockedCatalog{known, clock}, clockedJournal{record, clock}
	for i, gate := range g.Gates {
		g.Gates[i] = clockedGate{gate, clock}
	}
	return g
}

// openHere serves the gateway through its door, in this process.
func openHere(b *testing.B, g *aai.Gateway) *session {
	b.Helper()
	in, questions := pipe(b)
	answers, out := pipe(b)
	ended := make(chan error, 1)
	go func() {
		ended <- mcp.New(mcp.Config{Gateway: g, Version: "1"}).ServeStdio(context.WithoutCancel(b.Context()), in, out)
	}()
	b.Cleanup(func() {
		_ = questions.Close()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	s := sessionOver(questions, answers)
	if err := s.greet(); err != nil {
		b.Fatal(err)
	}
	return s
}

func pipe(b *testing.B) (r, w *os.File) {
	b.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// staged are the figures of one call.
type staged struct {
	stages       [borders]samples
	whole, plain samples // with the clockwork, and without
}

// BenchmarkStages is where the time of a call goes: one that reads and one that
// acts, of an app on the bus, through the real door, gates and journal. The parts of
// each call add up to its whole; beside it stands the same without a clockwork.
func BenchmarkStages(b *testing.B) {
	const calls = 25
	bus := dbustest.Start(b)
	bus.Activatable(b, fastApp, "/usr/bin/env", dbustest.ServiceVariable+"="+fastApp, os.Args[0])
	busCall(b, bus.Connect(b).Object(fastApp, dbustest.Path))
	clock := &clockwork{}
	clocked, plain := openHere(b, assemble(b, bus, clock)), openHere(b, assemble(b, bus, nil))
	figures := []*staged{{}, {}}
	for range atMost(b, 200) {
		for i, call := range []string{readCall, changeCall} {
			for range calls {
				figures[i].plain.add(plain.timed(b, call))
				clock.call(b, clocked, call, figures[i])
			}
		}
	}
	fmt.Print(stageTable(figures[0], figures[1]))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(figures[0].whole.median())/1e3, "µs/read")
	b.ReportMetric(float64(figures[1].whole.median())/1e3, "µs/change")
}

// call makes one call and keeps what it is made of.
func (c *clockwork) call(b *testing.B, s *session, call string, f *staged) {
	b.Helper()
	c.mu.Lock()
	c.passed = [borders]time.Time{}
	c.mu.Unlock()
	c.pass(asked, time.Now(), true)
	s.ask(b, "tools/call", call)
	c.pass(answered, time.Now(), true)
	whole := c.passed[answered].Sub(c.passed[asked])
	sum := time.Duration(0)
	for i, took := range c.stages(b) {
		f.stages[i].add(took)
		sum += took
	}
	if sum != whole {
		b.Fatalf("the stages take %s, the call %s: a border was passed out of its order", sum, whole)
	}
	f.whole.add(whole)
}

// stageTable sets the figures in columns, in microseconds.
func stageTable(read, change *staged) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 3, ' ', tabwriter.AlignRight)
	line := func(name string, figures ...time.Duration) {
		_, _ = fmt.Fprintf(w, "%-36s", name)
		for _, d := range figures {
			_, _ = fmt.Fprintf(w, "\t%.1f", float64(d)/1e3)
		}
		_, _ = fmt.Fprintln(w, "\t")
	}
	_, _ = fmt.Fprintf(w, "\n%-36s\treads: min\tp50\tacts: min\tp50\t\n", "stage of a call over D-Bus, in µs")
	var sum [4]time.Duration
	for i := begun; i < borders; i++ {
		row := []time.Duration{
			read.stages[i].quantile(0), read.stages[i].median(), change.stages[i].quantile(0), change.stages[i].median(),
		}
		for n, d := range row {
			sum[n] += d
		}
		line(stageNames[i], row...)
	}
	whole := []time.Duration{read.whole.quantile(0), read.whole.median(), change.whole.quantile(0), change.whole.median()}
	plain := []time.Duration{read.plain.quantile(0), read.plain.median(), change.plain.quantile(0), change.plain.median()}
	apart, clockwork := make([]time.Duration, len(whole)), make([]time.Duration, len(whole))
	for n := range whole {
		apart[n], clockwork[n] = whole[n]-sum[n], whole[n]-plain[n]
	}
	line("sum of these", sum[:]...)
	line("they are not of one call", apart...)
	line("the whole call", whole...)
	line("the clockwork", clockwork...)
	line("the whole call without it", plain...)
	_ = w.Flush()
	return text.String() + "\n"
}
