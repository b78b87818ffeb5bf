package ax

import (
	"context"
	"slices"
	"strings"

	"aai"
	"aai/internal/desktop"
)

// Windows without a tree are operated by points of their pictures and by keys, and what is
// drawn in one that has a tree is judged by its picture, too.

// pointed reports whether the call names no element, so that it can do without a tree.
func pointed(call *aai.Call) bool {
	if len(asked(call)) > 0 {
		return false
	}
	for _, name := range []string{"x", "from_x", "key", "text", "direction"} {
		if given(call, name) {
			return true
		}
	}
	return false
}

// treeless reports whether the program was not read because it has no tree, and need not be.
func (v *view) treeless(err error) bool {
	e := aai.AsError(err)
	return e != nil && v.byPicture && e.Code == aai.AutomationNotSupported && v.app.Hidden != ""
}

// withoutTree is the error of a program that cannot be read, which says what can be done with
// one that has no tree.
func (v *view) withoutTree(err error) error {
	e := aai.AsError(err)
	if v.app.Hidden == "" || e.Code != aai.AutomationNotSupported {
		return err
	}
	said := *e
	said.Hint = strings.TrimSpace(e.Hint + " " + blindHint)
	return &said
}

// blindHint says what a program without a tree can be operated by.
const blindHint = "By its picture: ax_screenshot, then ax_click_at, ax_key_press and ax_type without query."

// hasWindow reports whether the program shows a window. One of no class is none of its own:
// LibreOffice shows such a picture while it starts.
func (d *desk) hasWindow(ctx context.Context, app desktop.App) bool {
	own, err := windowsOf(ctx, d.open(), app)
	return err == nil && slices.ContainsFunc(own, func(w desktop.WindowInfo) bool { return w.Class != "" })
}

// frontTitle is what the program's front window is called; "" where that is not known.
func (v *view) frontTitle(ctx context.Context) string {
	if v.blind {
		w, err := v.windowOf(ctx, -1)
		if err != nil {
			return ""
		}
		return aai.CleanLabel(w.Title, maxOnRecord)
	}
	if top := v.frontTop(ctx); top >= 0 {
		return aai.CleanLabel(v.shot.Elements[top].Name, maxOnRecord)
	}
	return ""
}

// watchSight has the picture of the window looked at that gets the input.
func (v *view) watchSight() {
	if v.backend.Screen != nil && v.backend.Windows != nil {
		v.sight = &sight{screen: v.backend.Screen, windows: v.backend.Windows}
	}
}

// watchCanvas is watchSight where what is drawn may be all that tells.
func (v *view) watchCanvas(i int) {
	if i >= 0 && v.shot.Elements[i].Role == desktop.Canvas {
		v.watchSight()
	}
}

// seen is what changed in the picture; "" where nothing did, or none was taken.
func (a deed) seen(ctx context.Context) string {
	if a.sight == nil || a.sight.window.ID == 0 {
		return ""
	}
	return a.sight.changed(ctx, a.app)
}

// drawn says what changed in the picture where the tree tells of nothing, for the reply.
func (a deed) drawn(ctx context.Context, result *deedResult) string {
	if result.Verified || a.verify != nil {
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
func (a deed) performBlind(ctx context.Context) (*aai.Result, error) {
	if err := a.begin(ctx, -1); err != nil {
		return nil, err
	}
	a.watchSight()
	keyboard := a.keep(ctx)
	used, err := a.tryWays(ctx)
	if err != nil {
		return nil, err
	}
	result := deedResult{Delivered: true, Way: used.name, Changes: []string{}}
	out := &aai.Result{Text: a.done + " by " + used.name + "." + a.drawn(ctx, &result), Whole: true}
	switch {
	case result.Verified:
	case a.sight != nil && !a.sight.moves.Empty():
		out.Warning = "delivered, but its picture did not change, except where it changes by itself"
	default:
		out.Warning = "delivered, but its picture did not change"
	}
	if keyboard.giveBack(ctx, a.shot) {
		out.Text, out.Whole = out.Text+keyboardBack, false
	}
	out.Data = result
	return out, nil
}

// typeBlind types into what has the keyboard of a window without a tree.
func (v *view) typeBlind(ctx context.Context) (*aai.Result, error) {
	if flagArg(v.call, "clear_first") {
		e := aai.Errorf(aai.InvalidParams, "clear_first: %s does not tell what it holds", aai.CleanLabel(v.app.Name, 60))
		e.Delivery, e.Hint = aai.NotDelivered, "ax_key_press presses what clears it there."
		return nil, e
	}
	text := textArg(v.call, "text")
	if flagArg(v.call, "submit") {
		text += "\n"
	}
	a := deed{view: v, index: -1, done: "Typed"}
	a.ways = []way{v.byInput(-1, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return input.Type(ctx, seat, w.ID, text)
	})}
	return a.perform(ctx)
}
