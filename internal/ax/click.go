package ax

import (
	"context"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/ax/operate"
	"aai/internal/ax/scene"
	"aai/internal/desktop"
)

func (d *desk) clickTool() *aai.Tool {
	return spec{
		name: "ax_click", title: "Click UI element",
		returns:     deedReturns,
		description: "Click an element, in the background by default. The reply says what changed.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,` + clickProp + `,
			"select": {"type": "string", "enum": ["add", "range"], "description": "Of a list: select it too, or all up to it"},` + modeProp, required: `["app", "query"]`,
		vain: d.missing,
		run:  func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return d.act(ctx, call, click) },
	}.tool()
}

func click(ctx context.Context, v *view) (*aai.Result, error) {
	query := asked.Text(v.Call, "query")
	button, count, done := asked.Click(v.Call)
	asks := asked.PressesByAsking(v.Call)
	v.AlsoMenus = asks
	m, err := v.ToActOn(ctx, query)
	if err != nil {
		return nil, err
	}
	if how := asked.Text(v.Call, "select"); how != "" {
		was := v.holds(ctx, v.switched(m.Index))
		out, err := v.selectMore(ctx, m.Index, how == "range")
		return v.takingBack(ctx, was, out, err)
	}
	return v.clickOn(ctx, m.Index, button, count, asks, done)
}

// clickOn clicks the element, in the background by asking for it where that will do.
func (v *view) clickOn(ctx context.Context, i int, button desktop.MouseButton, count int, asks bool, done string) (*aai.Result, error) {
	v.WatchCanvas(i)
	var was held
	if asks || button == desktop.LeftButton && count == 1 {
		was = v.holds(ctx, v.switched(i))
	}
	a := operate.Deed{View: v.View, Index: i, Done: done, Selects: button == desktop.LeftButton && count == 1}
	if asks {
		if err := v.RefuseToOpen(i); err != nil {
			return nil, err
		}
		a.Ways = v.WaysToPress(i)
	}
	if asks && v.InClosedMenu(i) {
		a.Ways = append(a.Ways, v.PressRashly(i))
		return a.Perform(ctx)
	}
	a.Ways = append(a.Ways, v.ByInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at, err := v.Point(i, w)
		if err != nil {
			return err
		}
		return press(ctx, input, seat, v.Over(ctx, w, at), at, button, count)
	}))
	if asks {
		a.Ways = append(a.Ways, v.PressRashly(i))
	}
	if asks && scene.TakesText(&v.Shot.Elements[i]) && !v.App.Browser { // what a click is for, there
		a.Ways = append(a.Ways, v.ByKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
			return v.GiveKeyboard(ctx, i, input, seat, w)
		}))
	}
	unheard := asks && v.App.Browser && (scene.TakesText(&v.Shot.Elements[i]) && v.Shot.Elements[i].States.Has(desktop.Multiline) || len(v.MomentParts(i)) > 0)
	out, err := a.Perform(ctx)
	if err == nil && unheard {
		out.Text, out.Whole = out.Text+noClick, false
	}
	return v.takingBack(ctx, was, out, err)
}

// noClick is said of those fields of a page to which Chromium gives the keyboard, and nothing
// else, where it is asked to click them: text of several lines and dates. Others hear of a
// pointer that goes down and up, and of a click.
const noClick = "\nIts page may have heard of the focus and of no click: mode \"focus\" clicks."

// press clicks so often at the point; no time is to move the pointer there, from beside it,
// where it may be already.
func press(ctx context.Context, input desktop.Input, seat desktop.Seat, window desktop.WindowID, at desktop.Point, button desktop.MouseButton, count int) error {
	if count > 0 {
		return input.Click(ctx, seat, window, at, button, count)
	}
	if err := input.Scroll(ctx, seat, window, desktop.Point{X: at.X - 1, Y: at.Y}, 0, 0); err != nil {
		return err
	}
	return input.Scroll(ctx, seat, window, at, 0, 0)
}

func (d *desk) clickAtTool() *aai.Tool {
	return spec{
		name: "ax_click_at", title: "Click at screen coordinates",
		returns:     deedReturns,
		description: "Click a point, which must be in a window of the program.",
		params:      appProp + `,` + xyProps + `,` + pictureProp + `,` + clickProp + `,` + modeProp,
		required:    `["app", "x", "y"]`,
		run:         func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return d.act(ctx, call, clickAt) },
	}.tool()
}

func clickAt(ctx context.Context, v *view) (*aai.Result, error) {
	at, err := v.Spot(ctx, "")
	if err != nil {
		return nil, err
	}
	w, err := v.WindowAt(ctx, at)
	if err != nil {
		return nil, err
	}
	button, count, done := asked.Click(v.Call)
	i, err := v.ElementAt(ctx, at, w)
	if err != nil {
		return nil, err
	}
	v.WatchSight()
	a := operate.Deed{View: v.View, Index: i, Done: done}
	asks := false
	if i >= 0 && button == desktop.LeftButton && count == 1 && !asked.InFocus(v.Call) && scene.SamePressed(&v.Shot.Elements[i]) {
		if err := v.Obstacle(ctx, i); err != nil {
			return nil, err
		}
		if err := v.RefuseToOpen(i); err != nil {
			return nil, err
		}
		a.Ways, asks = v.WaysToPress(i), true
	}
	a.Ways = append(a.Ways, v.ByInputIn(operate.In(w), func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return press(ctx, input, seat, w.ID, at, button, count)
	}))
	if asks {
		a.Ways = append(a.Ways, v.PressRashly(i))
	}
	return a.Perform(ctx)
}
