package wayland

import (
	"context"
	"image"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// An X11 is the X server of a session: the whole session, or XWayland.
type X11 interface {
	desktop.Windows
	desktop.Input
	desktop.Screen
	desktop.Clipboard
	events
}

// events are what the screen reports of programs and of the person.
type events interface {
	presence
	desktop.PersonInput
	WatchWindows(ctx context.Context, changed func()) error
	WatchClipboard(ctx context.Context, changed func()) error
}

// A Session operates the person's screen by the compositor, for each part that it offers, and otherwise by the X server.
// It is safe for concurrent use.
type Session struct {
	wayland *Display
	x11     X11
}

var _ X11 = (*Session)(nil)

// NewSession returns a Session of both.
func NewSession(d *Display, x X11) *Session { return &Session{wayland: d, x11: x} }

// offers reports whether the compositor offers an interface. A compositor that does not answer counts as offering it,
// so that the error says so.
func (s *Session) offers(ctx context.Context, kind string) bool {
	if !s.wayland.IsOffered() {
		return false
	}
	c, err := s.wayland.connect(ctx)
	if err != nil {
		return true
	}
	_, ok := c.offered(kind)
	return ok
}

// listsWindows reports whether the compositor lists the windows and their places, without which no input has a target.
// A compositor that does not answer counts as listing them, so that the error says so.
func (s *Session) listsWindows(ctx context.Context) bool {
	if !s.wayland.IsOffered() {
		return false
	}
	_, err := s.wayland.manager(ctx)
	return err == nil || aai.AsError(err).Code != aai.AutomationNotSupported
}

// isAlone reports whether there is no X server beside the compositor. Its errors then say what the compositor lacks.
func (s *Session) isAlone() bool {
	return s.wayland.IsOffered() && s.wayland.config.Getenv("DISPLAY") == ""
}

func (s *Session) windows(ctx context.Context) desktop.Windows {
	if s.isAlone() || s.listsWindows(ctx) {
		return s.wayland
	}
	return s.x11
}

func (s *Session) input(ctx context.Context) desktop.Input {
	if s.isAlone() || s.listsWindows(ctx) {
		return s.wayland
	}
	return s.x11
}

func (s *Session) screen(ctx context.Context) desktop.Screen {
	if s.isAlone() || s.listsWindows(ctx) && (s.offers(ctx, screencopyManager) || s.wayland.hasShots(ctx)) {
		return s.wayland
	}
	return s.x11
}

func (s *Session) clipboard(ctx context.Context) desktop.Clipboard {
	if s.isAlone() || s.wayland.IsOffered() && s.wayland.hasClipboard(ctx) {
		return s.wayland
	}
	return s.x11
}

// HasRelativeFrames reports whether programs do not know where their windows are, as on Wayland.
func (s *Session) HasRelativeFrames(ctx context.Context) bool { return s.listsWindows(ctx) }

// Windows implements desktop.Windows.
func (s *Session) Windows(ctx context.Context) ([]desktop.WindowInfo, error) {
	return s.windows(ctx).Windows(ctx)
}

// WindowAt implements desktop.Windows.
func (s *Session) WindowAt(ctx context.Context, p desktop.Point) (desktop.WindowInfo, error) {
	return s.windows(ctx).WindowAt(ctx, p)
}

// Activate implements desktop.Windows.
func (s *Session) Activate(ctx context.Context, id desktop.WindowID) error {
	return s.windows(ctx).Activate(ctx, id)
}

// Manage implements desktop.Windows.
func (s *Session) Manage(ctx context.Context, id desktop.WindowID, wish desktop.WindowRequest) error {
	return s.windows(ctx).Manage(ctx, id, wish)
}

// Click implements desktop.Input.
func (s *Session) Click(ctx context.Context, seat desktop.Seat, window desktop.WindowID, at desktop.Point, button desktop.MouseButton, count int) error {
	return s.input(ctx).Click(ctx, seat, window, at, button, count)
}

// Drag implements desktop.Input.
func (s *Session) Drag(ctx context.Context, seat desktop.Seat, window desktop.WindowID, from, to desktop.Point, duration time.Duration) error {
	return s.input(ctx).Drag(ctx, seat, window, from, to, duration)
}

// Scroll implements desktop.Input.
func (s *Session) Scroll(ctx context.Context, seat desktop.Seat, window desktop.WindowID, at desktop.Point, dx, dy int) error {
	return s.input(ctx).Scroll(ctx, seat, window, at, dx, dy)
}

// Type implements desktop.Keyboard.
func (s *Session) Type(ctx context.Context, seat desktop.Seat, window desktop.WindowID, text string) error {
	return s.input(ctx).Type(ctx, seat, window, text)
}

// Key implements desktop.Keyboard.
func (s *Session) Key(ctx context.Context, seat desktop.Seat, window desktop.WindowID, chord desktop.Chord) error {
	return s.input(ctx).Key(ctx, seat, window, chord)
}

// WithKeyboard implements desktop.Keyboard.
func (s *Session) WithKeyboard(ctx context.Context, seat desktop.Seat, window desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	return s.input(ctx).WithKeyboard(ctx, seat, window, while)
}

// Monitors implements desktop.Screen.
func (s *Session) Monitors(ctx context.Context) ([]desktop.Monitor, error) {
	return s.screen(ctx).Monitors(ctx)
}

// Layers implements desktop.Screen.
func (s *Session) Layers(ctx context.Context) ([]desktop.Layer, error) {
	return s.screen(ctx).Layers(ctx)
}

// Capture implements desktop.Screen.
func (s *Session) Capture(ctx context.Context, area desktop.Rect) (*image.RGBA, error) {
	return s.screen(ctx).Capture(ctx, area)
}

// CaptureWindow implements desktop.Screen.
func (s *Session) CaptureWindow(ctx context.Context, id desktop.WindowID) (*image.RGBA, error) {
	return s.screen(ctx).CaptureWindow(ctx, id)
}

// Get implements desktop.Clipboard.
func (s *Session) Get(ctx context.Context) (desktop.Clip, error) { return s.clipboard(ctx).Get(ctx) }

// Set implements desktop.Clipboard.
func (s *Session) Set(ctx context.Context, clip desktop.Clip) (stays string, err error) {
	return s.clipboard(ctx).Set(ctx, clip)
}

// WatchPerson implements desktop.PersonInput. No compositor reports presses in other programs.
func (s *Session) WatchPerson(ctx context.Context, ready func(), pressed func(desktop.PersonFact)) error {
	if s.wayland.IsOffered() {
		return aai.Errorf(aai.AutomationNotSupported, "a Wayland compositor reports to no program what the person presses")
	}
	return s.x11.WatchPerson(ctx, ready, pressed)
}
