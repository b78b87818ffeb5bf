package x11

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// Manage sends a request to the window manager, by ICCCM and EWMH, and returns when the
// server has forwarded it.
func (d *Display) Manage(ctx context.Context, id desktop.WindowID, wish desktop.WindowRequest) error {
	const doing = "asking the window manager"
	window, err := windowOf(id)
	if err != nil {
		return err
	}
	s, err := d.server(ctx)
	if err != nil {
		return err
	}
	managed, err := s.managed(ctx)
	if err != nil {
		return wrapError(doing, err)
	}
	if !managed {
		e := aai.Errorf(aai.AutomationNotSupported, "no window manager runs on this screen, so nobody can %s a window", wish)
		e.Hint = "Act on an element of the window instead, such as its own button to close it."
		e.Delivery = aai.NotDelivered
		return e
	}
	if err := s.must(ctx, getGeometry(window)); err != nil {
		return windowFailure(doing, err)
	}
	var ask *call
	switch wish {
	case desktop.Raise:
		ask = raiseWindow(window) // the server redirects it to the window manager
	case desktop.Restore:
		ask = mapWindow(window) // redirected as well: ICCCM 4.1.4
	case desktop.Minimize:
		const iconic = 3
		ask = s.toManager(window, "WM_CHANGE_STATE", iconic)
	case desktop.Close:
		const currentTime, tool = 0, 2
		ask = s.toManager(window, "_NET_CLOSE_WINDOW", currentTime, tool)
	default:
		return notDeliveredError(aai.InvalidParams, "a window cannot %q", wish)
	}
	if err := s.must(ctx, ask); err != nil {
		return windowFailure(doing, err)
	}
	return nil
}

// toManager returns the request that sends the window manager a message about a window.
func (s *server) toManager(window xid, message string, data ...uint32) *call {
	const substructureRedirect = 1 << 20
	return sendEvent(s.root, substructureRedirect|substructureNotify, s.clientMessage(window, message, data...))
}
