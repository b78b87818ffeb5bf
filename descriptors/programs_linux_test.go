package descriptors_test

import (
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/descriptors"
)

// Debian's paths of the daemons to start by hand.
const (
	hostnamed = "/lib/systemd/systemd-hostnamed"
	upowerd   = "/usr/libexec/upowerd"
)

// cases returns functions that call all tools of an app and verify their effects, by app.
func cases() map[string]func(*world) {
	return map[string]func(*world){
		"io.mpv.Mpv":                    checkMpv,
		"org.a11y.Bus":                  checkAccessibility,
		"org.dunstproject.dunst":        checkDunst,
		"org.freedesktop.DBus":          checkSessionBus,
		"org.freedesktop.Notifications": checkNotifications,
		"org.freedesktop.UPower":        checkUPower,
		"org.freedesktop.hostname1":     checkHostname,
		"org.gnome.Calculator":          checkCalculator,
		"org.gtk.vfs.Daemon":            checkGVfs,
		"org.xfce.Thunar":               checkThunar,
		"org.xfce.Tumbler":              checkTumbler,
		"org.xfce.Xfconf":               checkXfconf,
		"org.xfce.mousepad":             checkMousepad,
	}
}

// Every tool of every descriptor works with the real program. An app without a case fails, and so
// does a tool without a successful call in a case.
func TestRealPrograms(t *testing.T) {
	for _, id := range descriptors.IDs() {
		if more, check := optionalCases()[id], cases()[id]; more.check == nil {
			t.Run(id, func(t *testing.T) {
				assert.Assert(t, check != nil, "there is no case for this app")
				checkApp(t, id, check)
			})
		}
	}
}

// checkApp runs the case of an app.
func checkApp(t *testing.T, id string, check func(*world)) {
	w := newWorld(t, installed(t))
	check(w)
	succeeded := w.journal.succeeded(id)
	for _, tool := range toolNames(parse(t, id).App) {
		assert.Check(t, succeeded[tool], "there is no case in which %s succeeds", tool)
	}
}

// needPrograms fails the test if one of the programs is not installed.
func needPrograms(t testing.TB) {
	t.Helper()
	files := []string{
		"/usr/bin/Xvfb", "/usr/bin/dbus-daemon", "/usr/bin/gdbus", "/usr/bin/gio", "/usr/bin/xdotool", "/usr/bin/playerctl",
		"/usr/bin/gnome-calculator", "/usr/bin/dunst", "/usr/bin/dunstctl", "/usr/bin/busctl", "/usr/bin/thunar",
		"/usr/bin/mpv", "/etc/mpv/scripts/mpris.so", "/usr/bin/xfconf-query", "/usr/bin/mousepad", "/usr/bin/upower",
		services + "org.a11y.Bus.service", services + "org.gtk.vfs.Daemon.service", "/usr/share/gvfs/mounts/trash.mount",
		services + "org.xfce.Tumbler.Thumbnailer1.service", services + "org.xfce.Xfconf.service", hostnamed, upowerd,
	}
	for _, name := range preferred() {
		files = append(files, services+name)
	}
	var missing []string
	for _, name := range files {
		if _, err := os.Stat(name); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return
	}
	t.Fatalf("missing: %s\n`make test` installs what is needed, as does (on Debian 12):\n  apt-get install -y --no-install-recommends %s",
		strings.Join(missing, ", "), strings.Join(packages(t), " "))
}
