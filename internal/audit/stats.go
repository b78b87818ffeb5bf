package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gybob/aai-gateway/internal/answer"
)

// ToolStats returns statistics by app and tool, or by app alone, for the calls that match the filter. Of
// the filter, only App, Tool, Caller, Result, Since, Until and ExcludePageReads count. The most used
// tools come first. A journal that does not exist results in none.
func (j *Journal) ToolStats(ctx context.Context, f Filter, byApp bool) ([]answer.ToolStats, error) {
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
	all := make([]answer.ToolStats, 0, len(sums))
	for key, s := range sums {
		first, _ := time.Parse(timeFormat, s.first) // written by this package
		last, _ := time.Parse(timeFormat, s.last)
		all = append(all, answer.ToolStats{
			App: key[0], Tool: key[1], Calls: s.calls, Failures: s.failures, P50: s.times.percentile(50), P95: s.times.percentile(95), First: first, Last: last,
		})
	}
	slices.SortFunc(all, func(a, b answer.ToolStats) int {
		return cmp.Or(b.Calls-a.Calls, cmp.Compare(a.App, b.App), cmp.Compare(a.Tool, b.Tool))
	})
	return all, nil
}

// PeriodStats returns statistics by hour, or by day in the location, oldest first. The
// filter is as for ToolStats. Periods without calls are left out. A day begins with the
// first whole hour, in UTC, inside it.
func (j *Journal) PeriodStats(ctx context.Context, f Filter, byDay bool, in *time.Location) ([]answer.PeriodStats, error) {
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
	all := make([]answer.PeriodStats, 0, len(sums))
	for start, s := range sums {
		all = append(all, answer.PeriodStats{
			Start: time.Unix(start, 0).In(in), Calls: s.calls, Failures: s.failures, P50: s.times.percentile(50), P95: s.times.percentile(95),
		})
	}
	slices.SortFunc(all, func(a, b answer.PeriodStats) int { return a.Start.Compare(b.Start) })
	return all, nil
}

func sumOf[K comparable](sums map[K]*total, key K) *total {
	if sums[key] == nil {
		sums[key] = new(total)
	}
	return sums[key]
}

// visitTotals passes the totals of the matching calls to tell. It calls clear before, also
// before a retry.
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

// A DailyUse counts the calls of one tool on one day by one caller.
type DailyUse struct {
	App, Tool      string
	Door, Identity string // of the caller: its door and, if known, its identity
	Day            time.Time
	Calls, OK      int
}

// DailyUses counts the calls of apps' tools since a time, without the gateway's own app.
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
		if k.result == answer.ResultOK {
			uses[key].OK += t.calls
		}
	})
	found := make([]DailyUse, 0, len(uses))
	for _, u := range uses {
		found = append(found, *u)
	}
	return found, err
}
