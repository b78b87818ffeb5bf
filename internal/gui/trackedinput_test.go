package gui

import (
	"context"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/programs"
)

// failing is input that delivers keys and fails on text.
type failing struct{ desktop.Input }

func (failing) Key(context.Context, desktop.Seat, desktop.WindowID, desktop.Chord) error { return nil }

func (failing) Type(context.Context, desktop.Seat, desktop.WindowID, string) error {
	e := aai.Errorf(aai.Timeout, "typing: the X server did not answer in time, and nothing was done")
	e.Delivery = aai.NotDelivered
	return e
}

func (f failing) WithKeyboard(ctx context.Context, _ desktop.Seat, _ desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	return while(ctx, f)
}

// TestPartOfInput: a failure after a delivered key does not report "not delivered", also within
// WithKeyboard.
func TestPartOfInput(t *testing.T) {
	write := func(keys int) func(context.Context, desktop.Input) error {
		return func(ctx context.Context, input desktop.Input) error {
			for range keys {
				if err := input.Key(ctx, desktop.OwnSeat, 1, desktop.Chord{Key: "tab"}); err != nil {
					return err
				}
			}
			return input.Type(ctx, desktop.OwnSeat, 1, "x")
		}
	}
	for keys, want := range map[int]aai.Delivery{0: aai.NotDelivered, 1: aai.DeliveryUnknown, 2: aai.DeliveryUnknown} {
		for _, attended := range []bool{false, true} {
			m := trackedInput{failing{}, new(bool), func(context.Context, programs.ReachFunc) error { return nil }, nil}
			do := write(keys)
			if attended {
				do = func(ctx context.Context, input desktop.Input) error {
					return input.WithKeyboard(ctx, desktop.OwnSeat, 1, write(keys))
				}
			}
			e := aai.AsError(m.partialInputError(do(t.Context(), m)))
			if e.Delivery != want || strings.Contains(e.Message, "nothing was done") != (keys == 0) {
				t.Errorf("after %d keys: %q, %s", keys, e.Delivery, e.Message)
			}
		}
	}
}
