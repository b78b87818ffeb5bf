package x11

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// A Config configures a Display.
type Config struct {
	// Getenv looks up DISPLAY, XAUTHORITY, HOME and GDK_SCALE. It must be safe for
	// concurrent use, as os.Getenv is.
	Getenv func(string) string
	Log    *slog.Logger // nil drops messages
	// InputLock guards all input. The person's other gateways and the dialogs share it.
	// Without a lock, nil, input fails.
	InputLock *inputlock.Lock
	// ClipServer returns the command of a process that serves clips, as
	// [Display.ServeClip] does, so that they stay when the gateway ends. With nil, the
	// gateway serves them.
	ClipServer func() *exec.Cmd
}

// A Display is a screen with its windows, input and clipboard. It implements
// desktop.Windows, desktop.Screen, desktop.Input and desktop.Clipboard, and is safe for
// concurrent use.
//
// Without an X server all methods fail with AUTOMATION_NOT_SUPPORTED; if the server does
// not answer, with TIMEOUT.
type Display struct {
	config Config
	dial   func(ctx context.Context, getenv func(string) string, onEvent func([]byte)) (*conn, error)
	main   *slot[*server]        // queries, screenshots and the person's seat
	own    *slot[*ownSeat]       // the gateway's own pointer and keyboard: the server gives each connection one pair
	clip   *slot[*clipboardConn] // the clipboard
	memory memory                // shared with the server for screenshots
	keys   keyboard
	// stopChord is the chord of the person's that stops agents; with an empty Key there is none. It is set
	// before the first input.
	stopChord desktop.Chord
	// idleTimer removes the gateway's own seat when it is idle.
	idleTimer pause
	seats     atomic.Uint32 // number of own seats made so far
}

var (
	_ desktop.Windows   = (*Display)(nil)
	_ desktop.Screen    = (*Display)(nil)
	_ desktop.Input     = (*Display)(nil)
	_ desktop.Clipboard = (*Display)(nil)
)

// New returns a display. It does not connect yet.
func New(c Config) *Display {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	d := &Display{
		config: c, dial: dial, main: newSlot[*server](), own: newSlot[*ownSeat](), clip: newSlot[*clipboardConn](),
		memory: newMemory(), keys: newKeyboard(),
	}
	c.InputLock.SetRelease(d.releaseHeld)
	return d
}

// Close restores the X server: it removes the own pointer and keyboard, borrowed keys, and
// the own clip. It waits for a second at most, and for up to three more for programs to
// read the input of the own seat. The display must not be used afterwards.
func (d *Display) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	d.returnKeys(ctx)
	d.idleTimer.stop()
	d.awaitRead(ctx)
	d.own.close(ctx)
	d.clip.close(ctx)
	d.main.close(ctx)
	d.memory.free()
	return nil
}

// server returns the main connection, and connects if necessary.
func (d *Display) server(ctx context.Context) (*server, error) {
	s, err := d.main.get(ctx, func(ctx context.Context) (*server, error) {
		pongs := newPongs()
		s, err := d.connect(ctx, pongs.heard)
		if err == nil {
			s.pongs = pongs
		}
		return s, err
	})
	if err != nil {
		return nil, wrapError("connecting to the screen", err)
	}
	return s, nil
}

// connect opens a new connection.
func (d *Display) connect(ctx context.Context, onEvent func([]byte)) (*server, error) {
	name := d.config.Getenv("DISPLAY")
	if name == "" {
		e := aai.Errorf(aai.AutomationNotSupported, "there is no X11 screen of the person's session here: DISPLAY is not set, and no other was found")
		e.Hint = "Run `aai-gateway check`: it says where the session was looked for, what was found, and what to do."
		e.Delivery = aai.NotDelivered
		return nil, e
	}
	c, err := d.dial(ctx, d.config.Getenv, onEvent)
	if err != nil {
		if isContext(err) {
			return nil, err
		}
		e := aai.Errorf(aai.AutomationNotSupported, "the X11 screen %s cannot be reached: %w", aai.CleanLabel(name, 80), err)
		e.Hint = "Check that the X server runs and that XAUTHORITY names its cookie file."
		e.Delivery = aai.NotDelivered
		return nil, e
	}
	s, err := newServer(ctx, c)
	if err != nil {
		c.lose(err)
		return nil, err
	}
	return s, nil
}

func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// wrapError converts err to an *aai.Error about doing. The error says that nothing was
// changed, so the caller may retry; input methods set their own delivery.
func wrapError(doing string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*aai.Error](err); ok {
		return e
	}
	var e *aai.Error
	switch {
	case errors.Is(err, context.Canceled):
		e = aai.Errorf(aai.AutomationFailed, "%s was cancelled: %w", doing, err)
	case isContext(err):
		e = aai.Errorf(aai.Timeout, "%s: the X server did not answer in time, and nothing was done: %w", doing, err)
		e.Hint = "Try again; if it stays so, the screen's server hangs."
	default:
		e = aai.Errorf(aai.AutomationFailed, "%s: %w", doing, err)
		if errors.Is(err, errLost) {
			e.Hint = "Try again: the next call connects anew, or says that there is no screen."
		}
	}
	e.Delivery = aai.NotDelivered
	return e
}

// windowFailure is wrapError for operations on a window, which may be gone.
func windowFailure(doing string, err error) error {
	if isX(err, badWindow, badDrawable) {
		return windowGone()
	}
	return wrapError(doing, err)
}

func windowGone() error {
	return &aai.Error{
		Code:     aai.AutomationFailed,
		Message:  "the window is not there any more",
		Hint:     "List the windows again.",
		Delivery: aai.NotDelivered,
	}
}

