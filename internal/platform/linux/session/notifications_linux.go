package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// The interfaces of the Desktop Notifications Specification, and of the portal for apps in a sandbox.
const (
	notifications       = "org.freedesktop.Notifications"
	portalNotifications = "org.freedesktop.portal.Notification"
	// waitingNotifications is how many notifications may wait for the process of their sender to be looked up.
	waitingNotifications = 64
)

// WatchNotifications calls shown for each notification that a program sends to the desktop's notification service, until
// ctx or the connection ends. It listens as a monitor of the session bus, so the service and its replies are unchanged.
func WatchNotifications(ctx context.Context, getenv func(string) string, shown func(desktop.Notification)) error {
	address, err := wire.SessionAddress(getenv)
	if err != nil {
		return err
	}
	names, err := wire.Dial(ctx, address, wire.Options{})
	if err != nil {
		return err
	}
	defer names.Close()
	if _, err := names.Hello(ctx); err != nil {
		return err
	}
	calls := make(chan *wire.Message, waitingNotifications)
	monitor, err := wire.Dial(ctx, address, wire.Options{IsMonitor: true, OnCall: func(m *wire.Message) bool {
		select {
		case calls <- m:
		default: // a flood
		}
		return true
	}})
	if err != nil {
		return err
	}
	defer monitor.Close()
	if _, err := monitor.Hello(ctx); err != nil {
		return err
	}
	if err := becomeMonitor(ctx, monitor); err != nil {
		return err
	}
	for {
		select {
		case m := <-calls:
			if n, ok := readNotification(m); ok {
				n.Processes = withParents(processOf(ctx, names, m.Sender))
				shown(n)
			}
		case <-monitor.Done():
			return errors.New("the session bus has ended the connection")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// becomeMonitor makes the bus pass all notifications to the connection too.
func becomeMonitor(ctx context.Context, conn *wire.Conn) error {
	e := wire.Encoder{}
	err := e.Array(4, func() error {
		e.Str("type='method_call',interface='" + notifications + "',member='Notify'")
		e.Str("type='method_call',interface='" + portalNotifications + "',member='AddNotification'")
		return nil
	})
	if err != nil {
		return err
	}
	e.U32(0)
	answer, err := conn.Call(ctx, &wire.Message{
		Destination: wire.BusName, Path: wire.BusPath, Interface: "org.freedesktop.DBus.Monitoring", Member: "BecomeMonitor", Signature: "asu", Body: e.Bytes(),
	})
	if err == nil && answer.Kind == wire.KindError {
		err = fmt.Errorf("the session bus refuses a monitor: %s", aai.CleanLabel(answer.ErrorName, 100))
	}
	return err
}

// readNotification reads a notification from a call.
func readNotification(m *wire.Message) (n desktop.Notification, ok bool) {
	d := m.Decoder()
	switch {
	case m.Interface == notifications && m.Member == "Notify" && m.Signature == "susssasa{sv}i":
		n.Claims = append(n.Claims, d.Str())
		d.U32()
		d.Str()
		n.Title, n.Text = d.Str(), d.Str()
		d.Skip("as")
		if entry := textMembers(d)["desktop-entry"]; entry != "" {
			n.Claims = append([]string{entry}, n.Claims...)
		}
	case m.Interface == portalNotifications && m.Member == "AddNotification" && m.Signature == "sa{sv}":
		d.Str()
		texts := textMembers(d)
		n.Title, n.Text = texts["title"], texts["body"]
	default:
		return n, false
	}
	n.At = time.Now()
	return n, d.Err() == nil
}

// textMembers reads a dictionary, and returns its texts.
func textMembers(d *wire.Decoder) map[string]string {
	texts := map[string]string{}
	d.Array(8, func() {
		d.Struct()
		name := d.Str()
		if kind := d.Variant(); kind == "s" {
			texts[name] = d.Str()
		} else {
			d.Skip(kind)
		}
	})
	return texts
}

// withParents returns the process, its parent, and so on, except for the first process of the system.
func withParents(pid int) (all []int) {
	for ; pid > 1 && len(all) < maxGenerations; pid, _ = parentAndSession(pid) {
		all = append(all, pid)
	}
	return all
}

// processOf returns the process of a connection; 0 if it has ended.
func processOf(ctx context.Context, conn *wire.Conn, unique string) int {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	answer, err := conn.CallBus(ctx, "GetConnectionUnixProcessID", unique)
	if err != nil || answer.Kind == wire.KindError {
		return 0
	}
	d := answer.Decoder()
	pid := int(d.U32())
	if d.Err() != nil {
		return 0
	}
	return pid
}
