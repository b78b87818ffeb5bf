package dbus

import (
	"testing"
	"time"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

func request(t *testing.T, s *testkit.BusService, name string) {
	t.Helper()
	reply, err := s.Conn.RequestName(name, godbus.NameFlagDoNotQueue)
	assert.NilError(t, err, name)
	assert.Equal(t, reply, godbus.RequestNameReplyPrimaryOwner, name)
}

func release(t *testing.T, s *testkit.BusService, name string) {
	t.Helper()
	_, err := s.Conn.ReleaseName(name)
	assert.NilError(t, err)
}

// await waits until the condition holds.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx := soon(t)
	for !condition() {
		assert.NilError(t, aai.Sleep(ctx, time.Millisecond), "waited in vain for: %s", what)
	}
}

// settled waits until the driver has processed the bus's name signals.
func settled(t *testing.T, d *Driver, condition func(*nameTable) bool) {
	t.Helper()
	l, err := d.session.connect(soon(t))
	assert.NilError(t, err)
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
	assert.NilError(t, c.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, name).Store(&owned))
	return owned
}
