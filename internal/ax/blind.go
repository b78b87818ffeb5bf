package ax

import (
	"context"
	"strings"
	"time"

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

// A treelessWindow is one that shows, of a program that has no tree yet.
type treelessWindow struct {
	id    desktop.WindowID
	since time.Time
}

// treelessFor is for how long a window shows until its program is taken for one without a
// tree: toolkits tell of theirs when they show a window, or soon after.
const treelessFor = 2500 * time.Millisecond

// stays reports whether the same window of the program has shown for that long, without a tree.
func (t *treelessWindow) stays(ctx context.Context, d *desk, app desktop.App) bool {
	if app.PID == 0 || app.Hidden == "" {
		return false
	}
	own, err := windowsOf(ctx, d.open(), app)
	if err != nil || len(own) == 0 {
		return false
	}
	if own[0].ID != t.id {
		*t = treelessWindow{own[0].ID, time.Now()}
	}
	return time.Since(t.since) >= treelessFor
}

// windowsIn is how many windows the program has.
func (d *desk) windowsIn(ctx context.Context, app desktop.App) (int, error) {
	shot, err := d.open().Tree.Snapshot(ctx, app)
	if err == nil {
		return len(shot.Children(-1)), nil
	}
	if app.Hidden != "" && aai.AsError(err).Code == aai.AutomationNotSupported {
		if own, failure := windowsOf(ctx, d.open(), app); failure == nil {
			return len(own), nil
		}
	}
	return 0, err
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
