package gui

import (
	"context"
	"slices"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// popupGap is the distance, in pixels, from the edges of a button to the points where its popup is looked for.
const popupGap = 8

// popupBelow returns the popup below button i, in a toolkit that reports no popups, such as Qt; 0 if there is none.
func (v *view) popupBelow(ctx context.Context, i int) desktop.WindowID {
	if i < 0 || !v.app.SelectsWithoutCurrent || v.backend.Windows == nil || v.snapshot.Elements[i].Role != desktop.Button {
		return 0
	}
	own, err := v.appWindows(ctx)
	if err != nil {
		return 0
	}
	f := v.snapshot.Elements[i].Frame
	for _, x := range []int{f.X + popupGap, f.X + f.W/2, f.X + f.W - popupGap} {
		seen, err := v.backend.Windows.WindowAt(ctx, desktop.Point{X: x, Y: f.Y + f.H + popupGap})
		if err == nil && seen.PID == v.app.PID && !slices.ContainsFunc(own, func(w desktop.WindowInfo) bool { return w.ID == seen.ID }) {
			return seen.ID
		}
	}
	return 0
}

// reportPopup describes a popup that opened below button i for the reply, if the tree shows no change. before is the
// popup that was there before the action.
func (a action) reportPopup(ctx context.Context, i int, before desktop.WindowID, result *actionResult) string {
	if result.Verified || a.verify != nil {
		return ""
	}
	if now := a.popupBelow(ctx, i); now == 0 || now == before {
		return ""
	}
	const text = "a popup opened below it, which the program does not report"
	result.Verified, result.Changes = true, append(result.Changes, text)
	return " What changed: " + text + "; ax_screenshot shows it, and the key escape closes it."
}

// popupStep is the distance, in pixels, between the points where openPopup looks, and popupReach is how far around the
// window it looks.
const popupStep, popupReach = 40, 120

// openPopup reports whether the program has a menu or list open over or beside the window, which the window system
// lists nowhere.
func (v *view) openPopup(ctx context.Context, w desktop.WindowInfo) bool {
	own, err := v.appWindows(ctx)
	if err != nil {
		return false
	}
	f := w.Frame
	for x := f.X - popupReach; x < f.X+f.W+popupReach; x += popupStep {
		for y := f.Y - popupReach; y < f.Y+f.H+popupReach; y += popupStep {
			seen, err := v.backend.Windows.WindowAt(ctx, desktop.Point{X: x, Y: y})
			if err == nil && seen.PID == v.app.PID && !slices.ContainsFunc(own, func(w desktop.WindowInfo) bool { return w.ID == seen.ID }) {
				return true
			}
		}
	}
	return false
}
