package gui

import (
	"context"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/programs"
)

// trackedInput records whether any input was delivered: if the second of two keys fails, the first still had an
// effect. It blocks input that would reach a question for the person.
type trackedInput struct {
	desktop.Input
	hasInput   *bool
	checkReach func(context.Context, programs.ReachFunc) error
}

// checkReach calls programs.CheckPersonPrompts for the program.
func (v *view) checkReach(ctx context.Context, reaches programs.ReachFunc) error {
	return programs.CheckPersonPrompts(ctx, v.backend.Tree, v.app, reaches)
}

func (m trackedInput) note(err error) error {
	*m.hasInput = *m.hasInput || err == nil
	return err
}

func (m trackedInput) Click(ctx context.Context, seat desktop.Seat, w desktop.WindowID, at desktop.Point, button desktop.MouseButton, count int) error {
	if err := m.checkReach(ctx, programs.ReachesPoints(at)); err != nil {
		return err
	}
	return m.note(m.Input.Click(ctx, seat, w, at, button, count))
}

func (m trackedInput) Drag(ctx context.Context, seat desktop.Seat, w desktop.WindowID, from, to desktop.Point, duration time.Duration) error {
	if err := m.checkReach(ctx, programs.ReachesPoints(from, to)); err != nil {
		return err
	}
	return m.note(m.Input.Drag(ctx, seat, w, from, to, duration))
}

func (m trackedInput) Scroll(ctx context.Context, seat desktop.Seat, w desktop.WindowID, at desktop.Point, dx, dy int) error {
	if err := m.checkReach(ctx, programs.ReachesPoints(at)); err != nil {
		return err
	}
	return m.note(m.Input.Scroll(ctx, seat, w, at, dx, dy))
}

func (m trackedInput) Type(ctx context.Context, seat desktop.Seat, w desktop.WindowID, text string) error {
	if err := m.checkReach(ctx, programs.ReachesByText); err != nil {
		return err
	}
	return m.note(m.Input.Type(ctx, seat, w, text))
}

func (m trackedInput) Key(ctx context.Context, seat desktop.Seat, w desktop.WindowID, chord desktop.Chord) error {
	if err := m.checkReach(ctx, programs.NewChordReach(chord)); err != nil {
		return err
	}
	return m.note(m.Input.Key(ctx, seat, w, chord))
}

// WithKeyboard implements desktop.Keyboard. Input within while counts as delivered; taking the
// keyboard alone does not.
func (m trackedInput) WithKeyboard(ctx context.Context, seat desktop.Seat, w desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	return m.Input.WithKeyboard(ctx, seat, w, func(ctx context.Context, input desktop.Input) error {
		return while(ctx, trackedInput{input, m.hasInput, m.checkReach})
	})
}

// partialInputError returns the error for input that was partly delivered.
func (m trackedInput) partialInputError(err error) error {
	if err == nil || !*m.hasInput {
		return err
	}
	e := *aai.AsError(err)
	if e.Delivery != aai.NotDelivered {
		return err
	}
	if e.Code == aai.AutomationNotSupported {
		e.Code = aai.AutomationFailed
	}
	e.Message = "only a part of it was done: " + strings.Replace(e.Message, ", and nothing was done", "", 1)
	e.Delivery, e.Hint = aai.DeliveryUnknown, "Look at the program before you go on; the action may be half done."
	return &e
}
