package x11

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// ClickAt clicks at a point of the screen, whatever is there. It relays a click of the person, who
// sees the screen; agents use Click, which checks the window at the point.
func (d *Display) ClickAt(ctx context.Context, at desktop.Point, button desktop.MouseButton, count int) error {
	h, err := d.take(ctx, desktop.PersonSeat)
	if err != nil {
		return err
	}
	defer h.release()
	_, err = d.stroke(ctx, h, nil, func(g *inputlock.Lease) error {
		return inputFailure("clicking", h.click(ctx, g, at, button, count))
	})
	return err
}

// FocusedWindow returns the window with the person's keyboard. It returns an error if no window has it.
func (d *Display) FocusedWindow(ctx context.Context) (desktop.WindowID, error) {
	s, err := d.server(ctx)
	if err != nil {
		return 0, err
	}
	focus := getInputFocus()
	if err := s.must(ctx, focus); err != nil {
		return 0, wrapError("looking for the focus", err)
	}
	const pointerRoot = 1
	window := from(focus.reply, 8).u32()
	if window <= pointerRoot || window == s.root {
		e := notDeliveredError(aai.AutomationFailed, "no window has the keyboard")
		e.Hint = "Click into a window first."
		return 0, e
	}
	return desktop.WindowID(window), nil
}
