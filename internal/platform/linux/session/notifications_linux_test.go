package session_test

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestWatchNotifications: notifications of commands, and those to the portal, are reported with the processes and the names
// of their senders.
func TestWatchNotifications(t *testing.T) {
	bus := testkit.StartBus(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	shown, ended := make(chan desktop.Notification, 10), make(chan error, 1)
	getenv := func(name string) string {
		if name == "DBUS_SESSION_BUS_ADDRESS" {
			return bus.Address
		}
		return ""
	}
	go func() { ended <- session.WatchNotifications(ctx, getenv, func(n desktop.Notification) { shown <- n }) }()
	send := func(args ...string) desktop.Notification {
		t.Helper()
		for late := time.After(20 * time.Second); ; { // until the monitor listens
			cmd := exec.CommandContext(ctx, "gdbus", append([]string{"call", "--address", bus.Address, "--timeout", "1"}, args...)...)
			_ = cmd.Run() // there is no service
			select {
			case n := <-shown:
				return n
			case <-time.After(100 * time.Millisecond):
			case <-late:
				t.Fatal("no notification was reported")
			}
		}
	}
	n := send("--dest", "org.freedesktop.Notifications", "--object-path", "/org/freedesktop/Notifications", "--method", "org.freedesktop.Notifications.Notify",
		"backup", "uint32 0", "", "Done", "All files", "@as []", "@a{sv} {'urgency': <byte 1>, 'desktop-entry': <'org.example.Backup'>}", "int32 1000")
	assert.Check(t, is.Equal(n.Title, "Done"), "%+v", n)
	assert.Check(t, is.Equal(n.Text, "All files"), "%+v", n)
	assert.Check(t, slices.Equal(n.Claims, []string{"org.example.Backup", "backup"}), "the sender names itself %q", n.Claims)
	if len(n.Processes) > 0 && !slices.Contains(n.Processes, os.Getpid()) { // empty if the command has ended
		t.Errorf("the processes are %v", n.Processes)
	}
	n = send("--dest", "org.freedesktop.portal.Desktop", "--object-path", "/org/freedesktop/portal/desktop", "--method", "org.freedesktop.portal.Notification.AddNotification",
		"id", "@a{sv} {'title': <'Mail'>, 'body': <'From Ada'>, 'priority': <'high'>}")
	assert.Check(t, is.Equal(n.Title, "Mail"), "%+v", n)
	assert.Check(t, is.Equal(n.Text, "From Ada"), "%+v", n)
	stop()
	<-ended
}
