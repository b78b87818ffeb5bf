package session

import (
	"context"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// screenSavers are what desktops call the service that locks their screen: its name, its
// object and its interface.
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

// Locked reports whether somebody says that the person's screen is locked: login1 of a
// session of theirs on it, or the desktop's service for that. It asks anew each time, until
// the context ends, and starts nobody. Whoever cannot be asked says nothing.
func (r *Detector) Locked(ctx context.Context) bool {
	return !r.isPrivate() && r.loginLocked(ctx) || r.saverActive(ctx)
}

// loginLocked asks login1.
func (r *Detector) loginLocked(ctx context.Context) bool {
	// What has come when the time is up counts.
	found, _ := askLogin1(ctx, wire.SystemAddress(r.cfg.Getenv))
	display := r.Getenv(displayName)
	for _, l := range found.all {
		if l.locked && !l.Remote && l.graphical() && (l.display == "" || display == "" || l.display == display) {
			return true
		}
	}
	return false
}

// saverActive asks what locks the screen, on the session's bus.
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
