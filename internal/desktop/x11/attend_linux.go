package x11

import (
	"context"
	"time"

	"aai"
	"aai/internal/desktop"
)

// Attend implements desktop.Keyboard. The window of PersonSeat must have the person's keyboard.
func (d *Display) Attend(ctx context.Context, which desktop.Seat, id desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	window, err := windowOf(id)
	if err != nil {
		return err
	}
	t, err := d.typist(ctx, which, id, window)
	if err != nil {
		return err
	}
	defer t.leave(ctx)
	if t.answers { // a program reports what in its window has the focus once it has read that the window has it
		_ = t.person.settleSoon(ctx, t.window, true)
	}
	return while(ctx, attending{t, which})
}

// attending is the input that is made while a window has the keyboard of a seat. It has no
// pointer: who clicked would wait for the seat that is held for them.
type attending struct {
	typist *typist
	seat   desktop.Seat
}

func (attending) noPointer() error {
	return refuse(aai.AutomationNotSupported, "the pointer is not moved while the keyboard is held")
}

// Click implements desktop.Input.
func (a attending) Click(context.Context, desktop.Seat, desktop.WindowID, desktop.Point, desktop.MouseButton, int) error {
	return a.noPointer()
}

// Drag implements desktop.Input.
func (a attending) Drag(context.Context, desktop.Seat, desktop.WindowID, desktop.Point, desktop.Point, time.Duration) error {
	return a.noPointer()
}

// Scroll implements desktop.Input.
func (a attending) Scroll(context.Context, desktop.Seat, desktop.WindowID, desktop.Point, int, int) error {
	return a.noPointer()
}

// Type implements desktop.Keyboard.
func (a attending) Type(ctx context.Context, which desktop.Seat, id desktop.WindowID, text string) error {
	syms, err := keysymsOf(text)
	if err != nil || len(syms) == 0 {
		return err
	}
	return a.keyed(ctx, which, id, func() error { return a.typist.text(ctx, syms) })
}

// Key implements desktop.Keyboard.
func (a attending) Key(ctx context.Context, which desktop.Seat, id desktop.WindowID, chord desktop.Chord) error {
	sym, modifiers, err := keysOf(chord)
	if err != nil {
		return err
	}
	return a.keyed(ctx, which, id, func() error { return a.typist.key(ctx, sym, modifiers) })
}

// Attend implements desktop.Keyboard.
func (a attending) Attend(ctx context.Context, which desktop.Seat, id desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	return a.keyed(ctx, which, id, func() error { return while(ctx, a) })
}

// keyed presses keys in the window that has the keyboard, and waits until its program has read
// them.
func (a attending) keyed(ctx context.Context, which desktop.Seat, id desktop.WindowID, press func() error) error {
	if which != a.seat || id != a.typist.id {
		return refuse(aai.AutomationFailed, "another window has the keyboard now")
	}
	err := press()
	_ = a.typist.hands.afterwards(ctx, func(ctx context.Context) error {
		a.typist.settle(ctx)
		return nil
	})
	return err
}
