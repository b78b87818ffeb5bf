package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit"
)

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
			begun := time.Now()
			assert.NilError(b, look.do(b.Context()))
			took.add(time.Since(begun))
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
