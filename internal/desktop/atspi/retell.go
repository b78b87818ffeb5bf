package atspi

import (
	"context"
	"time"

	"aai"
	"aai/internal/dbuswire"
)

// moves is how long a caret may take to be where it was sent.
const moves = 500 * time.Millisecond

// retell sends the caret of a text to another place and back. Chromium (156) tells nothing of
// a text that was overwritten by another of the same length, until its caret is elsewhere.
func (a *actor) retell(ctx context.Context) error {
	if !a.n.states.has(stateFocused | stateEditable) {
		return a.refuse("has no caret", "Give the keyboard to a field first.")
	}
	count, caret, err := a.textState(ctx)
	if err != nil {
		return before(a.p.failed(a.app, err))
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

// moveCaret sends the caret to a place, and waits until it is there.
func (a *actor) moveCaret(ctx context.Context, to int) error {
	e := dbuswire.Encoder{}
	e.I32(int32(to))
	if err := a.do(ctx, &question{iface: textInterface, member: "SetCaretOffset", signature: "i", body: e.Bytes()}, a.n.ref); err != nil {
		return err
	}
	for end := time.Now().Add(moves); time.Now().Before(end); {
		_, caret, err := a.textState(ctx)
		if err != nil {
			return a.p.failed(a.app, err)
		}
		if caret == to {
			return nil
		}
		if err := aai.Pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}
