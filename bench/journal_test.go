package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	answers "github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gateway/active"
	"github.com/gybob/aai-gateway/internal/gui/risk"
	"github.com/gybob/aai-gateway/internal/lexicon"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/schema"
)

// BenchmarkJournal measures the time that the journal and the gates add to a call, and prints a
// table. The baselines alternate with it: the same call without both, one line of the same size
// written and flushed, and as many callers with a separate flush each.
func BenchmarkJournal(b *testing.B) {
	var t table
	runOnce(b, "Path", func(b *testing.B) { path(b, &t) })
	runOnce(b, "Intent", func(b *testing.B) { durableIntent(b, &t) })
	runOnce(b, "Load", func(b *testing.B) { groupCommit(b, &t) })
	fmt.Print(t.String())
}

// path measures a reading call, with the real journal and gates and with none.
func path(b *testing.B, t *table) {
	const calls = 50
	rounds := roundLimit(b, 500)
	params := schema.MustParse(`{"type": "object", "required": ["v"], "properties": {"v": {"type": "string", "maxLength": 1000}}}`)
	parts := oneApp{&aai.App{ID: "org.example.App", Digest: "d", Tools: []*aai.Tool{{
		Name: "echo", Params: params, Effect: aai.Reads,
		Run: func(_ context.Context, call *aai.Call) (*aai.Result, error) {
			return &aai.Result{Data: call.Args["v"]}, nil
		},
	}}}}
	folder := b.TempDir()
	record := audit.New(filepath.Join(folder, "audit.jsonl"))
	b.Cleanup(func() { _ = record.Close() })
	grant := policy.Grant{Caller: policy.Wildcard, App: "org.example.App", Tool: policy.Wildcard, Decision: policy.Allow, ExpiresAt: time.Now().Add(time.Hour)}
	bare := &gateway.Gateway{Catalog: parts, Gates: []aai.Gate{parts}, Journal: parts}
	whole := &gateway.Gateway{Catalog: parts, Journal: record, Gates: []aai.Gate{
		policy.NewLimits(map[policy.Kind]policy.Limit{policy.KindDeclared: {PerSecond: 1e6, PerMinute: 1e7, Concurrent: 1000}}),
		&policy.BuiltinGate{}, &policy.ModeGate{Path: filepath.Join(folder, "mode")}, policy.AppLists{}, risk.ProtectedWindows{},
		risk.NewDestructiveMarker(lexicon.DestructiveWords()),
		policy.NewConsent(policy.ConsentConfig{
			Store: policy.NewFileStore(filepath.Join(folder, "consent.json")), Preapproved: []policy.Grant{grant},
		}),
	}}
	call := &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP, Name: "bench"}, App: "org.example.App", Tool: "echo", Args: map[string]any{"v": "hello"}}
	var without, with samples
	for b.Loop() { // of one call of this benchmark, so that its figure appears once
		for range rounds {
			for g, s := range map[*gateway.Gateway]*samples{bare: &without, whole: &with} {
				for range calls {
					begun := time.Now()
					_, err := g.Do(b.Context(), call)
					assert.NilError(b, err)
					s.add(time.Since(begun))
				}
			}
		}
	}
	added := with.median() - without.median()
	t.judge("record and gates of a call that reads, p50", micros(added), "the path without "+micros(without.median()), "", "≤ 40 µs", added <= 40*time.Microsecond)
	t.add("record and gates of a call that reads, p99", micros(with.quantile(0.99)-without.quantile(0.99)), "the path without "+micros(without.quantile(0.99)), "")
	b.ReportMetric(float64(added)/1e3, "µs/added")
}

func micros(d time.Duration) string { return fmt.Sprintf("%.1f µs", float64(d)/1e3) }

// entry returns the intent of a call that changes something. Its line has about entryBytes.
func entry() *aai.Entry {
	return &aai.Entry{
		Kind: aai.Intent, Time: time.Now(), Call: "c0123456789abcde", App: "org.example.App", Tool: "echo",
		Target: "org.example.App", Admitted: true, Effect: aai.Changes, Durable: true, Consent: "preapproved", Args: map[string]any{"v": "hello"},
	}
}

const entryBytes = 360

// durableIntent measures one intent at a time, compared with a line of its size.
func durableIntent(b *testing.B, t *table) {
	const each = 10
	rounds := roundLimit(b, 500)
	folder := b.TempDir()
	record := audit.New(filepath.Join(folder, "audit.jsonl"))
	b.Cleanup(func() { _ = record.Close() })
	floor := appendOnly(b, filepath.Join(folder, "floor"))
	var ours, bare samples
	for range rounds {
		for range each {
			ours.add(elapsed(func() { assert.NilError(b, record.Record(b.Context(), entry())) }))
			bare.add(elapsed(func() { writeAndFlush(b, floor) }))
		}
	}
	r := ratio(ours.median(), bare.median())
	t.judge("durable intent, p50", micros(ours.median()), "one flushed append "+micros(bare.median()), times(r), "≤ 1.3×", r <= 1.3)
	t.add("durable intent, p99", micros(ours.quantile(0.99)), "one flushed append "+micros(bare.quantile(0.99)), times(ratio(ours.quantile(0.99), bare.quantile(0.99))))
	b.ReportMetric(float64(ours.median())/1e3, "µs/intent")
}

