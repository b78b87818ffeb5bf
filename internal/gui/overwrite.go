package gui

import (
	"context"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// deselectTimeout limits the removal of a selection, even after the end of the call.
const deselectTimeout = time.Second

// overwrite selects the whole content of the element, which has the keyboard focus, and calls write
// to replace it. On failure it removes the selection, so that later typing replaces nothing. The
// error reports if the content is unchanged.
func (v *view) overwrite(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo, write func(desktop.Input) error) error {
	before, unread := v.backend.Tree.Read(ctx, v.app, v.Snapshot.Elements[i].ID)
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
		e.Message += "; its text may still be selected"
		e.Delivery, e.Hint = aai.DeliveryUnknown, "Press right there by ax_key_press and look before you type: typing would replace the selection."
		return &e
	}
	if *typed.hasInput || e.Delivery != aai.NotDelivered {
		return err
	}
	done := "nothing was typed"
	if now, gone := v.backend.Tree.Read(ctx, v.app, before.ID); unread == nil && gone == nil && now.Value == before.Value {
		done += ", and " + v.Name(i) + " has its former value"
		if counts {
			*outer.hasInput = earlier
		}
	}
	e.Message = done + ": " + strings.Replace(e.Message, ", and nothing was done", "", 1)
	return &e
}