// windowOf returns the window's ID on the X server.
func windowOf(id desktop.WindowID) (xid, error) {
	if id == 0 || id > 1<<29-1 { // the top three bits of an xid are never set
		e := aai.Errorf(aai.InvalidParams, "%d is no window of X11", uint64(id))
		e.Hint = "List the windows again."
		e.Delivery = aai.NotDelivered
		return none, e
	}
	return xid(id), nil
}

// frameLifetime is the time for which a window manager may show the frame of a window that has closed.
const frameLifetime = 100 * time.Millisecond

// PauseReason returns the reason why the person cannot see the windows on this screen, or "". It
// returns "" too if the X server does not answer in time.
func (d *Display) PauseReason(ctx context.Context) string {
	s, err := d.server(ctx)
	if err != nil {
		return ""
	}
	if off, err := s.lacksMonitor(ctx); err == nil && off {
		return "no monitor is connected"
	}
	covered, err := s.isCovered(ctx)
	if err == nil && covered && aai.Sleep(ctx, frameLifetime) == nil {
		covered, err = s.isCovered(ctx)
	}
	if err == nil && covered {
		return "a window without a frame covers the whole screen, as a screen lock does"
	}
	return ""
}

// lacksMonitor reports whether the screen has outputs but no monitor is in use; RandR, "GetMonitors".
func (s *server) lacksMonitor(ctx context.Context) (bool, error) {
	if s.randr == 0 {
		return false, nil
	}
	const getScreenResourcesCurrent, getMonitors = 25, 42
	resources, monitors := query(s.randr, getScreenResourcesCurrent, s.root), query(s.randr, getMonitors, s.root, true, pad(3))
	if err := s.must(ctx, resources, monitors); err != nil {
		return false, err
	}
	r := from(resources.reply, 18)
	outputs := r.u16()
	m := from(monitors.reply, 12)
	return outputs > 0 && m.u32() == 0, nil
}

// isCovered reports whether a window that the window manager does not manage lies above all others,
// covers the whole screen and catches all clicks. Without a window manager it returns false.
func (s *server) isCovered(ctx context.Context) (bool, error) {
	managed, err := s.managed(ctx)
	if err != nil || !managed {
		return false, err
	}
	sc, err := s.look(ctx)
	if err != nil {
		return false, err
	}
	for i, t := range slices.Backward(sc.tops) {
		if !t.shown || len(t.solid) == 0 {
			continue
		}
		if slices.ContainsFunc(sc.clients, func(c client) bool { return c.top == i }) {
			return false, nil
		}
		left := []desktop.Rect{sc.screen}
		for _, solid := range t.solid {
			left = desktop.Subtract(left, solid)
		}
		if len(left) == 0 {
			return true, nil
		}
	}
	return false, nil
}

// closePatience is the time that Close waits for a server that may hang.
const closePatience = time.Second

// A closer is a value in a slot.
type closer interface {
	alive() bool
	shut(ctx context.Context)
}

// A slot holds a value that is created at its first use, and again after it broke.
type slot[T closer] struct {
	lock  chan struct{} // a mutex that supports waiting with a context
	value T
	full  bool
	users atomic.Int64 // the number of current holders
}

func newSlot[T closer]() *slot[T] { return &slot[T]{lock: make(chan struct{}, 1)} }

// get returns the value, and creates it if necessary. After a failure the next call tries again.
func (s *slot[T]) get(ctx context.Context, make func(context.Context) (T, error)) (T, error) {
	var nothing T
	select {
	case s.lock <- struct{}{}:
		defer func() { <-s.lock }()
	case <-ctx.Done():
		return nothing, ctx.Err()
	}
	if s.full && s.value.alive() {
		return s.value, nil
	}
	if s.full {
		s.value.shut(ctx) // it may be used up rather than broken
		s.full = false
	}
	value, err := make(ctx)
	if err != nil {
		return nothing, err
	}
	s.value, s.full = value, true
	return value, nil
}

// hold is get for a value that may be dropped while it has no holder. It creates the value
// again if good returns false for it. Each hold must end with a release.
func (s *slot[T]) hold(ctx context.Context, good func(T) bool, make func(context.Context) (T, error)) (T, error) {
	s.drop(ctx, func(value T) bool { return !good(value) })
	s.users.Add(1)
	value, err := s.get(ctx, make)
	if err != nil {
		s.release()
	}
	return value, err
}

// release reports whether the value has no holder any more.
func (s *slot[T]) release() (idle bool) { return s.users.Add(-1) == 0 }

// drop closes the value if it has no holder and mayGo returns true.
func (s *slot[T]) drop(ctx context.Context, mayGo func(T) bool) {
	select {
	case s.lock <- struct{}{}:
		defer func() { <-s.lock }()
	case <-ctx.Done():
		return
	}
	if s.full && s.users.Load() == 0 && mayGo(s.value) {
		s.value.shut(ctx)
		s.full = false
	}
}

// peek returns the value without creating it. It returns false without a value, or if the
// deadline passes while another goroutine uses the slot.
func (s *slot[T]) peek(ctx context.Context) (value T, ok bool) {
	select {
	case s.lock <- struct{}{}:
	default:
		select {
		case s.lock <- struct{}{}:
		case <-ctx.Done():
			return value, false
		}
	}
	defer func() { <-s.lock }()
	return s.value, s.full
}

func (s *slot[T]) close(ctx context.Context) {
	if value, ok := s.peek(ctx); ok {
		value.shut(ctx)
	}
}

// shut ends the connection after all cleanups.
func (s *server) shut(ctx context.Context) {
	s.wait(ctx)
	s.lose(context.Canceled)
}

// alive reports whether the connection can be used further. A connection that has used up
// its IDs is replaced by a new one.
func (s *server) alive() bool { return s.conn.alive() && !s.spent() }
