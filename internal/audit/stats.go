package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// A Tally is what became of the calls of one tool, or of all of an app.
type ToolStats struct {
	App   string `json:"app"`
	Tool  string `json:"tool,omitempty"` // "" for all of the app
	Calls int    `json:"calls"`
	// Failures are the calls that ended with an error, those that were refused among them.
	// Those of which nobody knows how they ended are none.
	Failures int `json:"failures"`
	// P50 and P95 are of the calls that ran, in two digits: half of them took no longer.
	P50   float64   `json:"p50_ms"`
	P95   float64   `json:"p95_ms"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// A Span is what became of the calls of an hour or of a day.
type PeriodStats struct {
	Start    time.Time `json:"start"`
	Calls    int       `json:"calls"`
	Failures int       `json:"failures"`
	P50      float64   `json:"p50_ms"`
	P95      float64   `json:"p95_ms"`
}

// ToolStats says what became of the calls that pass the filter, of which only App, Tool,
// Caller, Result, Since, Until and Unwatched count; by app and tool, or by app alone. Those with most
// calls come first. A journal that does not exist has none.
func (j *Journal) ToolStats(ctx context.Context, f Filter, byApp bool) ([]ToolStats, error) {
	sums := make(map[[2]string]*total)
	err := j.visitTotals(ctx, statsQuery{f: f, byKind: true}, func() { clear(sums) }, func(_ int64, k *kind, t *total) {
		key := [2]string{k.app, k.tool}
		if byApp {
			key[1] = ""
		}
		sumOf(sums, key).add(t)
	})
	if err != nil {
		return nil, err
	}
	all := make([]ToolStats, 0, len(sums))
	for key, s := range sums {
		first, _ := time.Parse(timeFormat, s.first) // as it was written
		last, _ := time.Parse(timeFormat, s.last)
		all = append(all, ToolStats{key[0], key[1], s.calls, s.failures, s.times.percentile(50), s.times.percentile(95), first, last})
	}
	slices.SortFunc(all, func(a, b ToolStats) int {
		return cmp.Or(b.Calls-a.Calls, cmp.Compare(a.App, b.App), cmp.Compare(a.Tool, b.Tool))
	})
	return all, nil
}

// PeriodStats is Tallies by the hour, or by the day as it is in that place, the oldest first. Of
// spans without calls there is none. A day begins with the first whole hour, counted in UTC,
// that begins in it.
func (j *Journal) PeriodStats(ctx context.Context, f Filter, byDay bool, in *time.Location) ([]PeriodStats, error) {
	sums := make(map[int64]*total)
	err := j.visitTotals(ctx, statsQuery{f: f, byHour: true}, func() { clear(sums) }, func(hour int64, _ *kind, t *total) {
		start := hour * 3600
		if byDay {
			y, m, d := time.Unix(start, 0).In(in).Date()
			start = time.Date(y, m, d, 0, 0, 0, 0, in).Unix()
		}
		sumOf(sums, start).add(t)
	})
	if err != nil {
		return nil, err
	}
	all := make([]PeriodStats, 0, len(sums))
	for start, s := range sums {
		all = append(all, PeriodStats{time.Unix(start, 0).In(in), s.calls, s.failures, s.times.percentile(50), s.times.percentile(95)})
	}
	slices.SortFunc(all, func(a, b PeriodStats) int { return a.Start.Compare(b.Start) })
	return all, nil
}

func sumOf[K comparable](sums map[K]*total, key K) *total {
	if sums[key] == nil {
		sums[key] = new(total)
	}
	return sums[key]
}

// visitTotals tells of the calls that are to be counted, after it has had cleared what it told
// before.
func (j *Journal) visitTotals(ctx context.Context, c statsQuery, clear func(), tell func(hour int64, k *kind, t *total)) error {
	if err := j.writeRefusals(); err != nil {
		j.warn(err)
	}
	files, err := j.files()
	if err != nil || len(files) == 0 {
		return err
	}
	err = j.withIndex(ctx, func(x *indexer) error {
		clear()
		c.db, c.visit = x.db, tell
		return c.visitAll(ctx)
	})
	if err != nil {
		return fmt.Errorf("the index of the history: %w", err)
	}
	return nil
}

// A Use is how often one tool was called on one day by one caller.
type DailyUse struct {
	App, Tool      string
	Door, Identity string // whose calls they were: their door and, where it is known, their identity
	Day            time.Time
	Calls, OK      int
}

// DailyUses says how often the tools of apps were called since then, the gateway's own left out.
func (j *Journal) DailyUses(ctx context.Context, since time.Time) ([]DailyUse, error) {
	uses := make(map[DailyUse]*DailyUse)
	err := j.visitTotals(ctx, statsQuery{f: Filter{Since: since}, byKind: true}, func() { clear(uses) }, func(hour int64, k *kind, t *total) {
		if k.app == "" || k.app == "aai" || k.tool == "" {
			return
		}
		key := DailyUse{App: k.app, Tool: k.tool, Door: k.door, Identity: k.identity, Day: time.Unix(hour*3600, 0).UTC().Truncate(24 * time.Hour)}
		if uses[key] == nil {
			u := key
			uses[key] = &u
		}
		uses[key].Calls += t.calls
		if k.result == succeeded {
			uses[key].OK += t.calls
		}
	})
	found := make([]DailyUse, 0, len(uses))
	for _, u := range uses {
		found = append(found, *u)
	}
	return found, err
}
