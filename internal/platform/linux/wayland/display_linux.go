package wayland

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// maxTitle is the limit for titles and errors of the compositor, in bytes.
const maxTitle = 500

// A Config configures a Display.
type Config struct {
	// Getenv looks up WAYLAND_DISPLAY, XDG_RUNTIME_DIR and SWAYSOCK. It must be safe for concurrent use.
	Getenv func(string) string
	Log    *slog.Logger // nil drops messages
	// Tokens keeps the person's permission for remote control; nil keeps it as long as the gateway runs.
	Tokens TokenStore
	// Progress tells the caller that the desktop asks the person; nil tells nothing.
	Progress func(ctx context.Context, message string)
	// InputLock guards all input. Without a lock, nil, input fails.
	InputLock *inputlock.Lock
	// ClipServer returns the command of a process that serves clips, as [Display.ServeClip] does, so that they stay when
	// the gateway ends. With nil, the gateway serves them.
	ClipServer func() *exec.Cmd
}

// A Display is a Wayland session. It implements desktop.Windows, desktop.Screen, desktop.Input and
// desktop.Clipboard, and is safe for concurrent use.
//
// Without a compositor all methods fail with AUTOMATION_NOT_SUPPORTED; if it does not answer, with TIMEOUT.
type Display struct {
	config Config

	mu   sync.Mutex // guards conn; held while connecting
	conn *conn

	bus     bus
	opening chan struct{} // held while remote control is opened; a channel, as typing
	remote  *remote       // guarded by opening; nil before the first use
	portal  portal

	typing chan struct{} // held by one typist; a channel, so that waiting ends with a context
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
	return &Display{config: c, typing: make(chan struct{}, 1), opening: make(chan struct{}, 1)}
}

// Close ends the connection, and with it the gateway's devices and clip.
func (d *Display) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != nil {
		d.conn.lose(errors.New("the gateway ends"))
	}
	d.bus.close()
	select {
	case d.opening <- struct{}{}:
		if d.remote != nil {
			d.remote.close()
		}
		<-d.opening
	default: // a call still asks the person, and closes nothing that is held
	}
	return nil
}

// progress reports a message to the caller.
func (c *Config) progress(ctx context.Context, message string) {
	if c.Progress != nil {
		c.Progress(ctx, message)
	}
}

// IsOffered reports whether the session has a Wayland compositor.
func (d *Display) IsOffered() bool { return d.config.Getenv("WAYLAND_DISPLAY") != "" }

// connect returns the connection, and connects if necessary.
func (d *Display) connect(ctx context.Context) (*conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != nil && d.conn.alive() {
		return d.conn, nil
	}
	c, err := d.dial(ctx)
	if err == nil {
		d.conn = c
	}
	return c, err
}

// dial makes a new connection.
func (d *Display) dial(ctx context.Context) (*conn, error) {
	path := d.config.Getenv("WAYLAND_DISPLAY")
	if path == "" {
		return nil, unsupported("there is no Wayland session of the person here: WAYLAND_DISPLAY is not set, and no other was found",
			"Run `aai-gateway check`: it says where the session was looked for, what was found, and what to do.")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.config.Getenv("XDG_RUNTIME_DIR"), path)
	}
	c, err := dial(ctx, path)
	return c, failure("connecting to the compositor", err)
}

// manager returns the compositor's interface for windows.
func (d *Display) manager(ctx context.Context) (manager, error) {
	c, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	if path := c.swaySocket(d.config.Getenv); path != "" {
		return &sway{path: path}, nil
	}
	for _, find := range []func(context.Context, *conn) (manager, error){d.findKWin, d.findGNOME} {
		if m, err := find(ctx, c); m != nil || err != nil {
			return m, err
		}
	}
	if d.hasShell(ctx, c) {
		return nil, unsupported("GNOME Shell tells no program where the windows are", "Act on elements by their refs; that needs no place. "+extensionAdvice)
	}
	return nil, unsupported("the compositor does not tell the windows and their places", "Act on elements by their refs; that needs no place.")
}

// windows lists the windows, front one first.
func (d *Display) windows(ctx context.Context) ([]window, error) {
	m, err := d.manager(ctx)
	if err != nil {
		return nil, err
	}
	all, err := m.list(ctx)
	return all, failure("listing the windows", err)
}

// Windows implements desktop.Windows. Windows of XWayland are among them.
func (d *Display) Windows(ctx context.Context) ([]desktop.WindowInfo, error) {
	all, err := d.windows(ctx)
	if err != nil {
		return nil, err
	}
	outputs, _ := d.allOutputs(ctx) // without them, no window counts as unscaled
	infos := make([]desktop.WindowInfo, 0, len(all))
	for _, w := range all {
		if !w.popup {
			w.Unscaled = isUnscaled(w.Frame, outputs)
			infos = append(infos, w.WindowInfo)
		}
	}
	return infos, nil
}

// find returns a window by its ID.
func (d *Display) find(ctx context.Context, id desktop.WindowID) (window, error) {
	all, err := d.windows(ctx)
	if err != nil {
		return window{}, err
	}
	for _, w := range all {
		if w.ID == id {
			return w, nil
		}
	}
	return window{}, windowGone()
}

// WindowAt implements desktop.Windows. Menus, panels and the compositor's own surfaces are not known.
func (d *Display) WindowAt(ctx context.Context, p desktop.Point) (desktop.WindowInfo, error) {
	all, err := d.windows(ctx)
	if err != nil {
		return desktop.WindowInfo{}, err
	}
	for _, w := range all {
		if w.shown && w.outer.Contains(p) {
			return w.WindowInfo, nil
		}
	}
	e := refused(aai.AutomationFailed, "there is no window at %d,%d", p.X, p.Y)
	e.Hint = "List the windows and their frames."
	return desktop.WindowInfo{}, e
}

// Activate implements desktop.Windows.
func (d *Display) Activate(ctx context.Context, id desktop.WindowID) error {
	m, err := d.manager(ctx)
	if err != nil {
		return err
	}
	return failure("bringing the window to the front", m.activate(ctx, id))
}

// Manage implements desktop.Windows.
func (d *Display) Manage(ctx context.Context, id desktop.WindowID, wish desktop.WindowRequest) error {
	m, err := d.manager(ctx)
	if err != nil {
		return err
	}
	return failure(fmt.Sprintf("asking the compositor to %s the window", wish), m.manage(ctx, id, wish))
}

// refused returns an error of a request that was not delivered.
func refused(code aai.Code, format string, args ...any) *aai.Error {
	e := aai.Errorf(code, format, args...)
	e.Delivery = aai.NotDelivered
	return e
}

// unsupported returns the error for something that the compositor does not offer.
func unsupported(message, hint string) error {
	e := refused(aai.AutomationNotSupported, "%s", message)
	e.Hint = hint
	return e
}

// failure converts err to an *aai.Error about doing, which says that nothing was done; nil stays nil.
func failure(doing string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*aai.Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, context.Canceled):
		return refused(aai.AutomationFailed, "%s was cancelled: %w", doing, err)
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, errSilent):
		e := refused(aai.Timeout, "%s: the compositor did not answer in time, and nothing was done: %w", doing, err)
		e.Hint = "Try again; if it stays so, the compositor hangs."
		return e
	}
	return refused(aai.AutomationFailed, "%s: %w", doing, err)
}

// inputFailure is failure for input that may have arrived.
func inputFailure(doing string, err error) error {
	if err == nil {
		return nil
	}
	e := *aai.AsError(failure(doing, err))
	e.Delivery, e.Hint = aai.DeliveryUnknown, "Look at the window before trying again."
	return &e
}
