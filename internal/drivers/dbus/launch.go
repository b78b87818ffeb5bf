package dbus

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

const (
	// namePollInterval is how often a bus is asked for the name of an app that was started.
	namePollInterval = 50 * time.Millisecond
	// exitGrace is how long the name is waited for after the process that was started has
	// ended: another one may have taken its work over.
	exitGrace = 2 * time.Second
)

// launch starts the target's app, which the bus cannot start, and waits until it has its
// name on the bus.
func (t *target) launch(ctx context.Context, l *busLink) *failure {
	runs, err := t.start(ctx)
	if err != nil {
		e := aai.Errorf(aai.AppNotRunning, "%s is not running, and cannot be started: %s", t.service, aai.AsError(err).Message)
		e.Hint = "Start the app, then try again."
		e.Err = err
		return (&failure{err: e}).undelivered()
	}
	for ended := time.Duration(0); ; {
		answer, err := l.CallBus(ctx, "GetNameOwner", t.service)
		switch {
		case err != nil:
			return t.lostFailure(err).undelivered()
		case answer.Kind != wire.KindError:
			return nil
		case !runs():
			if ended += namePollInterval; ended > exitGrace {
				return &failure{err: t.goneError("it was started, and ended without coming to the bus")}
			}
		}
		if t.bus.sleep(ctx, namePollInterval) != nil {
			e := aai.Errorf(aai.Timeout, "%s was started and has not come to the %s bus by the deadline", t.service, t.bus.name)
			e.Err = ctx.Err()
			return (&failure{err: e}).undelivered()
		}
	}
}
