package operate

import (
	"context"
	"strings"

	"aai"
	"aai/internal/ax/sight"
	"aai/internal/desktop"
)

// treeless reports whether the program was not read because it has no tree, and need not be.
func (v *View) treeless(err error) bool {
	e := aai.AsError(err)
	return e != nil && v.byPicture && e.Code == aai.AutomationNotSupported && v.App.Hidden != ""
}

// withoutTree is the error of a program that cannot be read, which says what can be done with
// one that has no tree.
func (v *View) withoutTree(err error) error {
	e := aai.AsError(err)
	if v.App.Hidden == "" || e.Code != aai.AutomationNotSupported {
		return err
	}
	said := *e
	said.Hint = strings.TrimSpace(e.Hint + " " + blindHint)
	return &said
}

// blindHint says what a program without a tree can be operated by.
const blindHint = "By its picture: ax_screenshot, then ax_click_at, ax_key_press and ax_type without query."

// frontTitle is what the program's front window is called; "" where that is not known.
func (v *View) frontTitle(ctx context.Context) string {
	if v.Blind {
		w, err := v.WindowOf(ctx, -1)
		if err != nil {
			return ""
		}
		return aai.CleanLabel(w.Title, MaxOnRecord)
	}
	if top := v.FrontTop(ctx); top >= 0 {
		return aai.CleanLabel(v.Shot.Elements[top].Name, MaxOnRecord)
	}
	return ""
}

// WatchSight has the picture of the window looked at that gets the input.
func (v *View) WatchSight() {
	if v.Backend.Screen != nil && v.Backend.Windows != nil {
		v.sight = sight.New(v.Backend.Screen, v.Backend.Windows)
	}
}

// WatchCanvas is watchSight where what is drawn may be all that tells.
func (v *View) WatchCanvas(i int) {
	if i >= 0 && v.Shot.Elements[i].Role == desktop.Canvas {
		v.WatchSight()
	}
}

// seen is what changed in the picture; "" where nothing did, or none was taken.
func (a Deed) seen(ctx context.Context) string {
	if a.sight == nil {
		return ""
	}
	return a.sight.Changed(ctx, a.App)
}

// drawn says what changed in the picture where the tree tells of nothing, for the reply.
func (a Deed) drawn(ctx context.Context, result *DeedResult) string {
	if result.Verified || a.Verify != nil {
		return ""
	}
	text := a.seen(ctx)
	if text == "" {
		return ""
	}
	result.Verified, result.Changes = true, append(result.Changes, text)
	return " What changed: " + text + "."
}

// performBlind is perform in a window without a tree.
func (a Deed) performBlind(ctx context.Context) (*aai.Result, error) {
	if err := a.Begin(ctx, -1); err != nil {
		return nil, err
	}
	a.WatchSight()
	keyboard := a.Keep(ctx)
	used, err := a.tryWays(ctx)
	if err != nil {
		return nil, err
	}
	result := DeedResult{Delivered: true, Way: used.Name, Changes: []string{}}
	out := &aai.Result{Text: a.Done + " by " + used.Name + "." + a.drawn(ctx, &result), Whole: true}
	a.guested(ctx, &keyboard, &result, out, a.Done)
	switch {
	case result.Verified:
	case a.sight != nil && a.sight.Moves():
		out.Warning = "delivered, but its picture did not change, except where it changes by itself"
	default:
		out.Warning = "delivered, but its picture did not change"
	}
	if keyboard.GiveBack(ctx, a.Shot) {
		out.Text, out.Whole = out.Text+KeyboardBack, false
	}
	out.Data = result
	return out, nil
}
