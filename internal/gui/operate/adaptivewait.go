package operate

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

// busyTimes is how many times longer than usual a program is waited for that never comes to
// rest: one may play a film meanwhile.
const busyTimes = 10

// idleGiveUp is how long a program must have been at rest to be given up. Chromium sleeps
// between what its page did and telling of it.
const idleGiveUp = EffectCeiling

// replyReserve is what is left of a call's time to say what was seen.
const replyReserve = time.Second

// A Patience is how long a program is waited for: as long as usual, and then until it has been
// at rest for a while, because on a busy computer it is only slower.
type AdaptiveWait struct {
	view            *View
	within          time.Duration
	begun, lastLook time.Time
	isIdle          bool          // at the last look
	idleTime        time.Duration // how long it was at rest whenever it was looked at
}

// NewAdaptiveWait begins to wait for the program, for as long as usual or longer.
func (v *View) NewAdaptiveWait(within time.Duration) *AdaptiveWait {
	return &AdaptiveWait{view: v, within: within, begun: time.Now()}
}

// isOver reports whether the program is waited for no longer. It is asked again and again.
func (p *AdaptiveWait) isOver(ctx context.Context) bool {
	now, events := time.Now(), p.view.Backend.Events
	since := now.Sub(p.begun)
	if events == nil || p.view.NoTree {
		return since > p.within
	}
	if since < p.within-idleGiveUp || now.Sub(p.lastLook) < watch.PollInterval/2 {
		return false
	}
	gap := now.Sub(p.lastLook)
	p.lastLook = now
	rests := events.IsIdle(p.view.App)
	if !rests || !p.isIdle {
		p.idleTime = 0
	} else { // what it did in a longer time, in which we did not look, nobody knows
		p.idleTime += min(gap, 2*watch.PollInterval)
	}
	p.isIdle = rests
	ends, bounded := ctx.Deadline()
	if since > busyTimes*p.within || bounded && since > p.within && ends.Sub(now) < replyReserve {
		return true
	}
	return since > p.within && p.isIdle && p.idleTime >= min(p.within, idleGiveUp)-3*watch.PollInterval/2
}

// AwaitChange waits until something happens in the program, or for a moment, and reports false
// if the program is waited for no longer.
func (p *AdaptiveWait) AwaitChange(ctx context.Context) bool {
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
	if p.view.Backend.Events != nil {
		// What happened before the watch began is seen by looking now and then.
		if told, err := p.view.Backend.Events.Watch(waiting, p.view.App); err == nil {
			events = told
		}
	}
	select {
	case <-events:
	case <-waiting.Done():
	}
	return ctx.Err() == nil
}

// PollUntil looks at the program again and again until the look says that it is so, and reports
// whether it ever did.
func (v *View) PollUntil(ctx context.Context, within time.Duration, look func() (bool, error)) (bool, error) {
	for p := v.NewAdaptiveWait(within); ; {
		over := p.isOver(ctx)
		if so, err := look(); so || over || err != nil {
			return so && err == nil, err
		}
		if err := aai.Sleep(ctx, watch.PollInterval/10); err != nil {
			return false, err
		}
	}
}
