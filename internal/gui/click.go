package gui

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

func (d *engine) clickTool() spec {
	return spec{
		name: "ax_click", title: "Click UI element",
		description: "Click an element, in the background by default. The reply says what changed.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,` + clickProp + `,
			"select": {"type": "string", "enum": ["add", "range"], "description": "In a list: add it, or the range up to it"},` + modeProp, required: `["app", "query"]`,
		precheck: d.precheckQueries,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withViewToAct(ctx, call, click)
		},
	}
}

func click(ctx context.Context, v *view) (*aai.Result, error) {
	query := params.String(v.call, "query")
	button, count, done := params.Click(v.call)
	if word, is := v.engine.pictureWord(v.call, v.app); is {
		return v.clickWord(ctx, word)
	}
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
		if err := v.checkOpen(i); err != nil {
			return nil, err
		}
		a.techniques = v.withRowPicture(i, v.pressTechniques(i))
		if current := v.currentBeside(i); current >= 0 {
			a.techniques = slices.Insert(a.techniques, 0, v.byItemKeys(i, current))
		}
		if v.isKeyboardLink(i) {
			a.techniques = []technique{v.byLinkKeys(i)}
		}
	}
	if asks && v.inClosedMenu(i) {
		a.techniques = append(a.techniques, v.pressAsLastResort(i))
		return a.execute(ctx)
	}
	a.techniques = append(a.techniques, v.byInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		over, at, err := v.pointToClick(ctx, i, w)
		if err != nil {
			return err
		}
		return press(ctx, input, seat, over, at, button, count)
	}))
	if asks && !v.isKeyboardLink(i) { // a press opens no link of a label, and is not refused
		a.techniques = append(append(a.techniques, v.pressAsLastResort(i)), v.bySpace(i)...)
	}
	if asks && takesText(&v.snapshot.Elements[i]) && !v.app.IsBrowser { // a click there only sets the focus
		a.techniques = append(a.techniques, v.byKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
			return v.focusWithoutPress(ctx, i, input, seat, w)
		}))
	}
	unheard := asks && v.app.IsBrowser && !v.inDevTools(i) && (takesText(&v.snapshot.Elements[i]) && v.snapshot.Elements[i].States.Has(desktop.Multiline) || len(v.dateTimeParts(i)) > 0)
	selected := v.trackElement(i)
	out, err := a.execute(ctx)
	if at := selected(); err == nil && at >= 0 {
		v.markSelected(at, out)
	}
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

// The tools that need no app while one program is connected; see [operator.FindTarget].
const clickAtName, keyPressName = "ax_click_at", "ax_key_press"

func (d *engine) clickAtTool() spec {
	return spec{
		name: clickAtName, title: "Click at screen coordinates",
		description: "Click a point, which must be in a window of the program.",
		params:      appProp + `,` + xyProps + `,` + pictureProp + `,` + clickProp + `,` + modeProp,
		required:    `["x", "y"]`,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withViewToAct(ctx, call, clickAt)
		},
	}
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
	return v.clickPointOf(ctx, at, w)
}

// clickPointOf clicks the point in the window.
func (v *view) clickPointOf(ctx context.Context, at desktop.Point, w desktop.WindowInfo) (*aai.Result, error) {
	button, count, done := params.Click(v.call)
	i, err := v.innermost(ctx, at, w, isInteractive)
	if err != nil {
		return nil, err
	}
	v.watchWindow()
	a := action{view: v, index: i, doneText: done}
	asks := false
	if i >= 0 && button == desktop.LeftButton && count == 1 && !params.TakesFocus(v.call) && isPointIndependent(&v.snapshot.Elements[i]) {
		if err := v.obstacle(ctx, i); err != nil {
			return nil, err
		}
		if err := v.checkOpen(i); err != nil {
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

// findForAction finds the element of the query and waits until it is ready, in the mode "focus"
// with its window in front.
func (v *view) findForAction(ctx context.Context, query string) (match, error) {
	v.forAction, v.certainOnly = true, true
	m, err := v.locate(ctx, query)
	if err != nil {
		return m, err
	}
	m, v.scrolledIntoView = v.scrollIntoView(ctx, m, query)
	m, err = v.awaitReady(ctx, m, query) // an element that was renamed meanwhile does not match
	v.forAction = false
	if err == nil && params.TakesFocus(v.call) {
		m, err = v.bringToFront(ctx, m)
	}
	if err == nil && v.scrolledIntoView && (params.TakesFocus(v.call) || !v.app.IsBrowser) {
		m, err = v.awaitStill(ctx, m)
	}
	return m, err
}

// bySelection is the name of the technique that selects an item.
const bySelection = "the selection of its list"

// pressTechniques returns the techniques to press an element by accessibility.
func (v *view) pressTechniques(i int) []technique {
	e := &v.snapshot.Elements[i]
	switch {
	case v.togglesOnly(i):
		return v.bySpace(i)
	case isToggleCell(e):
		return []technique{v.byItemKey(i, "space")}
	}
	var ways []technique
	if fieldtext.IsSheetCell(e) {
		ways = append(ways, v.byAccessibility(i, "the cursor of its sheet", desktop.Act{Verb: desktop.TakeFocus}))
	}
	switch e.Role {
	case desktop.Option, desktop.ListItem, desktop.TreeItem, desktop.Row, desktop.Cell, desktop.Tab:
		// Selecting a menu item would only highlight it.
		ways = append(ways, v.byAccessibility(i, bySelection, desktop.Act{Verb: desktop.SelectItem}))
	}
	ways = append(ways, v.byAccessibility(i, "its accessibility action", desktop.Act{Verb: desktop.Press, AllowClosedMenu: v.inClosedMenu(i)}))
	if row := v.rowAround(i); row >= 0 {
		ways = append(ways, v.byAccessibility(row, "the selection of its row", desktop.Act{Verb: desktop.SelectItem}))
	}
	return ways
}

// rowAround returns the row of a list or table around words that are not operated themselves, as in GTK 4; -1 if there
// is none.
func (v *view) rowAround(i int) int {
	for e := &v.snapshot.Elements[i]; ; e = &v.snapshot.Elements[i] {
		switch e.Role {
		case desktop.Option, desktop.ListItem, desktop.TreeItem, desktop.Row:
			return i
		case desktop.Label, desktop.Text, desktop.Cell, desktop.Generic, desktop.Group:
		default:
			return -1
		}
		if i = e.Parent; i < 0 || len(e.Actions) > 0 && e.Role != desktop.Label {
			return -1
		}
	}
}

// pressAsLastResort returns the technique that presses an element even if the program may hang at the next key.
// Callers append it after the safer techniques.
func (v *view) pressAsLastResort(i int) technique {
	w := v.byAccessibility(i, "its accessibility action over the bus", desktop.Act{Verb: desktop.Press, AllowClosedMenu: v.inClosedMenu(i), AllowHang: true})
	if v.togglesOnly(i) {
		return v.toggleAsLastResort(i)
	}
	w.risk = "the program could be reached over the bus alone: if it has a dialog open now, it may hang at the next key: close the dialog by its buttons first"
	return w
}

// fixedWindow returns a function for byInputIn or byKeysIn that always returns w.
func fixedWindow(w desktop.WindowInfo) func(context.Context) (desktop.WindowInfo, error) {
	return func(context.Context) (desktop.WindowInfo, error) { return w, nil }
}

// hoverTime is the minimum time for a page to notice the pointer: browsers report pointer moves
// once per frame, but execute accessibility actions at once.
const hoverTime = 50 * time.Millisecond

// items returns the menu or list item that is or contains the element of the action. The other items of its role
// there follow. nil if there is none.
func (a action) items(s *desktop.Snapshot) []int {
	i := a.index
	for ; i >= 0; i = s.Elements[i].Parent {
		role := s.Elements[i].Role
		if role.IsMenuItem() || role == desktop.Option || role == desktop.ListItem || role == desktop.TreeItem {
			break
		}
		if role.IsInteractive() || role.IsRefContainer() {
			return nil
		}
	}
	if i < 0 {
		return nil
	}
	items := []int{i}
	for p := s.Elements[i].Parent; len(items) == 1 && p >= 0 && s.Elements[p].Role != desktop.Document; p = s.Elements[p].Parent {
		for other := p + 1; other < s.Elements[p].End; other++ {
			apart := s.Elements[other].End <= i || other >= s.Elements[i].End
			if apart && s.Elements[other].Role == s.Elements[i].Role {
				items = append(items, other)
			}
		}
	}
	return items
}

// hoverItem moves the second pointer over the item of a page before the press, as a person's click
// does. Some menus (jQuery UI's) choose the last item under the pointer, whichever is clicked. It
// returns a snapshot from before the press; nil if the pointer was not moved.
func (a action) hoverItem(ctx context.Context) *desktop.Snapshot {
	if !a.app.IsBrowser || a.inDevTools(a.index) || len(a.techniques) == 0 || !a.techniques[0].viaAccessibility || a.backend.Input == nil || len(a.items(a.snapshot)) < 2 {
		return nil
	}
	w, err := a.windowOf(ctx, a.index)
	if err != nil {
		return nil
	}
	at, err := a.clickPoint(a.index, w)
	if err != nil {
		return nil
	}
	over := a.windowToClick(ctx, w, at).ID
	for _, x := range []int{at.X - 1, at.X} { // the pointer may be there already
		if a.backend.Input.Scroll(ctx, desktop.OwnSeat, over, desktop.Point{X: x, Y: at.Y}, 0, 0) != nil {
			return nil
		}
	}
	_ = aai.Sleep(ctx, hoverTime)
	_, _ = a.pollUntil(ctx, effectCeiling, func() (bool, error) { return a.backend.Events == nil || a.backend.Events.IsIdle(a.app), nil })
	shot, err := a.backend.Tree.Snapshot(ctx, a.app)
	if err != nil || shot.Index(a.id()) < 0 {
		return nil
	}
	return shot
}

// chosenItem reports whether the first item was chosen, by its state or by its name in a field.
// Otherwise it returns the name of another item that was chosen.
func (a action) chosenItem(before *desktop.Snapshot, items []int) (own bool, other string) {
	values := make(map[string]bool) // new values of fields
	for i := range a.snapshot.Elements {
		e := &a.snapshot.Elements[i]
		if was := before.Index(e.ID); was >= 0 && e.Value != "" && e.Value != before.Elements[was].Value {
			values[folded(e.Value)] = true
		}
	}
	for n, i := range items {
		was, states, now := &before.Elements[i], desktop.Selected|desktop.Checked|desktop.Pressed, a.snapshot.Index(before.Elements[i].ID)
		if n == 0 {
			states |= desktop.Expanded
		}
		changed := now >= 0 && a.snapshot.Elements[now].Name == was.Name && (a.snapshot.Elements[now].States^was.States)&states != 0 && (n == 0 || a.snapshot.Elements[now].States.HasAny(states))
		for part := i; part < was.End; part++ {
			if name := before.Elements[part].Name; changed || values[folded(name)] {
				return n == 0, name
			}
		}
	}
	return false, ""
}

func folded(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// isPointIndependent reports whether an accessibility action equals a click at any point of the
// element. In a drawing each point differs.
func isPointIndependent(e *desktop.Element) bool {
	return len(e.Actions) > 0 && e.Role != desktop.Canvas && e.Role != desktop.Image
}

// isUnselected reports whether a row is selectable and not selected. A cell of a sheet does not count, because a
// click only moves the cursor there. Nor does a cell with a check box, which a click ticks, nor one within a selected
// cell: GTK 3 reports only the outer one.
func (v *view) isUnselected(i int) bool {
	e := &v.snapshot.Elements[i]
	if e.Parent >= 0 && e.Role == desktop.Cell {
		if outer := &v.snapshot.Elements[e.Parent]; outer.Role == desktop.Cell && outer.States.Has(desktop.Selected) {
			return false
		}
	}
	return isRowRole(e.Role) && !fieldtext.IsSheetCell(e) && !isToggleCell(e) && e.States.Has(desktop.Selectable) && !e.States.Has(desktop.Selected)
}

// isRowRole reports whether elements of the role are rows of lists.
func isRowRole(role desktop.Role) bool {
	switch role {
	case desktop.Option, desktop.ListItem, desktop.TreeItem, desktop.Row, desktop.Cell:
		return true
	}
	return false
}

func isInteractive(e *desktop.Element) bool { return e.Role.IsInteractive() }
