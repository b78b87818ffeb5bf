package linuxtest

import (
	"syscall"
	"testing"

	"github.com/godbus/dbus/v5"
)

// Names of at-spi2-core: bus/at-spi-bus-launcher.c.
const (
	a11yName   = "org.a11y.Bus"
	a11yPath   = "/org/a11y/bus"
	a11yStatus = "org.a11y.Status"
)

// EnableAccessibility enables accessibility on the session bus (org.a11y.Status.IsEnabled). Call it before starting
// programs: Qt and Chromium check it once, at their start.
func (s *Session) EnableAccessibility(t testing.TB) {
	t.Helper()
	s.accessible = true
	conn := s.connect(t)
	defer func() { _ = conn.Close() }()
	if err := conn.Object(a11yName, a11yPath).SetProperty(a11yStatus+".IsEnabled", dbus.MakeVariant(true)); err != nil {
		t.Fatalf("accessibility cannot be switched on: %v", err)
	}
}

// A11yAddress returns the address of the accessibility bus, and starts the bus if necessary.
func (s *Session) A11yAddress(t testing.TB) string {
	t.Helper()
	conn := s.connect(t)
	defer func() { _ = conn.Close() }()
	var address string
	if err := conn.Object(a11yName, a11yPath).Call(a11yName+".GetAddress", 0).Store(&address); err != nil {
		t.Fatalf("the accessibility bus has no address: %v", err)
	}
	return address
}

// StopA11y kills the accessibility bus and its registry. The session bus starts new ones at the next query
// for the address.
func (s *Session) StopA11y(t testing.TB) {
	t.Helper()
	conn := s.connect(t)
	defer func() { _ = conn.Close() }()
	var launcher int
	if err := conn.BusObject().Call("org.freedesktop.DBus.GetConnectionUnixProcessID", 0, a11yName).Store(&launcher); err != nil {
		t.Fatalf("there is no accessibility bus: %v", err)
	}
	// The bus itself is a child of the launcher, which does not report its process ID.
	bus, err := dbus.Connect(s.A11yAddress(t))
	if err != nil {
		t.Fatalf("the accessibility bus does not answer: %v", err)
	}
	defer func() { _ = bus.Close() }()
	var daemon int
	if err := bus.BusObject().Call("org.freedesktop.DBus.GetConnectionUnixProcessID", 0, "org.freedesktop.DBus").Store(&daemon); err != nil {
		t.Fatalf("the accessibility bus does not say which process it is: %v", err)
	}
	for _, pid := range []int{launcher, daemon} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the accessibility bus is gone", func() bool { return bus.Context().Err() != nil })
	s.awaitNoOwner(t, conn)
}

// RestartA11y is StopA11y followed by the start of another accessibility bus, with the setting of
// EnableAccessibility. Running programs do not find it by themselves.
func (s *Session) RestartA11y(t testing.TB) {
	t.Helper()
	s.StopA11y(t)
	s.A11yAddress(t)
	if s.accessible {
		s.EnableAccessibility(t)
	}
}

// StopBus kills the session bus and all connections to it.
func (s *Session) StopBus() { s.bus.Stop() }

// RestartBus kills the session bus and starts another at the same address.
func (s *Session) RestartBus(t testing.TB) {
	t.Helper()
	s.bus.Restart(t)
}

func (s *Session) connect(t testing.TB) *dbus.Conn {
	t.Helper()
	conn, err := dbus.Connect(s.Address)
	if err != nil {
		t.Fatalf("the session bus does not answer: %v", err)
	}
	return conn
}

// awaitNoOwner waits until the bus has noticed the launcher's end.
func (s *Session) awaitNoOwner(t testing.TB, conn *dbus.Conn) {
	t.Helper()
	eventually(t, "the session bus notices that the accessibility bus is gone", func() bool {
		var owned bool
		err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, a11yName).Store(&owned)
		return err == nil && !owned
	})
}
