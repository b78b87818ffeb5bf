package gui

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/snapview"
)

func (d *engine) clickTool() *aai.Tool {
	return spec{
		name: "ax_click", title: "Click UI element",
		returns:     actionReturns,
		description: "Click an element, in the background by default. The reply says what changed.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,` + clickProp + `,
			"select": {"type": "string", "enum": ["add", "range"], "description": "In a list: add it, or the range up to it"},` + modeProp, required: `["app", "query"]`,
		precheck: d.precheckQueries,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withViewToAct(ctx, call, click)
		},
	}.tool()
}

func click(ctx context.Context, v *view) (*aai.Result, error) {
	query := params.String(v.call, "query")
	button, count, done := params.Click(v.call)
	asks := params.PressesViaAccessibility(v.call)
	v.includeMenus = asks
	m, err := v.findForAction(ctx, query)
	if err != nil {
		return nil, err
	}
	if how := params.String(v.call, "select"); how != "" {
		was := v.readFieldValue(ctx, v.choiceOwner(m.index))
		out, err := v.selectMore(ctx, m.index, how == "range")
		return v.withUndo(ctx, was, out, err)
	}
	return v.clickOn(ctx, m.index, button, count, asks, done)
}

// clickOn clicks the element, in the background by accessibility if possible.
func (v *view) clickOn(ctx context.Context, i int, button desktop.MouseButton, count int, asks bool, done string) (*aai.Result, error) {
	v.watchCanvas(i)
	var was fieldValue
	if asks || button == desktop.LeftButton && count == 1 {
		was = v.readFieldValue(ctx, v.choiceOwner(i))
	}
	a := action{view: v, index: i, doneText: done, expectsSelection: button == desktop.LeftButton && count == 1}
	if asks {
		if err := v.CheckOpen(i); err != nil {
			return nil, err
		}
		a.techniques = v.pressTechniques(i)
	}
	if asks && v.InClosedMenu(i) {
		a.techniques = append(a.techniques, v.pressAsLastResort(i))
		return a.execute(ctx)
	}
	a.techniques = append(a.techniques, v.byInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at, err := v.ClickPoint(i, w)
		if err != nil {
			return err
		}
		return press(ctx, input, seat, v.windowToClick(ctx, w, at), at, button, count)
	}))
	if asks {
		a.techniques = append(a.techniques, v.pressAsLastResort(i))
	}
	if asks && snapview.TakesText(&v.Snapshot.Elements[i]) && !v.app.IsBrowser { // a click there only sets the focus
		a.techniques = append(a.techniques, v.byKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
			return v.focusWithoutPress(ctx, i, input, seat, w)
		}))
	}
	unheard := asks && v.app.IsBrowser && (snapview.TakesText(&v.Snapshot.Elements[i]) && v.Snapshot.Elements[i].States.Has(desktop.Multiline) || len(v.DateTimeParts(i)) > 0)
	out, err := a.execute(ctx)
	if err == nil && unheard {
		out.Text, out.DataComplete = out.Text+noClick, false
	}
	return v.withUndo(ctx, was, out, err)
}

// noClick is a warning about page fields that only get the focus from Chromium's accessibility
// click, and no other event: multiline text and dates. Other elements get pointer events and a
// click.
const noClick = "\nIts page may have received the focus but no click: mode \"focus\" clicks."

// press clicks count times at the point. If count is 0 it moves the pointer there, from beside the
// point, in case the pointer is there already.
func press(ctx context.Context, input desktop.Input, seat desktop.Seat, window desktop.WindowID, at desktop.Point, button desktop.MouseButton, count int) error {
	if count > 0 {
		return input.Click(ctx, seat, window, at, button, count)
	}
	if err := input.Scroll(ctx, seat, window, desktop.Point{X: at.X - 1, Y: at.Y}, 0, 0); err != nil {
		return err
	}
	return input.Scroll(ctx, seat, window, at, 0, 0)
}

func (d *engine) clickAtTool() *aai.Tool {
	return spec{
		name: "ax_click_at", title: "Click at screen coordinates",
		returns:     actionReturns,
		description: "Click a point, which must be in a window of the program.",
		params:      appProp + `,` + xyProps + `,` + pictureProp + `,` + clickProp + `,` + modeProp,
		required:    `["app", "x", "y"]`,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withViewToAct(ctx, call, clickAt)
		},
	}.tool()
}

func clickAt(ctx context.Context, v *view) (*aai.Result, error) {
	at, err := v.resolvePoint(ctx, "")
	if err != nil {
		return nil, err
	}
	w, err := v.windowAt(ctx, at)
	if err != nil {
		return nil, err
	}
	button, count, done := params.Click(v.call)
	i, err := v.elementAt(ctx, at, w)
	if err != nil {
		return nil, err
	}
	v.watchWindow()
	a := action{view: v, index: i, doneText: done}
	asks := false
	if i >= 0 && button == desktop.LeftButton && count == 1 && !params.TakesFocus(v.call) && snapview.IsPointIndependent(&v.Snapshot.Elements[i]) {
		if err := v.obstacle(ctx, i); err != nil {
			return nil, err
		}
		if err := v.CheckOpen(i); err != nil {
			return nil, err
		}
		a.techniques, asks = v.pressTechniques(i), true
	}
	a.techniques = append(a.techniques, v.byInputIn(fixedWindow(w), func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return press(ctx, input, seat, w.ID, at, button, count)
	}))
	if asks {
		a.techniques = append(a.techniques, v.pressAsLastResort(i))
	}
	return a.execute(ctx)
}
