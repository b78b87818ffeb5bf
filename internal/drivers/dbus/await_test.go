package dbus

import (
	"testing"
	"time"

	godbus "github.com/godbus/dbus/v5"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

func request(t *testing.T, s *testkit.BusService, name string) {
	t.Helper()
	if reply, err := s.Conn.RequestName(name, godbus.NameFlagDoNotQueue); err != nil || reply != godbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("requesting %s: %v %v", name, reply, err)
	}
}

func release(t *testing.T, s *testkit.BusService, name string) {
	t.Helper()
	if _, err := s.Conn.ReleaseName(name); err != nil {
		t.Fatal(err)
	}
}

// await waits until the condition holds.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx := soon(t)
	for !condition() {
		if aai.Sleep(ctx, time.Millisecond) != nil {
			t.Fatalf("waited in vain for: %s", what)
		}
	}
}

// settled waits until the driver has processed the bus's name signals.
func settled(t *testing.T, d *Driver, condition func(*nameTable) bool) {
	t.Helper()
	l, err := d.session.connect(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the news of a name", func() bool {
		l.names.mu.Lock()
		defer l.names.mu.Unlock()
		return condition(l.names)
	})
}

// gone waits until the name has no owner.
func gone(t *testing.T, b *testkit.Bus, name string) {
	t.Helper()
	c := b.Connect(t)
	await(t, name+" to leave the bus", func() bool { return !hasOwner(t, c, name) })
}

func hasOwner(t *testing.T, c *godbus.Conn, name string) bool {
	t.Helper()
	var owned bool
	if err := c.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, name).Store(&owned); err != nil {
		t.Fatal(err)
	}
	return owned
}
