package session

import (
	"context"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// screenSavers returns the name, object and interface of each desktop's service for the
// screen lock.
func screenSavers() [][3]string {
	return [][3]string{
		{"org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver", "org.freedesktop.ScreenSaver"},
		{"org.freedesktop.ScreenSaver", "/ScreenSaver", "org.freedesktop.ScreenSaver"},
		{"org.gnome.ScreenSaver", "/org/gnome/ScreenSaver", "org.gnome.ScreenSaver"},
		{"org.cinnamon.ScreenSaver", "/org/cinnamon/ScreenSaver", "org.cinnamon.ScreenSaver"},
		{"org.mate.ScreenSaver", "/org/mate/ScreenSaver", "org.mate.ScreenSaver"},
		{"org.xfce.ScreenSaver", "/org/xfce/ScreenSaver", "org.xfce.ScreenSaver"},
	}
}

// Locked reports whether login1 or the desktop's screen saver service says that the
// person's screen is locked. It queries them each time, until the context ends, and does
// not start them. A service that cannot be queried counts as unlocked.
func (r *Detector) Locked(ctx context.Context) bool {
	return !r.isPrivate() && r.loginLocked(ctx) || r.saverActive(ctx)
}

// loginLocked queries login1.
func (r *Detector) loginLocked(ctx context.Context) bool {
	// A partial result at the deadline counts.
	found, _ := askLogin1(ctx, wire.SystemAddress(r.cfg.Getenv))
	display := r.Getenv(displayName)
	for _, l := range found.all {
		if l.locked && !l.Remote && l.graphical() && (l.display == "" || display == "" || l.display == display) {
			return true
		}
	}
	return false
}

// saverActive queries the screen saver services on the session bus.
func (r *Detector) saverActive(ctx context.Context) bool {
	address := r.Getenv(busName)
	if address == "" {
		return false
	}
	s, err := dialSystemd(ctx, address, "")
	if err != nil {
		return false
	}
	defer s.conn.Close()
	for _, saver := range screenSavers() {
		s.service = saver[0]
		d, err := s.ask(ctx, saver[1], saver[2], "GetActive", "", nil, "b")
		if err == nil && d.Bool() && d.Err() == nil {
			return true
		}
	}
	return false
}
