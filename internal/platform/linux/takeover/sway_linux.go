package takeover

import (
	"context"
	"image"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/private"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
)

// A swayScreen is the screen of a session with Sway. Its socket is in the session's folder, so it is no other's.
type swayScreen struct{ *wayland.Display }

// ClickAt implements screen.
func (s swayScreen) ClickAt(ctx context.Context, at desktop.Point, button desktop.MouseButton, count int) error {
	window, err := s.WindowAt(ctx, at)
	if err != nil {
		return err
	}
	return s.Click(ctx, desktop.PersonSeat, window.ID, at, button, count)
}

// FocusedWindow implements screen.
func (s swayScreen) FocusedWindow(ctx context.Context) (desktop.WindowID, error) {
	all, err := s.Windows(ctx)
	if err != nil {
		return 0, err
	}
	for _, window := range all {
		if window.Active {
			return window.ID, nil
		}
	}
	e := refuse(aai.AutomationFailed, "no window has the keyboard")
	e.Hint = "Click into a window first."
	return 0, e
}

// pictures returns the function that takes pictures of the session's screen, and the end of its use.
func pictures(of *private.Isolated) (take func(context.Context) (*image.RGBA, error), end func() error) {
	if !of.Options.Wayland {
		return func(context.Context) (*image.RGBA, error) { return of.Screen() }, func() error { return nil }
	}
	screen := wayland.New(wayland.Config{Getenv: of.Getenv})
	return func(ctx context.Context) (*image.RGBA, error) {
		return screen.Capture(ctx, desktop.Rect{W: of.Options.Width, H: of.Options.Height})
	}, screen.Close
}
