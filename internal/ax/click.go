package ax

import (
	"context"

	"aai"
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
		run:  func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return d.look(ctx, call, click) },
	}.tool()
}

func click(ctx context.Context, v *view) (*aai.Result, error) {
	query := textArg(v.call, "query")
	button, count, done := kindOfClick(v.call)
	asks := pressesByAsking(v.call)
	v.alsoMenus = asks
	m, err := v.toActOn(ctx, query)
	if err != nil {
		return nil, err
	}
	if how := textArg(v.call, "select"); how != "" {
		return v.selectMore(ctx, m.index, how == "range")
	}
	return v.clickOn(ctx, m.index, button, count, asks, done)
}

// clickOn clicks the element, in the background by asking for it where that will do.
func (v *view) clickOn(ctx context.Context, i int, button desktop.MouseButton, count int, asks bool, done string) (*aai.Result, error) {
	v.watchCanvas(i)
	a := deed{view: v, index: i, done: done, selects: button == desktop.LeftButton && count == 1}
	if asks {
		if err := v.refuseToOpen(i); err != nil {
			return nil, err
		}
		a.ways = v.waysToPress(i)
	}
	if asks && v.inClosedMenu(i) {
		a.ways = append(a.ways, v.pressRashly(i))
		return a.perform(ctx)
	}
	a.ways = append(a.ways, v.byInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at, err := v.point(i, w)
		if err != nil {
			return err
		}
		return press(ctx, input, seat, v.over(ctx, w, at), at, button, count)
	}))
	if asks {
		a.ways = append(a.ways, v.pressRashly(i))
	}
	unheard := asks && v.app.Browser && (takesText(&v.shot.Elements[i]) && v.shot.Elements[i].States.Has(desktop.Multiline) || len(v.momentParts(i)) > 0)
	out, err := a.perform(ctx)
	if err == nil && unheard {
		out.Text, out.Whole = out.Text+noClick, false
	}
	return out, err
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

// toActOn finds the element that the query means and waits until it can be acted
// upon, in the mode "focus" with its window in front.
func (v *view) toActOn(ctx context.Context, query string) (match, error) {
	v.acting, v.surely = true, true
	m, err := v.locate(ctx, query)
	if err != nil {
		return m, err
	}
	v.acting = false
	m = v.bring(ctx, m)
	if m, err = v.ready(ctx, m, query); err != nil || !inFocus(v.call) {
		return m, err
	}
	return v.inFront(ctx, m)
}

// waysToPress are the ways to press an element by asking the program.
func (v *view) waysToPress(i int) []way {
	e := &v.shot.Elements[i]
	var ways []way
	if sheetCell(e) {
		ways = append(ways, v.byAsking(i, "the cursor of its sheet", desktop.Act{Verb: desktop.TakeFocus}))
	}
	switch e.Role {
	case desktop.Option, desktop.ListItem, desktop.TreeItem, desktop.Row, desktop.Cell, desktop.Tab:
		// A menu's items are selectable too, but that only highlights them.
		ways = append(ways, v.byAsking(i, "the selection of its list", desktop.Act{Verb: desktop.SelectItem}))
	}
	return append(ways, v.byAsking(i, "its accessibility action", desktop.Act{Verb: desktop.Press, InClosedMenu: v.inClosedMenu(i)}))
}

// pressRashly is the last way to press an element: the program may hang after it.
func (v *view) pressRashly(i int) way {
	w := v.byAsking(i, "its accessibility action over the bus", desktop.Act{Verb: desktop.Press, InClosedMenu: v.inClosedMenu(i), Rash: true})
	w.danger = "the program could be reached over the bus alone: if a dialog of it is open now, it may hang at the next key, so close the dialog by its buttons first"
	return w
}

func kindOfClick(call *aai.Call) (button desktop.MouseButton, count int, done string) {
	switch textArg(call, "click_type") {
	case "double":
		return desktop.LeftButton, 2, "Double-clicked"
	case "right":
		return desktop.RightButton, 1, "Right-clicked"
	case "hover":
		return desktop.LeftButton, 0, "Moved the pointer to"
	}
	return desktop.LeftButton, 1, "Clicked"
}

