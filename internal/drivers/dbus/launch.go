package dbus

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

const (
	// namePollInterval is the interval of checks for the name of a started app.
	namePollInterval = 50 * time.Millisecond
	// exitGrace is the time to wait for the name after the started process has ended, because
	// another process may have taken over its work.
	exitGrace = 2 * time.Second
)

// launch starts the target's app, which the bus cannot start, and waits until the app owns its
// name on the bus.
func (t *target) launch(ctx context.Context, l *busLink) *failure {
	runs, err := t.start(ctx)
	if err != nil {
		e := aai.Errorf(aai.AppNotRunning, "%s is not running, and cannot be started: %s", t.service,
			aai.AsError(err).Message)
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
				return &failure{err: t.goneError("it was started, and ended before it connected to the bus")}
			}
		}
		if t.bus.sleep(ctx, namePollInterval) != nil {
			e := aai.Errorf(aai.Timeout, "%s was started, but had not connected to the %s bus at the deadline",
				t.service, t.bus.name)
			e.Err = ctx.Err()
			return (&failure{err: e}).undelivered()
		}
	}
}
