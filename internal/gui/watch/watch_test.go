package watch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

// told returns events at the given times from now, in milliseconds.
func told(at ...int) <-chan desktop.Event {
	events := make(chan desktop.Event, len(at))
	for _, ms := range at {
		time.AfterFunc(time.Duration(ms)*time.Millisecond, func() { events <- desktop.Event{Kind: desktop.NameChanged} })
	}
	return events
}

// TestPoll: look is called once, after each event, at a limited rate, and once per second without
// events.
func TestPoll(t *testing.T) {
	for name, c := range map[string]struct {
		events []int
		deaf   bool
		want   []int // times of the looks, in milliseconds
	}{
		"quiet":    {want: []int{0, 1002, 2004, 3006}},
		"deaf":     {deaf: true, want: []int{0, 1002, 2004, 3006}},
		"told":     {events: []int{500, 2000}, want: []int{0, 502, 1504, 2002, 3004}},
		"restless": {events: []int{10, 20, 30, 40, 150, 160}, want: []int{0, 102, 204, 1206, 2208, 3210}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
				defer cancel()
				events := told(c.events...)
				if c.deaf {
					events = nil
				}
				begun, news, looks := time.Now(), 0, []int{}
				err := watch.Poll(ctx, events, func() (bool, error) {
					looks = append(looks, int(time.Since(begun).Milliseconds()))
					return false, nil
				}, func() { news++ })
				assert.NilError(t, err, "%s %d", time.Since(begun), news)
				assert.Assert(t, time.Since(begun) == 3500*time.Millisecond, "it ended with %v after %s, and said %d times that it waits", err, time.Since(begun), news)
				assert.Assert(t, news >= 5, "it ended with %v after %s, and said %d times that it waits", err, time.Since(begun), news)
				assert.Assert(t, is.Len(looks, len(c.want)), "looked at %v, want %v", looks, c.want)
				for i := range looks {
					if looks[i] != c.want[i] {
						t.Errorf("looked at %v, want %v", looks, c.want)
						break
					}
				}
			})
		})
	}
}

// TestPollIsDone: Poll ends when look reports done or an error, and continues when the events end.
func TestPollIsDone(t *testing.T) {
	failed := errors.New("failed")
	for _, want := range []error{nil, failed} {
		synctest.Test(t, func(t *testing.T) {
			over, looks := make(chan desktop.Event), 0
			close(over)
			err := watch.Poll(t.Context(), over, func() (bool, error) {
				looks++
				return looks == 3 && want == nil, errorAt(looks == 3, want)
			}, func() {})
			assert.Assert(t, is.ErrorIs(err, want))
			assert.Equal(t, looks, 3)
		})
	}
}

func errorAt(so bool, err error) error {
	if so {
		return err
	}
	return nil
}

func TestWaitUntilQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		seen := watch.WaitUntilQuiet(t.Context(), told(50, 120, 190), 100*time.Millisecond, func(int) {})
		took := time.Since(begun)
		assert.Check(t, is.Equal(seen, 3), took)
		assert.Check(t, took == 290*time.Millisecond, "%d events, quiet after %s", seen, took)
	})
}

// TestMayBeEffect: the focus, or the pressed state, is no effect.
func TestMayBeEffect(t *testing.T) {
	for _, c := range []struct {
		event desktop.Event
		want  bool
	}{
		{desktop.Event{Kind: desktop.NameChanged}, true},
		{desktop.Event{Kind: desktop.StateChanged, Detail: "checked"}, true},
		{desktop.Event{Kind: desktop.StateChanged, Detail: "focused"}, false},
		{desktop.Event{Kind: desktop.StateChanged, Detail: "pressed"}, false},
		{desktop.Event{Kind: desktop.CaretMoved}, false},
		{desktop.Event{Kind: desktop.BoundsChanged}, false},
	} {
		assert.Check(t, is.Equal(watch.MayBeEffect(c.event), c.want), "%+v", c.event)
	}
}