func (d *desk) clickAtTool() *aai.Tool {
	return spec{
		name: "ax_click_at", title: "Click at screen coordinates",
		returns:     deedReturns,
		description: "Click a point, which must be in a window of the program.",
		params:      appProp + `,` + xyProps + `,` + pictureProp + `,` + clickProp + `,` + modeProp,
		required:    `["app", "x", "y"]`,
		run:         func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return d.look(ctx, call, clickAt) },
	}.tool()
}

// samePressed reports whether the element can be asked for what a click anywhere on it does;
// what is drawn is another thing at each point.
func samePressed(e *desktop.Element) bool {
	return len(e.Actions) > 0 && e.Role != desktop.Canvas && e.Role != desktop.Image
}

func clickAt(ctx context.Context, v *view) (*aai.Result, error) {
	at, err := v.spot(ctx, "")
	if err != nil {
		return nil, err
	}
	w, err := v.windowAt(ctx, at)
	if err != nil {
		return nil, err
	}
	button, count, done := kindOfClick(v.call)
	i, err := v.elementAt(ctx, at, w)
	if err != nil {
		return nil, err
	}
	v.watchSight()
	a := deed{view: v, index: i, done: done}
	asked := false
	if i >= 0 && button == desktop.LeftButton && count == 1 && !inFocus(v.call) && samePressed(&v.shot.Elements[i]) {
		if err := v.obstacle(ctx, i); err != nil {
			return nil, err
		}
		if err := v.refuseToOpen(i); err != nil {
			return nil, err
		}
		a.ways, asked = v.waysToPress(i), true
	}
	a.ways = append(a.ways, v.byInputIn(in(w), func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return press(ctx, input, seat, w.ID, at, button, count)
	}))
	if asked {
		a.ways = append(a.ways, v.pressRashly(i))
	}
	return a.perform(ctx)
}

// in finds a window that is known already.
func in(w desktop.WindowInfo) func(context.Context) (desktop.WindowInfo, error) {
	return func(context.Context) (desktop.WindowInfo, error) { return w, nil }
}

// windowAt returns the program's window that holds the point. In the background
// it may lie under others.
func (v *view) windowAt(ctx context.Context, at desktop.Point) (desktop.WindowInfo, error) {
	own, err := v.windows(ctx)
	if err != nil {
		return desktop.WindowInfo{}, err
	}
	for _, w := range own {
		if w.Frame.Holds(at) && !w.Minimized {
			return w, nil
		}
	}
	e := aai.Errorf(aai.InvalidParams, "x, y: the point %d, %d is in no window of %s", at.X, at.Y, aai.CleanLabel(v.app.Name, 60))
	e.Hint = "ax_list_windows says where its windows are."
	return desktop.WindowInfo{}, e
}

// elementAt returns the innermost element that people do something with and that shows
// at the point in the window, or -1. What lies there in another window of the program is
// not meant.
func (v *view) elementAt(ctx context.Context, at desktop.Point, w desktop.WindowInfo) (int, error) {
	return v.innermost(ctx, at, w, func(e *desktop.Element) bool { return e.Role.Interactive() })
}

// innermost is elementAt for such elements.
func (v *view) innermost(ctx context.Context, at desktop.Point, w desktop.WindowInfo, such func(*desktop.Element) bool) (int, error) {
	own, err := v.windows(ctx)
	if err != nil {
		return -1, err
	}
	found := -1
	for _, top := range v.shot.Children(-1) {
		if shows, sure := likest(own, &v.shot.Elements[top]); !sure || shows.ID != w.ID {
			continue
		}
		for i := top; i < v.shot.Elements[top].End; i++ {
			if e := &v.shot.Elements[i]; such(e) && e.Frame.Holds(at) && v.shot.Visible(i) {
				found = i
			}
		}
	}
	return found, nil
}
