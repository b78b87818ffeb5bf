package watch

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// silence is the time until the next look at a program without events.
const silence = time.Second

// Poll calls look until it reports done: at once, after each event, once per second without events,
// and at most every PollInterval. It also ends with look's error, or without an error when ctx is
// done; callers check ctx, and look once more if they need to. Meanwhile it calls notYet every
// progressInterval.
func Poll(ctx context.Context, events <-chan desktop.Event, look func() (done bool, err error), notYet func()) error {
	news := time.NewTicker(progressInterval)
	defer news.Stop()
	for {
		begun := time.Now()
		if done, err := look(); done || err != nil || ctx.Err() != nil {
			return err
		}
		next := time.NewTimer(silence)
		for waits := true; waits; {
			select {
			case _, open := <-events:
				if waits = !open; waits {
					events = nil
				}
			case <-news.C:
				notYet()
			case <-next.C:
				waits = false
			case <-ctx.Done():
				waits = false
			}
		}
		next.Stop()
		if aai.Sleep(ctx, time.Until(begun.Add(PollInterval))) != nil {
			return nil
		}
		Settle(ctx, events) // the next look covers all events until now
	}
}
