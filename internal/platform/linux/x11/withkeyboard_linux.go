package x11

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// WithKeyboard implements desktop.Keyboard. With PersonSeat the window must already have
// the person's keyboard.
func (d *Display) WithKeyboard(ctx context.Context, which desktop.Seat, id desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	window, err := windowOf(id)
	if err != nil {
		return err
	}
	t, err := d.typist(ctx, which, id, window)
	if err != nil {
		return err
	}
	defer t.restore(ctx)
	if t.answers { // the program reports its focused element only after it has handled the focus event
		_ = t.person.settleSoon(ctx, t.window, true)
	}
	return while(ctx, keyboardInput{t, which})
}

// keyboardInput is the input while a window has the keyboard of a seat. It has no pointer:
// a click would wait for the keyboard that this input holds.
type keyboardInput struct {
	typist *typist
	seat   desktop.Seat
}

func (keyboardInput) noPointer() error {
	return notDeliveredError(aai.AutomationNotSupported, "the pointer is not moved while the keyboard is held")
}

// Click implements desktop.Input. It always fails, as there is no pointer.
func (a keyboardInput) Click(context.Context, desktop.Seat, desktop.WindowID, desktop.Point, desktop.MouseButton, int) error {
	return a.noPointer()
}

// Drag implements desktop.Input. It always fails, as there is no pointer.
func (a keyboardInput) Drag(context.Context, desktop.Seat, desktop.WindowID, desktop.Point, desktop.Point, time.Duration) error {
	return a.noPointer()
}

// Scroll implements desktop.Input. It always fails, as there is no pointer.
func (a keyboardInput) Scroll(context.Context, desktop.Seat, desktop.WindowID, desktop.Point, int, int) error {
	return a.noPointer()
}

// Type implements desktop.Keyboard.
func (a keyboardInput) Type(ctx context.Context, which desktop.Seat, id desktop.WindowID, text string) error {
	syms, err := keysymsOf(text)
	if err != nil || len(syms) == 0 {
		return err
	}
	return a.pressKeys(ctx, which, id, func() error { return a.typist.text(ctx, syms) })
}

// Key implements desktop.Keyboard.
func (a keyboardInput) Key(ctx context.Context, which desktop.Seat, id desktop.WindowID, chord desktop.Chord) error {
	sym, modifiers, err := keysOf(chord)
	if err != nil {
		return err
	}
	return a.pressKeys(ctx, which, id, func() error { return a.typist.key(ctx, sym, modifiers) })
}

// WithKeyboard implements desktop.Keyboard.
func (a keyboardInput) WithKeyboard(ctx context.Context, which desktop.Seat, id desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	return a.pressKeys(ctx, which, id, func() error { return while(ctx, a) })
}

// pressKeys presses keys in the window that has the keyboard, and waits until its program
// has read them.
func (a keyboardInput) pressKeys(ctx context.Context, which desktop.Seat, id desktop.WindowID, press func() error) error {
	if which != a.seat || id != a.typist.id {
		return notDeliveredError(aai.AutomationFailed, "another window has the keyboard now")
	}
	err := press()
	_ = a.typist.hands.cleanUp(ctx, func(ctx context.Context) error {
		a.typist.settle(ctx)
		return nil
	})
	return err
}
