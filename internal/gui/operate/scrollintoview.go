package operate

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
	maxScrolls    = 60 // how often what it is in is scrolled
	scrollTimeout = time.Second
)

// ScrollList scrolls the list that the element is in, page by page, until it shows. It
// looks at the program each time: in what a list shows, and in how far a wheel
// turns it, toolkits differ. The view is as it was in the end, for what was found
// in it.
func (v *View) ScrollList(ctx context.Context, id desktop.ID) error {
	now := *v
	last, step := 0, 1.0
	for range maxScrolls {
		i := now.Snapshot.Index(id)
		if i < 0 {
			return guierr.Failed(aai.Delivered, "it went while its list was being scrolled")
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
			step /= 2 // it was gone past
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

// awaitScrolled waits until the element shows or is at another distance than so many rows.
func (v *View) awaitScrolled(ctx context.Context, id desktop.ID, from int) error {
	for p := v.NewAdaptiveWait(scrollTimeout); ; {
		if err := v.Refresh(ctx); err != nil {
			return err
		}
		i := v.Snapshot.Index(id)
		if i < 0 || v.Snapshot.IsVisible(i) {
			return nil
		}
		if _, _, rows := v.ScrollDistance(i); rows != from {
			return nil
		}
		if !p.AwaitChange(ctx) {
			return guierr.Failed(aai.Delivered, "its list does not scroll any further")
		}
	}
}

// scrollListBy scrolls a list by its scroll bar or the wheel.
func (v *View) scrollListBy(ctx context.Context, list, pixels int) error {
	if bar := v.Scrollbar(list, true); bar >= 0 && !params.TakesFocus(v.Call) {
		e := &v.Snapshot.Elements[bar]
		to := math.Max(e.Min, math.Min(e.Max, fieldtext.ParseNumber(e.Value, 0)+float64(pixels)))
		return v.ByAccessibility(bar, "", desktop.Act{Verb: desktop.SetNumber, Number: to}).Do(ctx)
	}
	return v.ByInput(list, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at, err := v.ClickPoint(list, w)
		if err != nil {
			return err
		}
		return input.Scroll(ctx, seat, w.ID, at, 0, Notches(pixels))
	}).Do(ctx)
}
