package watch

import (
	"context"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// PendingFor is for how long it is listened to what comes of an act that was answered
// before anything was seen of it.
const PendingFor = 5 * time.Second

// maxPendingSnapshots is how many looks are kept of that.
const maxPendingSnapshots = 8

// A Late is an act of which nothing was seen before it was answered, and what has
// been seen since. Who comes next to the program waits out the time in which it
// would have been seen, so that it is not taken for what the next act does.
type PendingEffect struct {
	What   string            // was done
	Before *desktop.Snapshot // as it was when it was answered
	Focus  desktop.ID        // what was acted on
	Since  time.Time         // when it was delivered
	// Deadline is until when its effect is waited for: as long as it would have been before it was
	// answered, from when the program was done with the act itself. For who has the program's
	// turn, and so is Works.
	Deadline time.Time
	// StillWorking says that the program was still at work when it was answered.
	StillWorking bool
	// AmbientLearned says that it is known what of it is no unrest; for who has the program's turn.
	AmbientLearned bool
	Updates        chan struct{}      // something was seen
	Stop           context.CancelFunc // it is listened to no longer

	mu         sync.Mutex
	snapshots  []*desktop.Snapshot // that differ, in order
	superseded bool                // somebody has acted since, and what comes now is not for sure its effect
}

// Start begins to listen to the program, until the time is over in which something may come
// of the act.
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

// listen looks at the program when it tells of something, and once when the time is over
// in which an effect would have been waited for: some toolkits tell of nothing.
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

// addSnapshot keeps a look, and reports whether there is room for another.
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

// Snapshots are the looks so far, and whether somebody has acted since.
func (o *PendingEffect) Snapshots() (looks []*desktop.Snapshot, over bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.snapshots[:len(o.snapshots):len(o.snapshots)], o.superseded
}

// Supersede says that somebody acts now: what is seen from here on counts no longer.
func (o *PendingEffect) Supersede() {
	o.Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.superseded = true
}
