package audit

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// counting returns a journal of calls that took 1 to 100 ms, some failed or refused.
func counting(t *testing.T) *Journal {
	t.Helper()
	j := hasty(t, journalPath(t))
	for i := range 100 {
		e := reading(fmt.Sprintf("r%d", i))
		e.Elapsed = time.Duration(i+1) * time.Millisecond
		e.Time = epoch().Add(time.Duration(i%10) * 24 * time.Hour)
		if i%4 == 3 {
			e.Code, e.Message = aai.AutomationFailed, "no"
		}
		record(t, j, e)
	}
	for i := range 7 { // reads by the dashboard
		e := reading(fmt.Sprint("w", i))
		e.Caller.Door, e.App, e.Tool, e.Time = aai.DoorWeb, aai.BuiltinApp, "list", epoch().Add(time.Duration(i)*24*time.Hour)
		record(t, j, e)
	}
	record(t, j, refusal("f1", aai.ConsentRequired))
	record(t, j, mutation("d1")...)
	record(t, j, asked("a1")[0]) // its result is unknown
	return j
}

// TestToolStats compares the statistics with the history.
func TestToolStats(t *testing.T) {
	j := counting(t)
	past, err := j.scanFiles(t.Context(), Filter{Limit: 10_000})
	assert.NilError(t, err)
	for _, f := range []Filter{{}, {App: notes}, {Tool: "list"}, {Since: epoch().Add(5 * 24 * time.Hour)}, {Until: epoch().Add(24 * time.Hour)}, {Caller: "nobody"}, {ExcludePageReads: true}, {ExcludePageReads: true, Tool: "list"}, {ExcludePageReads: true, App: aai.BuiltinApp}, {ExcludePageReads: true, Since: epoch().Add(2*24*time.Hour + time.Minute)}} {
		for _, byApp := range []bool{false, true} {
			want := make(map[string][3]int) // calls, failures, known
			times := make(map[string][]float64)
			for _, p := range past {
				if !f.passes(&p) {
					continue
				}
				key := p.App + " " + p.Tool
				if byApp {
					key = p.App + " "
				}
				n := want[key]
				n[0]++
				if p.Result != "ok" && p.Result != "unknown" {
					n[1]++
				}
				if p.Result != "unknown" {
					n[2]++
					times[key] = append(times[key], p.Millis)
				}
				want[key] = n
			}
			got, err := j.ToolStats(t.Context(), f, byApp)
			assert.NilError(t, err, "%+v %d", f, len(want))
			assert.Assert(t, is.Len(got, len(want)), "%+v %d", f, len(want))
			for _, row := range got {
				key := row.App + " " + row.Tool
				n := want[key]
				assert.Check(t, is.Equal(row.Calls, n[0]), "%+v %s %+v %v", f, key, row, n)
				assert.Check(t, is.Equal(row.Failures, n[1]), "%+v %s %+v %v", f, key, row, n)
				all := times[key]
				slices.Sort(all)
				for _, p := range []struct{ got, share float64 }{{row.P50, 0.5}, {row.P95, 0.95}} {
					if len(all) == 0 {
						continue
					}
					exact := all[int(math.Ceil(p.share*float64(len(all))))-1]
					assert.Check(t, !(p.got < exact), "%+v: %s: of %v, %v is not the %v, which is %v", f, key, all, p.got, p.share, exact)
					assert.Check(t, !(p.got > exact*1.1+0.001), "%+v: %s: of %v, %v is not the %v, which is %v", f, key, all, p.got, p.share, exact)
				}
			}
		}
	}
}

func TestToolStatsAreSorted(t *testing.T) {
	rows, err := counting(t).ToolStats(t.Context(), Filter{Tool: "list", ExcludePageReads: true}, false)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(rows, 1))
	rows[0].First, rows[0].Last = time.Time{}, time.Time{}
	assert.Check(t, is.DeepEqual(answer.ToolStats{App: notes, Tool: "list", Calls: 100, Failures: 25, P50: 50, P95: 95}, rows[0]))
	none, err := New(journalPath(t)).ToolStats(t.Context(), Filter{}, true)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(none, 0))
}

// TestDailyUses checks that uses are by day and caller, and start at the given time.
func TestDailyUses(t *testing.T) {
	j := counting(t)
	since := epoch().Add(5 * 24 * time.Hour).UTC().Truncate(24 * time.Hour)
	uses, err := j.DailyUses(t.Context(), since)
	assert.NilError(t, err)
	calls, ok := 0, 0
	for _, u := range uses {
		assert.Assert(t, !u.Day.Before(since), "%+v", u)
		assert.Assert(t, u.Door != "", "%+v", u)
		assert.Assert(t, u.Tool == "list" || u.Tool == "add", "%+v", u)
		if u.App == notes && u.Tool == "list" {
			calls, ok = calls+u.Calls, ok+u.OK
		}
	}
	assert.Check(t, is.Equal(calls, 50), "%d %+v", ok, uses)
	assert.Check(t, ok >= 35, "%d calls, %d ok: %+v", calls, ok, uses)
	assert.Check(t, ok <= 40, "%d calls, %d ok: %+v", calls, ok, uses)
}
