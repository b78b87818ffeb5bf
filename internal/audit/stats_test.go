package audit

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	if err != nil {
		t.Fatal(err)
	}
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
			if err != nil || len(got) != len(want) {
				t.Fatalf("%+v: %d rows of %d, %v", f, len(got), len(want), err)
			}
			for _, row := range got {
				key := row.App + " " + row.Tool
				if n := want[key]; row.Calls != n[0] || row.Failures != n[1] {
					t.Errorf("%+v: %s: %+v, expected %v", f, key, row, n)
				}
				all := times[key]
				slices.Sort(all)
				for _, p := range []struct{ got, share float64 }{{row.P50, 0.5}, {row.P95, 0.95}} {
					if len(all) == 0 {
						continue
					}
					exact := all[int(math.Ceil(p.share*float64(len(all))))-1]
					if p.got < exact || p.got > exact*1.1+0.001 {
						t.Errorf("%+v: %s: of %v, %v is not the %v, which is %v", f, key, all, p.got, p.share, exact)
					}
				}
			}
		}
	}
}

func TestToolStatsAreSorted(t *testing.T) {
	rows, err := counting(t).ToolStats(t.Context(), Filter{Tool: "list", ExcludePageReads: true}, false)
	if err != nil || len(rows) != 1 {
		t.Fatalf("%+v, %v", rows, err)
	}
	rows[0].First, rows[0].Last = time.Time{}, time.Time{}
	if diff := cmp.Diff(answer.ToolStats{App: notes, Tool: "list", Calls: 100, Failures: 25, P50: 50, P95: 95}, rows[0]); diff != "" {
		t.Error(diff)
	}
	if none, err := New(journalPath(t)).ToolStats(t.Context(), Filter{}, true); err != nil || len(none) != 0 {
		t.Errorf("of no journal: %v, %v", none, err)
	}
}

// TestDailyUses checks that uses are by day and caller, and start at the given time.
func TestDailyUses(t *testing.T) {
	j := counting(t)
	since := epoch().Add(5 * 24 * time.Hour).UTC().Truncate(24 * time.Hour)
	uses, err := j.DailyUses(t.Context(), since)
	if err != nil {
		t.Fatal(err)
	}
	calls, ok := 0, 0
	for _, u := range uses {
		if u.Day.Before(since) || u.Door == "" || u.Tool != "list" && u.Tool != "add" {
			t.Errorf("%+v", u)
		}
		if u.App == notes && u.Tool == "list" {
			calls, ok = calls+u.Calls, ok+u.OK
		}
	}
	if calls != 50 || ok < 35 || ok > 40 {
		t.Errorf("%d calls, %d ok: %+v", calls, ok, uses)
	}
}
