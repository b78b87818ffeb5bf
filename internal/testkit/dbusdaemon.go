package testkit

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
)

const daemonConfig = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=%s</listen>
  <servicedir>%s</servicedir>%s
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow receive_sender="*"/>
    <allow own="*"/>
    <deny send_interface="org.example.Forbidden"/>
  </policy>
  <limit name="max_replies_per_connection">50000</limit>
</busconfig>
`

// A Bus is a running dbus-daemon. It ends with the test. All methods but Stop and Restart are safe for concurrent
// use. Its policy allows everything except calls of the interface org.example.Forbidden. It allows as many calls in
// flight as the session.conf of the reference implementation.
type Bus struct {
	Address string // such as "unix:path=/tmp/dbus-1/bus"

	folder string
	env    []string // of the daemon and its children; nil means the test's
	daemon *exec.Cmd
}

// StartBus starts a bus, or fails the test if there is no dbus-daemon.
func StartBus(t testing.TB) *Bus {
	t.Helper()
	return startBus(t, nil, "")
}

// StartDesktopBus is StartBus for a session bus of real programs: it can start the services that are
// installed on this computer. The daemon and its children have only the environment env; the daemon adds
// the address of the bus.
func StartDesktopBus(t testing.TB, env []string) *Bus {
	t.Helper()
	return startBus(t, env, "\n  <standard_session_servicedirs/>")
}

func startBus(t testing.TB, env []string, moreServices string) *Bus {
	t.Helper()
	Need(t, "dbus-daemon")
	// Not t.TempDir: a socket's path must be short.
	folder, err := os.MkdirTemp("", "dbus-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	b := &Bus{Address: "unix:path=" + filepath.Join(folder, "bus"), folder: folder, env: env}
	services := filepath.Join(folder, "services")
	if err := os.Mkdir(services, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(daemonConfig, filepath.Join(folder, "bus"), services, moreServices)
	if err := os.WriteFile(b.configFile(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(t)
	t.Cleanup(b.Stop)
	return b
}

func (b *Bus) configFile() string { return filepath.Join(b.folder, "bus.conf") }

// run starts the daemon and waits until it listens, which is when it prints its address. Its output goes to
// a file because children inherit it: a pipe would fill up, or stay open as long as one of them lives.
func (b *Bus) run(t testing.TB) {
	t.Helper()
	address, printed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = address.Close() }()
	log, err := os.OpenFile(b.logFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	// The daemon outlives the test's context: other cleanups still need it.
	ctx := context.WithoutCancel(t.Context())
	daemon := exec.CommandContext(ctx, "dbus-daemon", "--config-file="+b.configFile(), "--nofork", "--print-address=3")
	daemon.Env = b.env
	daemon.Stdout, daemon.Stderr, daemon.ExtraFiles = log, log, []*os.File{printed}
	err = daemon.Start()
	_ = printed.Close()
	if err != nil {
		t.Fatal(err)
	}
	b.daemon = daemon
	if _, err := bufio.NewReader(address).ReadString('\n'); err != nil {
		b.Stop()
		t.Fatalf("dbus-daemon did not start: %v\n%s", err, b.Log())
	}
}

func (b *Bus) logFile() string { return filepath.Join(b.folder, "log") }

// Log returns the output of the daemon and its children so far.
func (b *Bus) Log() string {
	text, err := os.ReadFile(b.logFile())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Stop kills the daemon and with it all connections.
func (b *Bus) Stop() {
	if b.daemon == nil {
		return
	}
	_ = b.daemon.Process.Kill()
	_ = b.daemon.Wait()
	b.daemon = nil
	_ = os.Remove(filepath.Join(b.folder, "bus"))
}

// Restart stops the daemon, if it runs, and starts another at the same address.
func (b *Bus) Restart(t testing.TB) {
	t.Helper()
	b.Stop()
	b.run(t)
}

// Connect makes a connection that ends with the test.
func (b *Bus) Connect(t testing.TB, options ...dbus.ConnOption) *dbus.Conn {
	t.Helper()
	c, err := dbus.Connect(b.Address, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// MonitorMessages delivers all further messages of the connection to a channel with a buffer of the given
// size, and answers none of them. It ends, and closes the channel, before the test's earlier cleanups:
// closing the connection while it runs would panic at the next message.
func MonitorMessages(t testing.TB, conn *dbus.Conn, messages int) <-chan *dbus.Message {
	t.Helper()
	heard := make(chan *dbus.Message, messages)
	conn.Eavesdrop(heard)
	t.Cleanup(func() {
		conn.Eavesdrop(nil) // no messages are sent from here on
		close(heard)
	})
	return heard
}

// AddService lets the bus start the command at the first call to the name.
func (b *Bus) AddService(t testing.TB, name string, command ...string) {
	t.Helper()
	text := "[D-BUS Service]\nName=" + name + "\nExec=" + strings.Join(command, " ") + "\n"
	file := filepath.Join(b.folder, "services", name+".service")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := b.Connect(t)
	if err := c.BusObject().Call("org.freedesktop.DBus.ReloadConfig", 0).Err; err != nil {
		t.Fatal(err)
	}
}

// Getenv looks up environment variables, of which only the address of this bus as the session bus is set.
func (b *Bus) Getenv(name string) string {
	if name == "DBUS_SESSION_BUS_ADDRESS" {
		return b.Address
	}
	return ""
}
