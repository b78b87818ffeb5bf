package operate

import (
	"context"
	"math"
	"time"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/ax/fault"
	"aai/internal/ax/values"
	"aai/internal/desktop"
)

// notch is how many pixels most programs scroll for one notch of the wheel.
const notch = 50

// Notches are how many of the wheel so many pixels are, at least one where there are some.
func Notches(pixels int) int {
	switch {
	case pixels > 0:
		return max(1, pixels/notch)
	case pixels < 0:
		return min(-1, pixels/notch)
	}
	return 0
}

// How an element is brought into view where the program does not do it itself.
const (
	maxRolls     = 60 // how often what it is in is scrolled
	rollPatience = time.Second
)

// Roll scrolls the list that the element is in, page by page, until it shows. It
// looks at the program each time: in what a list shows, and in how far a wheel
// turns it, toolkits differ. The view is as it was in the end, for what was found
// in it.
func (v *View) Roll(ctx context.Context, id desktop.ID) error {
	now := *v
	last, step := 0, 1.0
	for range maxRolls {
		i := now.Shot.Index(id)
		if i < 0 {
			return fault.Failed(aai.Delivered, "it went while its list was being scrolled")
		}
		if now.Shot.Visible(i) {
			return nil
		}
		list, away, rows := now.Away(i)
		switch {
		case away == 0 && last == 0:
			return fault.Unsupported("way to bring this into view")
		case away == 0:
			return fault.Failed(aai.Delivered, "its list cannot be scrolled to it")
		case away < 0 && last > 0 || away > 0 && last < 0:
			step /= 2 // it was gone past
		}
		last = away
		if err := now.rollBy(ctx, list, int(math.Round(step*float64(away)))); err != nil {
			return err
		}
		if err := now.rolled(ctx, id, rows); err != nil {
			return err
		}
	}
	return fault.Failed(aai.Delivered, "its list was scrolled %d times, and it is not in view", maxRolls)
}

// rolled waits until the element shows or is at another distance than so many rows.
func (v *View) rolled(ctx context.Context, id desktop.ID, from int) error {
	for p := v.Patience(rollPatience); ; {
		if err := v.Refresh(ctx); err != nil {
			return err
		}
		i := v.Shot.Index(id)
		if i < 0 || v.Shot.Visible(i) {
			return nil
		}
		if _, _, rows := v.Away(i); rows != from {
			return nil
		}
		if !p.Changed(ctx) {
			return fault.Failed(aai.Delivered, "its list does not scroll any further")
		}
	}
}

// rollBy scrolls a list by its scroll bar or the wheel.
func (v *View) rollBy(ctx context.Context, list, pixels int) error {
	if bar := v.Scrollbar(list, true); bar >= 0 && !asked.InFocus(v.Call) {
		e := &v.Shot.Elements[bar]
		to := math.Max(e.Min, math.Min(e.Max, values.NumberOr(e.Value, 0)+float64(pixels)))
		return v.ByAsking(bar, "", desktop.Act{Verb: desktop.SetNumber, Number: to}).Do(ctx)
	}
	return v.ByInput(list, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at, err := v.Point(list, w)
		if err != nil {
			return err
		}
		return input.Scroll(ctx, seat, w.ID, at, 0, Notches(pixels))
	}).Do(ctx)
}
