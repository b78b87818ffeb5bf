package x11

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// activatePatience is the time limit for the window manager to activate a window.
const activatePatience = 2 * time.Second

// Activate brings the window to the front, gives it the keyboard, and waits until both
// have happened. It takes the focus from the person. If the window manager does not comply
// within two seconds, Activate fails with AUTOMATION_FAILED.
func (d *Display) Activate(ctx context.Context, id desktop.WindowID) error {
	window, err := windowOf(id)
	if err != nil {
		return err
	}
	s, err := d.server(ctx)
	if err != nil {
		return err
	}
	_, err = d.stroke(ctx, inputConn{server: s, person: s}, nil, func(g *inputlock.Lease) error { return s.activate(ctx, g, window) })
	return err
}

func (s *server) activate(ctx context.Context, g *inputlock.Lease, window xid) error {
	const doing = "activating a window"
	if err := s.must(ctx, getGeometry(window)); err != nil {
		return windowFailure(doing, err)
	}
	managed, err := s.managed(ctx)
	if err != nil {
		return wrapError(doing, err)
	}
	if !managed {
		err = s.must(ctx, raiseWindow(window), setInputFocus(g, window))
	} else {
		const source, substructureRedirect = 2, 1 << 20 // 2 is a pager or similar tool, not the program itself
		ask := s.clientMessage(window, "_NET_ACTIVE_WINDOW", source, 0, 0)
		err = s.must(ctx, sendEvent(s.root, substructureRedirect|substructureNotify, ask))
	}
	if err != nil {
		return windowFailure(doing, err)
	}
	deadline := time.Now().Add(activatePatience)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		active, err := s.hasKeyboard(ctx, window)
		switch {
		case err != nil:
			e := *aai.AsError(wrapError(doing, err))
			e.Delivery = aai.DeliveryUnknown
			return &e
		case active:
			return nil
		case g.IsQuestionWaiting():
			return interrupted("the window was not waited for to come to the front")
		case time.Now().After(deadline):
			e := aai.Errorf(aai.AutomationFailed, "the window manager did not give the keyboard to the window")
			e.Hint = "Ask the person to click into the window: some window managers keep others from taking the focus."
			e.Delivery = aai.Delivered
			return e
		}
		if err := aai.Sleep(ctx, pause); err != nil {
			return wrapError(doing, err)
		}
	}
}

// clientMessage encodes a message about a window; EWMH, "Root Window Properties".
func (s *server) clientMessage(window xid, message string, data ...uint32) []byte {
	const clientMessage, format = 33, 32
	event := request(clientMessage, format, window, s.atoms[message], data, pad(4*(5-len(data))))
	event[2], event[3] = 0, 0 // the server writes the sequence number there
	return event
}

// hasKeyboard reports whether the window or one of its descendants has the keyboard focus.
func (s *server) hasKeyboard(ctx context.Context, window xid) (bool, error) {
	focus := getInputFocus()
	if err := s.must(ctx, focus); err != nil {
		return false, err
	}
	return s.within(ctx, from(focus.reply, 8).u32(), window)
}

// within reports whether inner is outer or a descendant of it.
func (s *server) within(ctx context.Context, inner, outer xid) (bool, error) {
	const pointerRoot = 1
	for range maxDepth {
		if inner == outer {
			return true, nil
		}
		if inner <= pointerRoot || inner == s.root {
			return false, nil
		}
		tree := queryTree(inner)
		if err := s.do(ctx, tree); err != nil {
			return false, err
		}
		inner, _ = tree.children()
	}
	return false, nil
}
