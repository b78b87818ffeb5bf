package gui

import (
	"context"
	"math"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// notch is how many pixels most programs scroll per notch of the wheel.
const notch = 50

// notches converts pixels to notches of the wheel, at least one unless pixels is 0.
func notches(pixels int) int {
	switch {
	case pixels > 0:
		return max(1, pixels/notch)
	case pixels < 0:
		return min(-1, pixels/notch)
	}
	return 0
}

// Limits for scrolling an element into view if the program does not do it itself.
const (
	maxScrolls    = 60 // how often its list is scrolled
	scrollTimeout = time.Second
)

// scrollList scrolls the list that contains the element, page by page, until the element is
// visible. It reads the program after each step, because toolkits differ in the rows that a list
// shows and in the distance per notch. The view keeps its snapshot, so that its indexes stay valid.
func (v *view) scrollList(ctx context.Context, id desktop.ID) error {
	now := *v
	last, step := 0, 1.0
	for range maxScrolls {
		i := now.Snapshot.Index(id)
		if i < 0 {
			return guierr.Failed(aai.Delivered, "it disappeared while its list was scrolled")
		}
		if now.Snapshot.IsVisible(i) {
			return nil
		}
		list, away, rows := now.ScrollDistance(i)
		switch {
		case away == 0 && last == 0:
			return guierr.Unsupported("way to bring this into view")
		case away == 0:
			return guierr.Failed(aai.Delivered, "its list cannot be scrolled to it")
		case away < 0 && last > 0 || away > 0 && last < 0:
			step /= 2 // the step was too far
		}
		last = away
		if err := now.scrollListBy(ctx, list, int(math.Round(step*float64(away)))); err != nil {
			return err
		}
		if err := now.awaitScrolled(ctx, id, rows); err != nil {
			return err
		}
	}
	return guierr.Failed(aai.Delivered, "its list was scrolled %d times, and it is not in view", maxScrolls)
}

// awaitScrolled waits until the element is visible or its distance in rows has changed from the given one.
func (v *view) awaitScrolled(ctx context.Context, id desktop.ID, from int) error {
	for p := v.newAdaptiveWait(scrollTimeout); ; {
		if err := v.refresh(ctx); err != nil {
			return err
		}
		i := v.Snapshot.Index(id)
		if i < 0 || v.Snapshot.IsVisible(i) {
			return nil
		}
		if _, _, rows := v.ScrollDistance(i); rows != from {
			return nil
		}
		if !p.awaitChange(ctx) {
			return guierr.Failed(aai.Delivered, "its list does not scroll any further")
		}
	}
}

// scrollListBy scrolls a list by so many pixels, with its scroll bar or the wheel.
func (v *view) scrollListBy(ctx context.Context, list, pixels int) error {
	if bar := v.Scrollbar(list, true); bar >= 0 && !params.TakesFocus(v.call) {
		e := &v.Snapshot.Elements[bar]
		to := math.Max(e.Min, math.Min(e.Max, fieldtext.ParseNumber(e.Value, 0)+float64(pixels)))
		return v.byAccessibility(bar, "", desktop.Act{Verb: desktop.SetNumber, Number: to}).do(ctx)
	}
	return v.byInput(list, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at, err := v.ClickPoint(list, w)
		if err != nil {
			return err
		}
		return input.Scroll(ctx, seat, w.ID, at, 0, notches(pixels))
	}).do(ctx)
}
