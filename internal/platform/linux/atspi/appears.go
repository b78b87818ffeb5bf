package atspi

import (
	"context"
	"errors"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// WatchApps calls changed once it listens, and whenever a program connects to the accessibility bus or leaves it, until
// ctx or the connection ends. changed must not block.
func (b *Bus) WatchApps(ctx context.Context, changed func()) error {
	address, err := b.accessibility(ctx)
	if err != nil {
		return err
	}
	conn, err := dialBus(ctx, address, func(m *wire.Message) {
		if m.Sender == wire.BusName && m.Member == "NameOwnerChanged" {
			changed()
		}
	})
	if err != nil {
		return noBus("the accessibility bus cannot be reached", err)
	}
	defer conn.Close()
	answer, err := conn.CallBus(ctx, "AddMatch", "type='signal',sender='"+wire.BusName+"',interface='"+wire.BusInterface+"',member='NameOwnerChanged'")
	if err == nil && answer.Kind == wire.KindError {
		err = replyError(answer)
	}
	if err != nil {
		return noBus("the accessibility bus does not report programs", err)
	}
	changed()
	select {
	case <-conn.Done():
		return noBus("the accessibility bus has ended", errors.New("connection lost"))
	case <-ctx.Done():
		return ctx.Err()
	}
}
