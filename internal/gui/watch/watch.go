// Package watch waits for a program by its events: until it is quiet, and for a pending effect
// after the reply to its action.
package watch

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

const (
	quiet         = 2 * time.Millisecond // without events after the first: settled
	settleCeiling = 250 * time.Millisecond
)

// PollInterval is how often a program that may report no events is read.
const PollInterval = 100 * time.Millisecond

// MayBeEffect reports whether an event may be the effect of an action, and not only the toolkit's
// feedback for input.
func MayBeEffect(e desktop.Event) bool {
	switch e.Kind {
	case desktop.CaretMoved, desktop.BoundsChanged:
		return false
	case desktop.StateChanged:
		return e.Detail != "focused" && e.Detail != "pressed" && e.Detail != "armed"
	}
	return true
}

// Settle waits until no event has come for the time quiet, at most settleCeiling.
func Settle(ctx context.Context, events <-chan desktop.Event) {
	end := time.NewTimer(settleCeiling)
	defer end.Stop()
	for {
		select {
		case _, open := <-events:
			if !open {
				return
			}
		case <-time.After(quiet):
			return
		case <-end.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// progressInterval is how often progress is reported while a program is not idle.
const progressInterval = 500 * time.Millisecond

// WaitUntilQuiet waits until no event has come for the time still, or the events or the context
// end. It returns the number of events, and calls notYet every progressInterval.
func WaitUntilQuiet(ctx context.Context, events <-chan desktop.Event, still time.Duration, notYet func(seen int)) (seen int) {
	quiet := time.NewTimer(still)
	defer quiet.Stop()
	news := time.NewTicker(progressInterval)
	defer news.Stop()
	for {
		select {
		case _, open := <-events:
			if !open {
				return seen
			}
			seen++
			quiet.Reset(still)
		case <-news.C:
			notYet(seen)
		case <-quiet.C:
			return seen
		case <-ctx.Done():
			return seen
		}
	}
}
