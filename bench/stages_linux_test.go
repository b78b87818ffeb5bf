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

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/drivers/dbus"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/risk"
	"github.com/gybob/aai-gateway/internal/lexicon"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// stageBoundary is a moment of a call on its path. Each lies between two packages, so that it can
// be observed from outside.
type stageBoundary int

const (
	requestSent   stageBoundary = iota // the client begins to write its request
	doStarted                          // the first line of Do
	receivedStart                      // the journal gets the received entry, if any
	receivedEnd
	findStart // the catalog looks up the app
	findEnd
	checkStart // the arguments are validated
	checkEnd
	gatesStart // the first gate checks the call
	gatesEnd
	intentStart // the journal gets the intent, if any
	intentEnd
	runStart // the action begins
	runEnd
	outcomeStart // the journal gets the outcome
	outcomeEnd
	answerRead // the client has read the response
	stageBoundaries
)

// stageNames are the names of the stages that end at each boundary.
var stageNames = [stageBoundaries]string{
	doStarted: "door: pipe, decode, dispatch", receivedStart: "received, metering", receivedEnd: "received on record",
	findStart: "to the catalog", findEnd: "resolve", checkStart: "to the schema", checkEnd: "validate", gatesStart: "target", gatesEnd: "gates",
	intentStart: "lane, redaction of the arguments", intentEnd: "intent on record", runStart: "begin to run", runEnd: "run",
	outcomeStart: "check of the answer, redaction", outcomeEnd: "outcome on record", answerRead: "answer: encode, pipe",
}

// clockwork records the time at which a call passes the boundaries. It wraps the parts of a real
// gateway, for one call at a time.
type clockwork struct {
	mu     sync.Mutex
	passed [stageBoundaries]time.Time
}

// pass records the first or the last passing of a boundary.
func (c *clockwork) pass(at stageBoundary, now time.Time, last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last || c.passed[at].IsZero() {
		c.passed[at] = now
	}
}

// stages returns the time of each stage, and resets the clockwork. A boundary that was not passed
// equals the one before it.
func (c *clockwork) stages(b *testing.B) (took [stageBoundaries]time.Duration) {
	b.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, needed := range []stageBoundary{requestSent, doStarted, findStart, checkEnd, gatesEnd, runEnd, outcomeEnd, answerRead} {
		if c.passed[needed].IsZero() {
			b.Fatalf("the call did not pass %q", stageNames[needed])
		}
	}
	at := c.passed[requestSent]
	for i := doStarted; i < stageBoundaries; i++ {
		if next := c.passed[i]; next.After(at) {
			took[i], at = next.Sub(at), next
		}
	}
	c.passed = [stageBoundaries]time.Time{}
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
	if c.hasRun() { // the door looks it up for the form of the result
		return c.Catalog.Find(ctx, name)
	}
	c.pass(findStart, time.Now(), true) // the door may have looked it up before
	defer func() { c.pass(findEnd, time.Now(), true) }()
	return c.Catalog.Find(ctx, name)
}

// hasRun reports whether the call has passed its action.
func (c *clockwork) hasRun() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.passed[runEnd].IsZero()
}

func (g clockedGate) Check(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	g.pass(gatesStart, time.Now(), false)
	defer func() { g.pass(gatesEnd, time.Now(), true) }()
	return g.Gate.Check(ctx, r)
}

func (j clockedJournal) Record(ctx context.Context, e *aai.Entry) error {
	now := time.Now()
	in, out := receivedStart, receivedEnd
	switch e.Kind {
	case aai.Intent:
		in, out = intentStart, intentEnd
	case aai.Outcome:
		in, out = outcomeStart, outcomeEnd
		j.pass(doStarted, e.Time.Add(-e.Elapsed), true)
	}
	j.pass(in, now, true)
	defer func() { j.pass(out, time.Now(), true) }()
	return j.Journal.Record(ctx, e)
}

// wrap puts the clockwork around an app's tools, before their use.
func (c *clockwork) wrap(app *aai.App) {
	for _, tool := range app.Tools {
		check, run := tool.Params.Check, tool.Run
		tool.Params.Check = func(v any) (any, error) {
			c.pass(checkStart, time.Now(), true)
			defer func() { c.pass(checkEnd, time.Now(), true) }()
			return check(v)
		}
		tool.Run = func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			c.pass(runStart, time.Now(), true)
			defer func() { c.pass(runEnd, time.Now(), true) }()
			return run(ctx, call)
		}
	}
}

