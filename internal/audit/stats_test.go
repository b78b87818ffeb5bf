package audit

import (
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

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

// TestDurations checks that durations are rounded up monotonically.
func TestDurations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(0, longestCall).Draw(t, "a"), rapid.Float64Range(0, 1000).Draw(t, "b")
		for _, ms := range []float64{a, b, a / 1e6} {
			told := float64(roundUp(ms)) / 1000
			assert.Assert(t, told >= ms-1e-6, "%v is told as %v", ms, told)
			assert.Assert(t, told <= ms*1.1+0.0011, "%v is told as %v", ms, told)
		}
		assert.Assert(t, a < b || roundUp(a) >= roundUp(b), "%v %v", a, b)
		d, e := durations{roundUp(a): 3, roundUp(b): 70000}, make(durations)
		e.unpack(d.encode())
		assert.Check(t, is.DeepEqual(d, e))
	})
}

// TestTrace checks the steps, the parent and the children of one call, also if its lines
// are in two files.
func TestTrace(t *testing.T) {
	j := NewFromConfig(Config{Path: journalPath(t), RotateSize: 2000, KeyStore: &memoryKeyStore{}})
	inAHurry(j)
	defer j.Close() //nolint:errcheck // of a test
	record(t, j, reading("c0"))
	record(t, j, received("c1"), intent("c1"))
	for i := range 10 {
		child := reading(fmt.Sprint("k", i))
		child.Parent = "c1"
		record(t, j, child)
	}
	end := failure("c1", aai.AutomationFailed)
	end.Ran, end.PersonWait = true, 1500*time.Millisecond
	record(t, j, end)
	s, err := j.Trace(t.Context(), "c1")
	assert.NilError(t, err, s)
	assert.Assert(t, s != nil, s)
	files, err := j.files()
	assert.NilError(t, err, "%d", len(files))
	assert.Assert(t, len(files) >= 2, "%d files, %v", len(files), err)
	assert.Assert(t, is.Len(s.Steps, 3))
	assert.Equal(t, s.Steps[0].Kind, aai.Received)
	assert.Equal(t, s.Steps[1].Kind, aai.Intent)
	assert.Equal(t, s.Steps[2].Kind, aai.Outcome)
	first, second, last := s.Steps[0], s.Steps[1], s.Steps[2]
	if first.Session != "s1" || first.Principal != "somebody" || second.Consent != "once (client)" || second.Digest != "d1" ||
		last.Delivery != aai.NotDelivered || !last.Ran || last.Message != "it said no" || last.PersonWaitMillis != 1500 || last.Record <= second.Record || first.Record == 0 {
		t.Errorf("%+v", s.Steps)
	}
	assert.Equal(t, s.Call.Call, "c1", "%+v", s)
	assert.Equal(t, s.Call.Result, string(aai.AutomationFailed), "%+v", s)
	assert.Assert(t, s.Parent != nil, "%+v", s)
	assert.Equal(t, s.Parent.Call, "c0", "%+v", s)
	assert.Assert(t, is.Len(s.Children, 10), "%+v", s)
	assert.Equal(t, s.Children[0].Call, "k0", "%+v", s)
	assert.Equal(t, s.OmittedChildren, 0, "%+v", s)
	s, err = j.Trace(t.Context(), "nobody")
	assert.Assert(t, s == nil, "of no call: %v, %v", s, err)
	assert.NilError(t, err, s)
	s, err = New(journalPath(t)).Trace(t.Context(), "c1")
	assert.Assert(t, s == nil, "of no journal: %v, %v", s, err)
	assert.NilError(t, err, s)
}
