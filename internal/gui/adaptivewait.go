package gui

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

// busyTimes is the factor by which the wait is longer for a program that never becomes idle: it may
// play a film meanwhile.
const busyTimes = 10

// idleGiveUp is how long a program must be idle before the wait ends. Chromium sleeps between a
// change of its page and the report of it.
const idleGiveUp = effectCeiling

// replyReserve is the part of a call's time that is reserved for its reply.
const replyReserve = time.Second

// adaptiveWait is a wait for a program: the usual time, and then until the program was idle for a
// while. A busy computer makes programs slower.
type adaptiveWait struct {
	view            *view
	within          time.Duration
	begun, lastLook time.Time
	isIdle          bool          // at the last look
	idleTime        time.Duration // how long the program was idle between looks
}

// newAdaptiveWait begins a wait for the program of at least the given time.
func (v *view) newAdaptiveWait(within time.Duration) *adaptiveWait {
	return &adaptiveWait{view: v, within: within, begun: time.Now()}
}

// isOver reports whether the wait is over. Callers poll it.
func (p *adaptiveWait) isOver(ctx context.Context) bool {
	now, events := time.Now(), p.view.backend.Events
	since := now.Sub(p.begun)
	if events == nil || p.view.noTree {
		return since > p.within
	}
	if since < p.within-idleGiveUp || now.Sub(p.lastLook) < watch.PollInterval/2 {
		return false
	}
	gap := now.Sub(p.lastLook)
	p.lastLook = now
	rests := events.IsIdle(p.view.app)
	if !rests || !p.isIdle {
		p.idleTime = 0
	} else { // the program's work during a longer gap is unknown
		p.idleTime += min(gap, 2*watch.PollInterval)
	}
	p.isIdle = rests
	ends, bounded := ctx.Deadline()
	if since > busyTimes*p.within || bounded && since > p.within && ends.Sub(now) < replyReserve {
		return true
	}
	return since > p.within && p.isIdle && p.idleTime >= min(p.within, idleGiveUp)-3*watch.PollInterval/2
}

// awaitChange waits until the program sends an event or PollInterval passes. It returns false if the whole wait is
// over or ctx has ended, so that the caller stops.
func (p *adaptiveWait) awaitChange(ctx context.Context) bool {
	if p.isOver(ctx) {
		return false
	}
	soon := time.Now().Add(watch.PollInterval)
	if usual := p.begun.Add(p.within); usual.After(time.Now()) && usual.Before(soon) {
		soon = usual
	}
	waiting, cancel := context.WithDeadline(ctx, soon)
	defer cancel()
	var events <-chan desktop.Event
	if p.view.backend.Events != nil {
		// Polling detects events from before the watch.
		if told, err := p.view.backend.Events.Watch(waiting, p.view.app); err == nil {
			events = told
		}
	}
	select {
	case <-events:
	case <-waiting.Done():
	}
	return ctx.Err() == nil
}

// pollUntil calls look repeatedly until it reports success or the adaptive wait is over, and
// returns whether it succeeded.
func (v *view) pollUntil(ctx context.Context, within time.Duration, look func() (bool, error)) (bool, error) {
	for p := v.newAdaptiveWait(within); ; {
		over := p.isOver(ctx)
		if so, err := look(); so || over || err != nil {
			return so && err == nil, err
		}
		if err := aai.Sleep(ctx, watch.PollInterval/10); err != nil {
			return false, err
		}
	}
}
