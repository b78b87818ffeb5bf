package atspi

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestAppRecords checks that a silent app keeps its last answers, gets only a short timeout for a while,
// and then the full one again.
func TestAppRecords(t *testing.T) {
	var r appRecords
	app, other := ref{":1.5", "/root"}, ref{":1.6", "/root"}
	begun := time.Unix(1000, 0)
	list := func(after time.Duration, answers bool, pid int) *appEntry {
		e := &appEntry{root: app, pid: pid}
		if answers {
			e.answered, e.name, e.toolkit, e.count, e.contents = true, "Editor", "gtk", 2, 30
		}
		r.update([]*appEntry{e, {root: other, pid: 6, answered: true, name: "Other"}}, begun.Add(after))
		return e
	}
	asleep := func(at time.Duration, want bool) {
		t.Helper()
		got := r.isSilent(app, begun.Add(at))
		assert.Check(t, is.Equal(got, want), "after %s it counts as one that does not answer: %v, want %v", at, got, want)
		assert.Check(t, !r.isSilent(other, begun.Add(at)), "after %s the other counts as one that does not answer", at)
	}
	asleep(0, false)
	list(0, true, 5)
	asleep(time.Second, false)
	for at := time.Second; at <= 4*time.Second; at += time.Second {
		e := list(at, false, 0) // the bus was slow too
		assert.Assert(t, !e.answered, "after %s of silence it is %+v", at, e)
		assert.Equal(t, e.name, "Editor", "%s %+v", at, e)
		assert.Equal(t, e.toolkit, "gtk", "%s %+v", at, e)
		assert.Equal(t, e.pid, 5, "%s %+v", at, e)
		assert.Equal(t, e.contents, 30, "%s %+v", at, e)
		asleep(at, true)
	}
	asleep(time.Second+silentAge-1, true)
	asleep(time.Second+silentAge, false) // counted from the first missing answer
	list(7*time.Second, false, 5)        // waited for the full timeout without an answer
	asleep(7*time.Second+silentAge-1, true)
	list(8*time.Second, true, 5)
	asleep(8*time.Second, false)
	e := list(9*time.Second, false, 7)
	assert.Check(t, is.Equal(e.name, ""), "%+v", e)
	assert.Check(t, is.Equal(e.pid, 7), "%+v", e)
	r.update(nil, begun.Add(10*time.Second))
	e = list(11*time.Second, false, 5)
	assert.Check(t, is.Equal(e.name, ""), "one that had gone is remembered: %+v", e)
}
