package watch

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// silence is how long it is until the next look at a program that tells of nothing.
const silence = time.Second

// Poll looks until there is no more to wait for: at once, after each event, once a second
// where none comes, and no more often than every LookAgain. It ends too with the error of a
// look, and when the context does, without one; whether that was so the context says. Now and
// then it says that it still waits. Who needs a last look takes it then.
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
		Settle(ctx, events) // what has come until now is seen by the next look
	}
}
