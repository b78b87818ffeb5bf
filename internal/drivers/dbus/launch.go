package dbus

import (
	"context"
	"time"

	"aai"
	"aai/internal/dbuswire"
)

const (
	// lookAgain is how often a bus is asked for the name of an app that was started.
	lookAgain = 50 * time.Millisecond
	// endPatience is how long the name is waited for after the process that was started has
	// ended: another one may have taken its work over.
	endPatience = 2 * time.Second
)

// launch starts the target's app, which the bus cannot start, and waits until it has its
// name on the bus.
func (t *target) launch(ctx context.Context, l *link) *failure {
	runs, err := t.start(ctx)
	if err != nil {
		e := aai.Errorf(aai.AppNotRunning, "%s is not running, and cannot be started: %s", t.service, aai.AsError(err).Message)
		e.Hint = "Start the app, then try again."
		e.Err = err
		return (&failure{err: e}).undelivered()
	}
	for ended := time.Duration(0); ; {
		answer, err := l.Ask(ctx, "GetNameOwner", t.service)
		switch {
		case err != nil:
			return t.lost(err).undelivered()
		case answer.Kind != dbuswire.KindError:
			return nil
		case !runs():
			if ended += lookAgain; ended > endPatience {
				return &failure{err: t.gone("it was started, and ended without coming to the bus")}
			}
		}
		if t.bus.sleep(ctx, lookAgain) != nil {
			e := aai.Errorf(aai.Timeout, "%s was started and has not come to the %s bus by the deadline", t.service, t.bus.name)
			e.Err = ctx.Err()
			return (&failure{err: e}).undelivered()
		}
	}
}
