package cli

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestCheckLoop: the command ends after many events in a row that came while the workflow ran, but not for events between.
func TestCheckLoop(t *testing.T) {
	now := time.Now()
	event := func(at time.Time) any { return map[string]any{"timestamp": at.Format(time.RFC3339Nano)} }
	e := &eventRuns{runs: []runTime{{now, now.Add(time.Second)}}}
	during, before := event(now.Add(time.Second/2)), event(now.Add(-time.Second))
	for range maxOwnEvents - 1 {
		assert.NilError(t, e.checkLoop(during))
	}
	assert.NilError(t, e.checkLoop(before))
	for range maxOwnEvents - 1 {
		err := e.checkLoop(during)
		assert.NilError(t, err, "an event from outside does not count: %v", err)
	}
	assert.Check(t, e.checkLoop(during) != nil, "a workflow that causes its own event goes on")
}
