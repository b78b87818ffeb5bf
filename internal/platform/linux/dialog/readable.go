package dialog

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gybob/aai-gateway"
)

// An openQuestion holds the callbacks of a question while it is open.
type openQuestion struct {
	// shows receives the process of the window; 0 is none.
	shows func(pid int)
	// opened is called when a window is visible, perhaps several times.
	opened func()
	// disturbed reports whether a gateway made input since the question got the input lock.
	disturbed   func() bool
	retryReason string // why the question is repeated, as the first line
}

// announcement returns a function that tells the caller's terminal, once, that a window is
// open, and a function that reports whether it did.
func (d *Dialog) announcement(ctx context.Context) (announce func(), announced func() bool) {
	tell := aai.ClientCapabilitiesOf(ctx).OnDialogShown
	var was atomic.Bool
	return func() {
		if !was.Swap(true) && tell != nil {
			tell(screen(d.getenv))
		}
	}, was.Load
}

// takeInputLock takes the input lock, so that no gateway makes input from before the
// window is started until the question has ended.
func (d *Dialog) takeInputLock(ctx context.Context) (disturbed func() bool, end func(), err error) {
	if d.inputLock == nil {
		return func() bool { return false }, func() {}, nil
	}
	asking, err := d.inputLock.AcquireForQuestion(ctx)
	if err != nil {
		return nil, nil, err
	}
	return asking.WasDisturbed, asking.Release, nil
}

// showReadable shows one page, and again if the answer came too fast. It returns
// errDisturbed if a gateway made input meanwhile, since that may have been the answer.
func (d *Dialog) showReadable(ctx context.Context, way presenter, p page, s openQuestion) (int, error) {
	plain := p.text
	if s.retryReason != "" {
		p.text = s.retryReason + "\n" + plain
	}
	for range maxRetries {
		chosen, seen, err := d.showWatched(ctx, way, p, s)
		if err != nil {
			return 0, err
		}
		switch {
		case s.disturbed():
			return 0, errDisturbed
		case seen:
			return chosen, nil
		}
		p.text = d.messages().retryText + "\n" + plain
	}
	return 0, errTooFast
}

// showWatched shows one page, and reports whether a person can have seen it before the
// answer: its window had the keyboard for long enough, or, if that is unknown, its program
// has run for twice as long.
func (d *Dialog) showWatched(ctx context.Context, way presenter, p page,
	s openQuestion) (chosen int, seen bool, err error) {
	watching, stop := context.WithCancel(ctx)
	var had focusSpan
	var watcher sync.WaitGroup
	begun := time.Now()
	chosen, err = way.show(ctx, p, func(pid int) {
		s.shows(pid)
		watcher.Go(func() { had = d.watchFocus(watching, pid, way, s.opened) })
		if way.otherProcess {
			return
		}
		watcher.Go(func() {
			if err := d.float(watching, pid); err != nil && watching.Err() == nil {
				d.log.Info("a dialog may be out of sight", "by", way.name, "cause", err)
			}
		})
	})
	ended := time.Now()
	stop()
	watcher.Wait()
	s.shows(0)
	if had.from.IsZero() {
		return chosen, ended.Sub(begun) >= 2*(d.readable+way.appearTime), err
	}
	if had.to.IsZero() {
		had.to = ended
	}
	return chosen, had.to.Sub(had.from) >= d.readable, err
}

// A focusSpan is the last time span with the keyboard without a break; to is zero while it
// lasts.
type focusSpan struct{ from, to time.Time }

// watchFocus polls the keyboard focus until the context ends, and calls opened when the
// window of the process is open. A window is mapped before it can have the keyboard.
func (d *Dialog) watchFocus(ctx context.Context, pid int, way presenter, opened func()) (had focusSpan) {
	looks := time.NewTicker(focusPollInterval)
	defer looks.Stop()
	begun, isOpen := time.Now(), false
	for {
		focused, err := d.focus(ctx)
		now := time.Now()
		if !isOpen && ctx.Err() == nil && (err == nil && focused == pid || d.isOpen(ctx, pid, way, now.Sub(begun))) {
			isOpen = true
			opened()
		}
		switch {
		case ctx.Err() != nil:
			return had
		case err == nil && focused == pid && (had.from.IsZero() || !had.to.IsZero()):
			had = focusSpan{from: now}
		case (err != nil || focused != pid) && !had.from.IsZero() && had.to.IsZero():
			had.to = now
		}
		select {
		case <-looks.C:
		case <-ctx.Done():
			return had
		}
	}
}

// isOpen reports whether the process shows a window. If windows cannot be listed, as on Wayland, or
// belong to another process, a program that still runs after assumedOpenAfter shows one.
func (d *Dialog) isOpen(ctx context.Context, pid int, way presenter, runs time.Duration) bool {
	if shown, err := d.shown(ctx, pid); err == nil && !way.otherProcess {
		return shown
	}
	return runs >= assumedOpenAfter+way.appearTime
}
