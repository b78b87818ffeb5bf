package x11

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// ClickAt clicks at a point of the screen, with any window there. It relays a click of the person
// at the page; agents use Click, which checks the window at the point.
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

// focusPatience is the time for a window manager to give the keyboard to a window that was clicked or opened.
const focusPatience = time.Second

// FocusedWindow returns the window with the person's keyboard. It waits until one has it, and returns an error after
// focusPatience. A window of the window manager does not count: it has the keyboard while no other has it.
func (d *Display) FocusedWindow(ctx context.Context) (desktop.WindowID, error) {
	s, err := d.server(ctx)
	if err != nil {
		return 0, err
	}
	for until := time.Now().Add(focusPatience); ; {
		focus, manager := getInputFocus(), getProperty(s.root, s.atoms["_NET_SUPPORTING_WM_CHECK"], 4, false)
		if err := s.must(ctx, focus, manager); err != nil {
			return 0, wrapError("looking for the focus", err)
		}
		const pointerRoot = 1
		window := from(focus.reply, 8).u32()
		if window > pointerRoot && window != s.root && window&^s.setup.idMask != manager.property().first()&^s.setup.idMask {
			return desktop.WindowID(window), nil
		}
		if time.Now().After(until) || aai.Sleep(ctx, 20*time.Millisecond) != nil {
			e := notDeliveredError(aai.AutomationFailed, "no window has the keyboard")
			e.Hint = "Click into a window first."
			return 0, e
		}
	}
}