func appendOnly(b *testing.B, name string) *os.File {
	b.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	assert.NilError(b, err)
	b.Cleanup(func() { _ = f.Close() })
	return f
}

func writeAndFlush(b *testing.B, f *os.File) {
	_, err := f.Write(make([]byte, entryBytes))
	assert.Check(b, err)
	assert.Check(b, f.Sync())
}

// groupCommit measures many concurrent callers, compared with as many that flush in sequence, each
// for its own line.
func groupCommit(b *testing.B, t *table) {
	const callers, each = 64, 10
	rounds := roundLimit(b, 50)
	folder := b.TempDir()
	record := audit.New(filepath.Join(folder, "audit.jsonl"))
	b.Cleanup(func() { _ = record.Close() })
	floor := appendOnly(b, filepath.Join(folder, "floor"))
	var ours, bare samples
	for range rounds {
		begun := time.Now()
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				for range each {
					assert.Check(b, record.Record(b.Context(), entry()))
				}
			})
		}
		wg.Wait()
		ours.add(time.Since(begun))
		begun = time.Now()
		for range callers * each / 4 {
			writeAndFlush(b, floor)
		}
		bare.add(4 * time.Since(begun))
	}
	rate := func(d time.Duration) string { return fmt.Sprintf("%.0f/s", callers*each/d.Seconds()) }
	r := ratio(bare.median(), ours.median())
	t.judge(fmt.Sprintf("durable intents of %d callers at once", callers), rate(ours.median()), "a flush each "+rate(bare.median()), times(r), "≥ 5×", r >= 5)
	b.ReportMetric(callers*each/ours.median().Seconds(), "intents/s")
}

// BenchmarkHistory measures the queries of a page over 100,000 calls of a month: each kind,
// including those without results, which would read everything.
func BenchmarkHistory(b *testing.B) {
	calls, rounds := 100_000, roundLimit(b, 20)
	if os.Getenv(shortVariable) != "" {
		calls = 1000
	}
	record := audit.New(filepath.Join(b.TempDir(), "audit.jsonl"))
	b.Cleanup(func() { _ = record.Close() })
	fillMonth(b, record, calls)
	begun := time.Now()
	_, err := record.History(b.Context(), audit.Filter{})
	assert.NilError(b, err)
	var t table
	t.add("what was left of the index", time.Since(begun).Round(time.Millisecond).String(), "", "")
	history := func(f audit.Filter) func(context.Context) error {
		return func(ctx context.Context) error { _, err := record.History(ctx, f); return err }
	}
	count := func(f audit.Filter) func(context.Context) error {
		return func(ctx context.Context) error { _, err := record.ToolStats(ctx, f, false); return err }
	}
	spans := func(f audit.Filter, byDay bool) func(context.Context) error {
		return func(ctx context.Context) error { _, err := record.PeriodStats(ctx, f, byDay, time.UTC); return err }
	}
	week := time.Now().Add(-7 * 24 * time.Hour)
	for _, look := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"the newest 50", history(audit.Filter{})},
		{"of an app", history(audit.Filter{App: "org.example.App3"})},
		{"of an app that is not there", history(audit.Filter{App: "org.example.None"})},
		{"of a caller and a result", history(audit.Filter{Caller: "agent2", Result: "timeout"})},
		{"of a caller that is not there", history(audit.Filter{Caller: "nobody"})},
		{"of a day a week ago", history(audit.Filter{Since: week, Until: week.Add(24 * time.Hour)})},
		{"with words that all have", history(audit.Filter{Text: "buy milk"})},
		{"with a word that one has", history(audit.Filter{Text: "number777"})},
		{"with words, of an app", history(audit.Filter{Text: "milk", App: "org.example.App3"})},
		{"with words that none has", history(audit.Filter{Text: "nothing like that"})},
		{"an old page", history(audit.Filter{Before: "c500"})},
		{"the story of a call", func(ctx context.Context) error { _, err := record.Trace(ctx, "c777"); return err }},
		{"totals by day", spans(audit.Filter{}, true)},
		{"totals of a week by hour", spans(audit.Filter{Since: week}, false)},
		{"totals of an app by day", spans(audit.Filter{App: "org.example.App3"}, true)},
		{"counts by tool", count(audit.Filter{})},
		{"counts by tool since a week", count(audit.Filter{Since: week})},
	} {
		var took samples
		for range rounds {
			took.add(elapsed(func() { assert.NilError(b, look.do(b.Context())) }))
		}
		t.judge(look.name+", p50", fmt.Sprintf("%.1f ms", float64(took.median())/1e6), "", "", "≤ 30 ms", took.median() <= 30*time.Millisecond)
	}
	b.ReportMetric(0, "ns/op")
	fmt.Print(t.String())
}

