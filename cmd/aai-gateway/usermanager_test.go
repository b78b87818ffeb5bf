package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/godbus/dbus/v5"
)

// runUserManager is a double of systemd's user manager, which cannot run in a machine: it has an
// environment, and accepts additions. It runs until it is killed.
func runUserManager() {
	conn, err := dbus.Connect(os.Getenv("DBUS_SESSION_BUS_ADDRESS"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	m := &manager{}
	if display := os.Getenv("DISPLAY"); display != "" {
		m.env = []string{"DISPLAY=" + display}
	}
	for _, iface := range []string{"org.freedesktop.DBus.Properties", "org.freedesktop.systemd1.Manager"} {
		err = errors.Join(err, conn.ExportAll(m, "/org/freedesktop/systemd1", iface))
	}
	if _, taken := conn.RequestName("org.freedesktop.systemd1", 0); errors.Join(err, taken) != nil {
		fmt.Fprintln(os.Stderr, err, taken)
		os.Exit(1)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	<-ended
}

// manager holds the environment.
type manager struct {
	mu  sync.Mutex
	env []string
}

// Get is a method of D-Bus.
func (m *manager) Get(string, string) (dbus.Variant, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return dbus.MakeVariant(slices.Clone(m.env)), nil
}

// SetEnvironment is a method of D-Bus.
func (m *manager) SetEnvironment(more []string) *dbus.Error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, variable := range more {
		name, _, _ := strings.Cut(variable, "=")
		m.env = append(slices.DeleteFunc(m.env, func(v string) bool { return strings.HasPrefix(v, name+"=") }), variable)
	}
	return nil
}
