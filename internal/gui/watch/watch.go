// Package watch waits for what a program does, by its events: until it has come to rest, and
// for what comes of an act after that was answered.
package watch

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

const (
	quiet         = 2 * time.Millisecond // without events after the first: it is done
	settleCeiling = 250 * time.Millisecond
)

// PollInterval is how often a program is looked at that may tell nothing.
const PollInterval = 100 * time.Millisecond

// MayBeEffect reports whether an event may be the effect of an action, rather than
// the toolkit showing that it was asked.
func MayBeEffect(e desktop.Event) bool {
	switch e.Kind {
	case desktop.CaretMoved, desktop.BoundsChanged:
		return false
	case desktop.StateChanged:
		return e.Detail != "focused" && e.Detail != "pressed" && e.Detail != "armed"
	}
	return true
}

// Settle waits until no event has come for a moment.
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

// progressInterval is how often it is said that a program is not idle yet.
const progressInterval = 500 * time.Millisecond

// WaitUntilQuiet waits until no event has come for so long, the events have ended, or the context,
// and returns how many came. Now and then it says that it still waits.
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
