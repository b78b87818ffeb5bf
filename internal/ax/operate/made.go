package operate

import (
	"context"
	"strings"
	"time"

	"aai"
	"aai/internal/ax/programs"
	"aai/internal/desktop"
)

// made is input of which is known whether any was made: an error of the second of two keys is
// not one of what did nothing. None reaches a question for the person.
type made struct {
	desktop.Input
	some *bool
	may  func(context.Context, programs.Reach) error
}

// may is programs.ForPerson for the program.
func (v *View) may(ctx context.Context, reaches programs.Reach) error {
	return programs.ForPerson(ctx, v.Backend.Tree, v.App, reaches)
}

func (m made) note(err error) error {
	*m.some = *m.some || err == nil
	return err
}

func (m made) Click(ctx context.Context, seat desktop.Seat, w desktop.WindowID, at desktop.Point, button desktop.MouseButton, count int) error {
	if err := m.may(ctx, programs.ReachesPoints(at)); err != nil {
		return err
	}
	return m.note(m.Input.Click(ctx, seat, w, at, button, count))
}

func (m made) Drag(ctx context.Context, seat desktop.Seat, w desktop.WindowID, from, to desktop.Point, duration time.Duration) error {
	if err := m.may(ctx, programs.ReachesPoints(from, to)); err != nil {
		return err
	}
	return m.note(m.Input.Drag(ctx, seat, w, from, to, duration))
}

func (m made) Scroll(ctx context.Context, seat desktop.Seat, w desktop.WindowID, at desktop.Point, dx, dy int) error {
	if err := m.may(ctx, programs.ReachesPoints(at)); err != nil {
		return err
	}
	return m.note(m.Input.Scroll(ctx, seat, w, at, dx, dy))
}

func (m made) Type(ctx context.Context, seat desktop.Seat, w desktop.WindowID, text string) error {
	if err := m.may(ctx, programs.ReachesByText); err != nil {
		return err
	}
	return m.note(m.Input.Type(ctx, seat, w, text))
}

func (m made) Key(ctx context.Context, seat desktop.Seat, w desktop.WindowID, chord desktop.Chord) error {
	if err := m.may(ctx, programs.ReachesByKey(chord)); err != nil {
		return err
	}
	return m.note(m.Input.Key(ctx, seat, w, chord))
}

// Attend is desktop.Keyboard's; what is made meanwhile counts, and not that the window had the
// keyboard.
func (m made) Attend(ctx context.Context, seat desktop.Seat, w desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	return m.Input.Attend(ctx, seat, w, func(ctx context.Context, input desktop.Input) error { return while(ctx, made{input, m.some, m.may}) })
}

// partly is the error of input of which a part was made.
func (m made) partly(err error) error {
	if err == nil || !*m.some {
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
	e.Delivery, e.Hint = aai.DeliveryUnknown, "Look at the program before you go on; what was begun may stand there unfinished."
	return &e
}
