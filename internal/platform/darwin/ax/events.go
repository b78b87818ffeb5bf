//go:build darwin || axdouble

package ax

import (
	"context"
	"runtime"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/darwin/native"
)

const (
	maxEvents  = 256             // that wait for their reader
	checkEnded = time.Second / 2 // time between two looks whether the app still runs
)

// Watch implements desktop.Events. The notifications come to a run loop on a thread of their own.
func (t *Tree) Watch(ctx context.Context, app desktop.App) (<-chan desktop.Event, error) {
	if ctx.Err() != nil {
		return nil, expired(ctx)
	}
	if err := t.check(app); err != nil {
		return nil, err
	}
	watch := &watcher{Tree: t, app: app, table: t.workers.of(app.PID, app.Started).table, events: make(chan desktop.Event, maxEvents)}
	began := make(chan error, 1)
	go watch.run(ctx, began)
	select {
	case err := <-began:
		if err != nil {
			return nil, err
		}
		return watch.events, nil
	case <-ctx.Done():
		return nil, notAnswered(ctx)
	}
}

// A watcher delivers the events of an app. Its thread alone uses the fields.
type watcher struct {
	*Tree
	app    desktop.App
	table  *table
	events chan desktop.Event
	lost   bool // events were dropped
}

// run runs the loop until the context or the app ends.
func (w *watcher) run(ctx context.Context, began chan<- error) {
	runtime.LockOSThread() // the run loop belongs to the thread
	defer runtime.UnlockOSThread()
	defer close(w.events)
	application := w.api.AXUIElementCreateApplication(int32(w.app.PID))
	defer w.api.CFRelease(application)
	stop, code := w.api.Observe(w.app.PID, application, notifications(), w.tell)
	if code != 0 {
		began <- failure(code, w.isRunning(), w.responsible())
		return
	}
	defer stop()
	loop := w.api.CFRetain(w.api.CFRunLoopGetCurrent())
	defer w.api.CFRelease(loop)
	defer context.AfterFunc(ctx, func() { w.api.CFRunLoopStop(loop) })()
	began <- nil
	for ctx.Err() == nil {
		if !w.api.RunLoop(checkEnded.Seconds()) || !w.isRunning() {
			w.send(desktop.Event{Kind: desktop.Lost, Detail: desktop.Ended})
			<-ctx.Done()
			return
		}
		w.sendLost()
	}
}

func (w *watcher) isRunning() bool {
	started, _ := w.api.Started(w.app.PID)
	return started != "" && (w.app.Started == "" || started == w.app.Started)
}

// tell delivers a notification.
func (w *watcher) tell(element native.Ref, notification string) {
	event := eventOf(notification)
	if event.Kind == "" {
		return
	}
	event.ID = w.table.known(element)
	w.send(event)
}

// send delivers an event, or notes that it was dropped.
func (w *watcher) send(event desktop.Event) {
	w.sendLost()
	event.At = time.Now()
	if w.lost {
		return
	}
	select {
	case w.events <- event:
	default:
		w.lost = true
	}
}

// sendLost reports dropped events once there is room.
func (w *watcher) sendLost() {
	if !w.lost {
		return
	}
	select {
	case w.events <- desktop.Event{Kind: desktop.Lost, At: time.Now()}:
		w.lost = false
	default:
	}
}

// IsIdle implements desktop.Events: no thread of the app runs.
func (t *Tree) IsIdle(app desktop.App) bool {
	n, known := t.api.RunningThreads(app.PID)
	return known && n == 0
}

// BusyTime implements desktop.Events. The system counts it in a unit that depends on the processor, so it is left out.
func (t *Tree) BusyTime(desktop.App) time.Duration { return 0 }
