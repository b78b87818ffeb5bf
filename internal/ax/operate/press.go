package operate

import (
	"context"

	"aai/internal/ax/asked"
	"aai/internal/ax/values"
	"aai/internal/desktop"
)

// ToActOn finds the element that the query means and waits until it can be acted
// upon, in the mode "focus" with its window in front.
func (v *View) ToActOn(ctx context.Context, query string) (Match, error) {
	v.Acting, v.Surely = true, true
	m, err := v.Locate(ctx, query)
	if err != nil {
		return m, err
	}
	m, v.brought = v.Bring(ctx, m)
	m, err = v.Ready(ctx, m, query) // what was given another name meanwhile is not meant
	v.Acting = false
	if err != nil || !asked.InFocus(v.Call) {
		return m, err
	}
	return v.InFront(ctx, m)
}

// WaysToPress are the ways to press an element by asking the program.
func (v *View) WaysToPress(i int) []Way {
	e := &v.Shot.Elements[i]
	var ways []Way
	if values.SheetCell(e) {
		ways = append(ways, v.ByAsking(i, "the cursor of its sheet", desktop.Act{Verb: desktop.TakeFocus}))
	}
	switch e.Role {
	case desktop.Option, desktop.ListItem, desktop.TreeItem, desktop.Row, desktop.Cell, desktop.Tab:
		// A menu's items are selectable too, but that only highlights them.
		ways = append(ways, v.ByAsking(i, "the selection of its list", desktop.Act{Verb: desktop.SelectItem}))
	}
	return append(ways, v.ByAsking(i, "its accessibility action", desktop.Act{Verb: desktop.Press, InClosedMenu: v.InClosedMenu(i)}))
}

// PressRashly is the last way to press an element: the program may hang after it.
func (v *View) PressRashly(i int) Way {
	w := v.ByAsking(i, "its accessibility action over the bus", desktop.Act{Verb: desktop.Press, InClosedMenu: v.InClosedMenu(i), Rash: true})
	w.danger = "the program could be reached over the bus alone: if a dialog of it is open now, it may hang at the next key, so close the dialog by its buttons first"
	return w
}

// In finds a window that is known already.
func In(w desktop.WindowInfo) func(context.Context) (desktop.WindowInfo, error) {
	return func(context.Context) (desktop.WindowInfo, error) { return w, nil }
}
