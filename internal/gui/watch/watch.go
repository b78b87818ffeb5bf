// Package watch waits for a program by its events: until it is quiet, and for a pending effect
// after the reply to its action.
package watch

import (
	"context"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
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

// PendingFor is how long the effect of an action is observed after the delivery of the action.
const PendingFor = 5 * time.Second

// maxPendingSnapshots limits the snapshots of a pending effect.
const maxPendingSnapshots = 8

// PendingEffect is an action without a visible effect before its reply, and the snapshots since
// then. The next call to the program waits until Deadline, so that the effect is not attributed to
// the next action.
type PendingEffect struct {
	What   string            // description of the action
	Before *desktop.Snapshot // the program at the time of the reply
	Focus  desktop.ID        // the element of the action
	Since  time.Time         // time of delivery
	// Deadline is the end of the wait for the effect: the usual observation time, counted from the
	// end of the program's work on the action. Deadline, StillWorking and AmbientLearned are for
	// the holder of the program's queue slot.
	Deadline time.Time
	// StillWorking means that the program was still busy at the time of the reply.
	StillWorking bool
	// AmbientLearned means that AmbientChanges already know the changes of this action.
	AmbientLearned bool
	Updates        chan struct{}      // signals a new snapshot
	Stop           context.CancelFunc // ends the observation

	mu         sync.Mutex
	snapshots  []*desktop.Snapshot // that differ, in order
	superseded bool                // another action has begun, and later changes may be its effect
}

// Start begins to observe the program, until PendingFor after the delivery.
func (o *PendingEffect) Start(backend desktop.Backend, app desktop.App) {
	ctx, stop := context.WithDeadline(context.Background(), o.Since.Add(PendingFor))
	o.Updates, o.Stop = make(chan struct{}, 1), stop
	again := time.NewTimer(time.Until(o.Deadline))
	go func() {
		defer stop()
		defer again.Stop()
		o.listen(ctx, backend, app, again.C)
	}()
}

// listen reads the program after its events, and once at the deadline: some toolkits report no
// events.
func (o *PendingEffect) listen(ctx context.Context, backend desktop.Backend, app desktop.App, again <-chan time.Time) {
	events, err := backend.Events.Watch(ctx, app)
	if err != nil {
		return
	}
	for last := o.Before.Version; ; {
		select {
		case event, open := <-events:
			if !open {
				return
			}
			if !MayBeEffect(event) {
				continue
			}
			Settle(ctx, events)
		case <-again:
		case <-ctx.Done():
			return
		}
		shot, err := backend.Tree.Snapshot(ctx, app)
		if err != nil {
			return
		}
		if shot.Version == last {
			continue
		}
		if last = shot.Version; !o.addSnapshot(shot) {
			return
		}
	}
}

// addSnapshot keeps a snapshot, and reports whether there is space for another.
func (o *PendingEffect) addSnapshot(shot *desktop.Snapshot) bool {
	o.mu.Lock()
	if !o.superseded {
		o.snapshots = append(o.snapshots, shot)
	}
	room := len(o.snapshots) < maxPendingSnapshots
	o.mu.Unlock()
	select {
	case o.Updates <- struct{}{}:
	default:
	}
	return room
}

// Snapshots returns the snapshots so far, and whether another action has begun.
func (o *PendingEffect) Snapshots() (looks []*desktop.Snapshot, over bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.snapshots[:len(o.snapshots):len(o.snapshots)], o.superseded
}

// Supersede records that another action begins, and ends the observation.
func (o *PendingEffect) Supersede() {
	o.Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.superseded = true
}