// assemble creates the gateway as the program does, with an app on the bus, and with a clockwork
// if clock is not nil.
func assemble(b *testing.B, bus *testkit.Bus, clock *clockwork) *gateway.Gateway {
	b.Helper()
	h := newHome(b, 0)
	h.write(b, filepath.Join(fastApp, "aai.json"), callDescriptor(fastApp))
	record := audit.New(filepath.Join(h.folder, "audit.jsonl"))
	b.Cleanup(func() { _ = record.Close() })
	store := policy.NewFileStore(filepath.Join(h.folder, "consent.json"))
	driver := dbus.New(dbus.Config{Getenv: bus.Getenv})
	b.Cleanup(func() { _ = driver.Close() })
	known := catalog.New(catalog.Config{
		Places: []catalog.Place{catalog.Folders(h.folder)}, HostPlatform: "linux", Drivers: map[string]aai.Driver{"linux/dbus": driver},
	})
	g := &gateway.Gateway{Catalog: known, Journal: record, Gates: []aai.Gate{
		policy.NewLimits(map[policy.Kind]policy.Limit{policy.KindDeclared: {PerSecond: 1e6, PerMinute: 1e7, Concurrent: 1000}}),
		policy.NewBuiltinGate(policy.BuiltinConfig{AgentTools: builtin.AgentTools(), PersonDoors: []string{aai.DoorCLI}}),
		&policy.ModeGate{Path: filepath.Join(h.folder, "mode")},
		policy.AppLists{Denied: []string{"org.example.Denied"}},
		risk.ProtectedWindows{},
		risk.NewDestructiveMarker(lexicon.DestructiveWords()),
		policy.NewConsent(policy.ConsentConfig{Store: store, Preapproved: []policy.Grant{
			{Caller: policy.Wildcard, App: fastApp, Tool: policy.Wildcard, Decision: policy.Allow},
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
func openHere(b *testing.B, g *gateway.Gateway) *session {
	b.Helper()
	in, questions := pipe(b)
	answers, out := pipe(b)
	ended := make(chan error, 1)
	go func() {
		ended <- mcp.New(mcp.Config{Gateway: g, Version: "1"}).ServeStdio(context.WithoutCancel(b.Context()), in, out)
	}()
	b.Cleanup(func() {
		_ = questions.Close()
		assert.Check(b, <-ended)
	})
	s := sessionOver(questions, answers)
	assert.NilError(b, s.initializeSession())
	return s
}

func pipe(b *testing.B) (r, w *os.File) {
	b.Helper()
	r, w, err := os.Pipe()
	assert.NilError(b, err)
	b.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// stageSamples are the figures of one call.
type stageSamples struct {
	stages       [stageBoundaries]samples
	whole, plain samples // with the clockwork, and without
}

// BenchmarkStages measures the stages of a call: one that reads and one that acts, of an app on
// the bus, through the real door, gates and journal. The stages add up to the whole; the
// comparison is the same call without a clockwork.
func BenchmarkStages(b *testing.B) {
	const calls = 25
	bus := testkit.StartBus(b)
	bus.AddService(b, fastApp, "/usr/bin/env", testkit.ServiceEnv+"="+fastApp, os.Args[0])
	busCall(b, bus.Connect(b).Object(fastApp, testkit.ServicePath))
	clock := &clockwork{}
	clocked, plain := openHere(b, assemble(b, bus, clock)), openHere(b, assemble(b, bus, nil))
	figures := []*stageSamples{{}, {}}
	for range roundLimit(b, 200) {
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

// call makes one call and records its stages.
func (c *clockwork) call(b *testing.B, s *session, call string, f *stageSamples) {
	b.Helper()
	c.mu.Lock()
	c.passed = [stageBoundaries]time.Time{}
	c.mu.Unlock()
	c.pass(requestSent, time.Now(), true)
	s.ask(b, "tools/call", call)
	c.pass(answerRead, time.Now(), true)
	whole := c.passed[answerRead].Sub(c.passed[requestSent])
	sum := time.Duration(0)
	for i, took := range c.stages(b) {
		f.stages[i].add(took)
		sum += took
	}
	assert.Equal(b, sum, whole, "the stages take %s, the call %s: a border was passed out of its order", sum, whole)
	f.whole.add(whole)
}

// stageTable formats the figures in columns, in microseconds.
func stageTable(read, change *stageSamples) string {
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
	for i := doStarted; i < stageBoundaries; i++ {
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
