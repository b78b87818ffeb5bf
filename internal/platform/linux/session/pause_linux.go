package session

import (
	"context"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// pauseAge is the time for which a PauseChecker keeps its result.
const pauseAge = time.Second

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
	at     time.Time
}

// Reason returns the reason why actions on windows pause, as a clause such as "the screen is
// locked", or "". The result may be a second old.
func (p *PauseChecker) Reason(ctx context.Context) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.at.IsZero() && time.Since(p.at) < pauseAge {
		return p.reason
	}
	ctx, cancel := context.WithTimeout(ctx, pausePatience)
	defer cancel()
	p.reason = p.look(ctx)
	p.at = time.Now()
	return p.reason
}

func (p *PauseChecker) look(ctx context.Context) string {
	switch {
	case p.Detector.Locked(ctx):
		return "the screen is locked"
	case p.Detector.preparesForSleep(ctx):
		return "the computer is about to sleep"
	case p.Screen != nil:
		return p.Screen(ctx)
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
