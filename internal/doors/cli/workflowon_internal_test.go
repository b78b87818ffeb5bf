package cli

import (
	"testing"
	"time"
)

// TestCheckLoop: the command ends after many events in a row that came while the workflow ran, but not for events between.
func TestCheckLoop(t *testing.T) {
	now := time.Now()
	event := func(at time.Time) any { return map[string]any{"timestamp": at.Format(time.RFC3339Nano)} }
	e := &eventRuns{runs: []runTime{{now, now.Add(time.Second)}}}
	during, before := event(now.Add(time.Second/2)), event(now.Add(-time.Second))
	for range maxOwnEvents - 1 {
		if err := e.checkLoop(during); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.checkLoop(before); err != nil {
		t.Fatal(err)
	}
	for range maxOwnEvents - 1 {
		if err := e.checkLoop(during); err != nil {
			t.Fatalf("an event from outside does not count: %v", err)
		}
	}
	if err := e.checkLoop(during); err == nil {
		t.Error("a workflow that causes its own event goes on")
	}
}
