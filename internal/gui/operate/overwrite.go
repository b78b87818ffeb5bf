package operate

import (
	"context"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// deselectTimeout is how long it may take to take a selection back, also where the call has ended.
const deselectTimeout = time.Second

// Overwrite selects all that the element holds, which has the keyboard of the window, and has write
// write over it. Where that fails nothing stays selected, so that what is typed next replaces
// nothing; an error after which the element holds what it held says so.
func (v *View) Overwrite(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo, write func(desktop.Input) error) error {
	before, unread := v.Backend.Tree.Read(ctx, v.App, v.Snapshot.Elements[i].ID)
	earlier := false
	outer, counts := withoutFocusCheck(input).(trackedInput)
	if counts {
		earlier = *outer.hasInput
	}
	typed := trackedInput{input, new(bool), v.checkReach}
	err := input.Key(ctx, seat, w.ID, desktop.Chord{Key: "a", Modifiers: []string{"ctrl"}})
	if err == nil {
		err = write(typed)
	} else if aai.AsError(err).Delivery == aai.NotDelivered {
		return err // nothing is selected
	}
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deselectTimeout)
	defer cancel()
	e := *aai.AsError(err)
	if input.Key(ctx, seat, w.ID, desktop.Chord{Key: "right"}) != nil {
		e.Message += "; what it holds may be selected still"
		e.Delivery, e.Hint = aai.DeliveryUnknown, "Press right there by ax_key_press and look, before anything is typed: that would replace what is selected."
		return &e
	}
	if *typed.hasInput || e.Delivery != aai.NotDelivered {
		return err
	}
	done := "nothing was typed"
	if now, gone := v.Backend.Tree.Read(ctx, v.App, before.ID); unread == nil && gone == nil && now.Value == before.Value {
		done += ", and " + v.Name(i) + " holds what it held"
		if counts {
			*outer.hasInput = earlier
		}
	}
	e.Message = done + ": " + strings.Replace(e.Message, ", and nothing was done", "", 1)
	return &e
}
