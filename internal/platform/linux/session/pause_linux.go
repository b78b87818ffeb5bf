package session

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// pauseAge is the time for which a PauseChecker keeps its result. A slow check is kept for
// pauseShare times its duration, so that a service that hangs delays few actions.
const (
	pauseAge   = time.Second
	pauseShare = 10
)

// pausePatience limits one check. A service that does not answer in time does not pause actions.
const pausePatience = 500 * time.Millisecond

// A PauseChecker finds reasons for which the person cannot see the screen, so that actions on
// windows must wait. It is safe for concurrent use.
type PauseChecker struct {
	Detector *Detector
	// Screen returns the window system's reason why the person cannot see the windows, or ""; nil if
	// that is unknown.
	Screen func(ctx context.Context) string

	mu     sync.Mutex
	reason string
	until  time.Time // until when reason is kept
}

// Reason returns the reason why actions on windows pause, as a clause such as "the screen is
// locked", or "". The result may be a second old, or five if a service does not answer.
func (p *PauseChecker) Reason(ctx context.Context) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	began := time.Now()
	if began.Before(p.until) {
		return p.reason
	}
	ctx, cancel := context.WithTimeout(ctx, pausePatience)
	defer cancel()
	p.reason = p.look(ctx)
	now := time.Now()
	p.until = now.Add(max(pauseAge, pauseShare*now.Sub(began)))
	return p.reason
}

// look asks all services at the same time, because they delay the action.
func (p *PauseChecker) look(ctx context.Context) string {
	checks := []func() string{
		func() string { return reasonIf(p.Detector.Locked(ctx), "the screen is locked") },
		func() string { return reasonIf(p.Detector.preparesForSleep(ctx), "the computer is about to sleep") },
	}
	if p.Screen != nil {
		checks = append(checks, func() string { return p.Screen(ctx) })
	}
	reasons := make([]string, len(checks))
	var group sync.WaitGroup
	for i, check := range checks {
		group.Go(func() { reasons[i] = check() })
	}
	group.Wait()
	return cmp.Or(reasons...)
}

func reasonIf(holds bool, reason string) string {
	if holds {
		return reason
	}
	return ""
}

// preparesForSleep reports whether login1 is about to suspend the computer, or has just woken it.
func (r *Detector) preparesForSleep(ctx context.Context) bool {
	if r.isPrivate() {
		return false
	}
	s, err := dialSystemd(ctx, wire.SystemAddress(r.cfg.Getenv), loginService)
	if err != nil {
		return false
	}
	defer s.conn.Close()
	e := wire.Encoder{}
	e.Str(loginManager)
	e.Str("PreparingForSleep")
	d, err := s.ask(ctx, loginPath, properties, "Get", "ss", e.Bytes(), "v")
	return err == nil && d.Variant() == "b" && d.Bool() && d.Err() == nil
}

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