// fillMonth records the calls of a month: each agent uses a few apps for an hour, and then others.
func fillMonth(b *testing.B, record *audit.Journal, calls int) {
	b.Helper()
	step := 30 * 24 * time.Hour / time.Duration(calls)
	for i := range calls {
		burst := i / 200
		e := &aai.Entry{
			Kind: aai.Outcome, Time: time.Now().Add(-step * time.Duration(calls-i)), Call: fmt.Sprint("c", i), Admitted: true, Effect: aai.Reads, Ran: true,
			Caller: aai.Caller{Door: aai.DoorMCP, Name: fmt.Sprint("agent", burst%5), Identity: fmt.Sprint("/usr/bin/agent", burst%5)},
			App:    fmt.Sprint("org.example.App", (burst*7+i%3)%40), Tool: fmt.Sprint("tool", i%4), Consent: "always",
			Args: map[string]any{"text": fmt.Sprintf("buy milk number%d", i)}, Elapsed: time.Duration(i%1000) * time.Millisecond,
		}
		if i%25 == 0 {
			e.Code, e.Message = aai.Timeout, "it did not answer"
		}
		assert.NilError(b, record.Record(b.Context(), e))
	}
}

// activeCalls is the number of active calls when they are stopped.
const activeCalls = 50

// blockingGateway returns a gateway with calls that last until they are cancelled, and a real journal.
func blockingGateway(b *testing.B, folder string) (*gateway.Gateway, *active.StopList) {
	parts := oneApp{&aai.App{ID: "org.example.App", Tools: []*aai.Tool{{
		Name: "hold", Effect: aai.Changes, Limits: aai.Limits{Timeout: time.Hour},
		Run: func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}}}}
	j := audit.New(filepath.Join(folder, "audit.jsonl"))
	b.Cleanup(func() { _ = j.Close() })
	g := &gateway.Gateway{Catalog: parts, Gates: []aai.Gate{parts}, Journal: j}
	h := active.NewStopList(active.StopConfig{Path: filepath.Join(folder, "halt", "stopped"), OnChange: g.CancelStopped})
	b.Cleanup(func() { _ = h.Close() })
	g.Stops = h
	return g, h
}

// BenchmarkStop measures the time from stopping everything in one gateway until the last of fifty
// active calls in another has ended and is in the journal; compared with the time after their
// caller leaves.
func BenchmarkStop(b *testing.B) {
	for name, stops := range map[string]bool{"Stop": true, "CallerLeaves": false} {
		b.Run(name, func(b *testing.B) {
			folder := b.TempDir()
			g, _ := blockingGateway(b, folder)
			_, other := blockingGateway(b, folder)
			var took samples
			for b.Loop() {
				ctx, leave := context.WithCancel(b.Context())
				var calls sync.WaitGroup
				for i := range activeCalls {
					calls.Go(func() {
						call := &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP, Name: fmt.Sprint("bench", i)}, App: "org.example.App", Tool: "hold"}
						_, _ = g.Do(ctx, call) // it is cancelled
					})
				}
				for acting := 0; acting < activeCalls; {
					acting = 0
					for _, u := range g.Active() {
						if u.Stage == gateway.StageActing {
							acting++
						}
					}
					time.Sleep(time.Millisecond)
				}
				begun := time.Now()
				if stops {
					assert.NilError(b, other.Add(b.Context(), answers.Stop{At: begun, Door: aai.DoorCLI}))
				} else {
					leave()
				}
				calls.Wait()
				took.add(time.Since(begun))
				leave()
				_, err := other.Remove(b.Context(), func(answers.Stop) bool { return true })
				assert.NilError(b, err)
			}
			b.ReportMetric(float64(took.median())/1e6, "ms/median")
			b.ReportMetric(float64(took.quantile(1))/1e6, "ms/longest")
		})
	}
}

// BenchmarkDoWithStop is BenchmarkDo with a stop list to check and a publisher of active calls.
func BenchmarkDoWithStop(b *testing.B) {
	folder := b.TempDir()
	parts := oneApp{&aai.App{ID: "org.example.App", Tools: []*aai.Tool{{
		Name: "echo", Effect: aai.Reads,
		Run: func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{Text: "hello"}, nil },
	}}}}
	call := &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP, Name: "bench"}, App: "org.example.App", Tool: "echo"}
	for name, watched := range map[string]bool{"Bare": false, "Watched": true} {
		b.Run(name, func(b *testing.B) {
			g := &gateway.Gateway{Catalog: parts, Gates: []aai.Gate{parts}, Journal: parts}
			if watched {
				h := active.NewStopList(active.StopConfig{Path: filepath.Join(folder, "halt", "stopped"), OnChange: g.CancelStopped})
				defer h.Close() //nolint:errcheck // it only ends
				teller := active.NewPublisher(filepath.Join(folder, "running"), g.Active, nil)
				defer teller.Close() //nolint:errcheck // it only ends
				g.Stops, g.OnActiveChange = h, teller.StageChanged
			}
			b.ReportAllocs()
			for b.Loop() {
				_, err := g.Do(b.Context(), call)
				assert.NilError(b, err)
			}
		})
	}
}
