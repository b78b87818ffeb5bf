package atspi

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// caretPatience is how long to wait for a caret to arrive.
const caretPatience = 500 * time.Millisecond

// refreshText moves the caret of a text away and back. Chromium (156) does not report a text that was
// overwritten by another of the same length until its caret moves.
func (a *actor) refreshText(ctx context.Context) error {
	if !a.n.states.has(stateFocused | stateEditable) {
		return a.refuse("has no caret", "Give the keyboard to a field first.")
	}
	count, caret, err := a.textState(ctx)
	if err != nil {
		return markNotDelivered(a.p.failed(a.app, err))
	}
	if count == 0 || caret < 0 {
		return nil
	}
	aside := 0
	if caret == 0 {
		aside = count
	}
	for _, to := range []int{aside, caret} {
		if err := a.moveCaret(ctx, to); err != nil {
			return err
		}
	}
	return nil
}

// moveCaret moves the caret to a position, and waits until it is there.
func (a *actor) moveCaret(ctx context.Context, to int) error {
	e := wire.Encoder{}
	e.I32(int32(to))
	if err := a.do(ctx, &request{iface: textInterface, member: "SetCaretOffset", signature: "i", body: e.Bytes()}, a.n.ref); err != nil {
		return err
	}
	for end := time.Now().Add(caretPatience); time.Now().Before(end); {
		_, caret, err := a.textState(ctx)
		if err != nil {
			return a.p.failed(a.app, err)
		}
		if caret == to {
			return nil
		}
		if err := aai.Sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}
