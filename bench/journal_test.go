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
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/gateway"
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
	b.Run("Path", func(b *testing.B) { path(b, &t) })
	b.Run("Intent", func(b *testing.B) { durableIntent(b, &t) })
	b.Run("Load", func(b *testing.B) { groupCommit(b, &t) })
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
	b.ReportMetric(0, "ns/op")
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
			begun := time.Now()
			assert.NilError(b, record.Record(b.Context(), entry()))
			ours.add(time.Since(begun))
			begun = time.Now()
			writeAndFlush(b, floor)
			bare.add(time.Since(begun))
		}
	}
	r := ratio(ours.median(), bare.median())
	t.judge("durable intent, p50", micros(ours.median()), "one flushed append "+micros(bare.median()), times(r), "≤ 1.3×", r <= 1.3)
	t.add("durable intent, p99", micros(ours.quantile(0.99)), "one flushed append "+micros(bare.quantile(0.99)), times(ratio(ours.quantile(0.99), bare.quantile(0.99))))
	b.ReportMetric(0, "ns/op")
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
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(callers*each/ours.median().Seconds(), "intents/s")
}
