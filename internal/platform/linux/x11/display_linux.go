package x11

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"sync/atomic"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// A Config says where the X server is.
type Config struct {
	// Getenv looks up DISPLAY, XAUTHORITY, HOME and GDK_SCALE. It must be safe for
	// concurrent use, as os.Getenv is.
	Getenv func(string) string
	Log    *slog.Logger // nil drops it
	// InputLock is what all input is made with, shared with the person's other gateways and
	// with the questions. Without one, nil, no input is made.
	InputLock *inputlock.Lock
	// ClipServer is the command of a process of its own that keeps what is put on the clipboard,
	// as [Display.ServeClip] does, so that it stays when the gateway ends. Nil: the gateway
	// keeps it.
	ClipServer func() *exec.Cmd
}

// A Display is a screen with its windows, input and clipboard. It implements
// desktop.Windows, desktop.Screen, desktop.Input and desktop.Clipboard, and is
// safe for concurrent use.
//
// Where there is no X server all methods fail with AUTOMATION_NOT_SUPPORTED,
// where it does not answer with TIMEOUT.
type Display struct {
	config Config
	dial   func(ctx context.Context, getenv func(string) string, onEvent func([]byte)) (*conn, error)
	main   *slot[*server]        // questions, pictures and the person's seat
	own    *slot[*ownSeat]       // the gateway's own pointer and keyboard: the server gives each connection one pair
	clip   *slot[*clipboardConn] // the clipboard
	memory memory                // shared with the server for pictures
	keys   keyboard
	// idleTimer takes the gateway's own seat away when it is not used.
	idleTimer pause
	seats     atomic.Uint32 // of our own, that were made
}

var (
	_ desktop.Windows   = (*Display)(nil)
	_ desktop.Screen    = (*Display)(nil)
	_ desktop.Input     = (*Display)(nil)
	_ desktop.Clipboard = (*Display)(nil)
)

// New makes a display. It connects to nothing yet.
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

// Close takes back what was changed on the X server: our pointer and keyboard,
// borrowed keys, what we had on the clipboard. It waits for a second at most, and for
// three for programs to read what our own pointer and keyboard did there. The display must
// not be used afterwards.
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

// session returns the main connection, which it makes if need be.
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

// connect makes a connection of its own.
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

// wrapError says in the house's words why something could not be done. What it was
// changed nothing, so the caller may try again; input says otherwise itself.
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

// windowFailure is failure for what was done to a window, which may be gone.
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

// windowOf returns the window's name on the X server.
func windowOf(id desktop.WindowID) (xid, error) {
	if id == 0 || id > 1<<29-1 { // the top three bits of an xid are never set
		e := aai.Errorf(aai.InvalidParams, "%d is no window of X11", uint64(id))
		e.Hint = "List the windows again."
		e.Delivery = aai.NotDelivered
		return none, e
	}
	return xid(id), nil
}
