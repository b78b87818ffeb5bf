package private

import (
	"context"
	"fmt"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// enableAccessibility starts the accessibility bus, and sets org.a11y.Status.IsEnabled: Qt and
// Chromium check it only when they start. Names of at-spi2-core, bus/at-spi-bus-launcher.c.
func (s *Session) enableAccessibility(ctx context.Context) error {
	conn, err := wire.Dial(ctx, s.Getenv("DBUS_SESSION_BUS_ADDRESS"), wire.Options{})
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Hello(ctx); err != nil {
		return err
	}
	e := wire.Encoder{}
	e.Str("org.a11y.Status")
	e.Str("IsEnabled")
	e.Signature("b")
	e.Bool(true)
	reply, err := conn.Call(ctx, &wire.Message{Destination: "org.a11y.Bus", Path: "/org/a11y/bus",
		Interface: "org.freedesktop.DBus.Properties", Member: "Set", Signature: "ssv", Body: e.Bytes()})
	if err == nil && reply.Kind == wire.KindError {
		err = fmt.Errorf("the bus answers %s: %s", reply.ErrorName, reply.Decoder().Str())
	}
	return err
}
