package operate

import (
	"context"
	"time"

	"aai"
	"aai/internal/ax/watch"
	"aai/internal/desktop"
)

// busyTimes is how many times longer than usual a program is waited for that never comes to
// rest: one may play a film meanwhile.
const busyTimes = 10

// restsFor is how long a program must have been at rest to be given up. Chromium sleeps
// between what its page did and telling of it.
const restsFor = EffectCeiling

// timeToTell is what is left of a call's time to say what was seen.
const timeToTell = time.Second

// A Patience is how long a program is waited for: as long as usual, and then until it has been
// at rest for a while, because on a busy computer it is only slower.
type Patience struct {
	view          *View
	within        time.Duration
	begun, looked time.Time
	rests         bool          // at the last look
	rested        time.Duration // how long it was at rest whenever it was looked at
}

// Patience begins to wait for the program, for as long as usual or longer.
func (v *View) Patience(within time.Duration) *Patience {
	return &Patience{view: v, within: within, begun: time.Now()}
}

// over reports whether the program is waited for no longer. It is asked again and again.
func (p *Patience) over(ctx context.Context) bool {
	now, events := time.Now(), p.view.Backend.Events
	since := now.Sub(p.begun)
	if events == nil || p.view.Blind {
		return since > p.within
	}
	if since < p.within-restsFor || now.Sub(p.looked) < watch.LookAgain/2 {
		return false
	}
	gap := now.Sub(p.looked)
	p.looked = now
	rests := events.Idle(p.view.App)
	if !rests || !p.rests {
		p.rested = 0
	} else { // what it did in a longer time, in which we did not look, nobody knows
		p.rested += min(gap, 2*watch.LookAgain)
	}
	p.rests = rests
	ends, bounded := ctx.Deadline()
	if since > busyTimes*p.within || bounded && since > p.within && ends.Sub(now) < timeToTell {
		return true
	}
	return since > p.within && p.rests && p.rested >= min(p.within, restsFor)-3*watch.LookAgain/2
}

// Changed waits until something happens in the program, or for a moment, and reports false
// if the program is waited for no longer.
func (p *Patience) Changed(ctx context.Context) bool {
	if p.over(ctx) {
		return false
	}
	soon := time.Now().Add(watch.LookAgain)
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

// Until looks at the program again and again until the look says that it is so, and reports
// whether it ever did.
func (v *View) Until(ctx context.Context, within time.Duration, look func() (bool, error)) (bool, error) {
	for p := v.Patience(within); ; {
		over := p.over(ctx)
		if so, err := look(); so || over || err != nil {
			return so && err == nil, err
		}
		if err := aai.Pause(ctx, watch.LookAgain/10); err != nil {
			return false, err
		}
	}
}
