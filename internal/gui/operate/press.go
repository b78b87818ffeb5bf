package operate

import (
	"context"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// FindForAction finds the element that the query means and waits until it can be acted
// upon, in the mode "focus" with its window in front.
func (v *View) FindForAction(ctx context.Context, query string) (Match, error) {
	v.ForAction, v.CertainOnly = true, true
	m, err := v.Locate(ctx, query)
	if err != nil {
		return m, err
	}
	m, v.scrolledIntoView = v.ScrollIntoView(ctx, m)
	m, err = v.AwaitReady(ctx, m, query) // what was given another name meanwhile is not meant
	v.ForAction = false
	if err != nil || !params.TakesFocus(v.Call) {
		return m, err
	}
	return v.BringToFront(ctx, m)
}

// PressTechniques are the ways to press an element by asking the program.
func (v *View) PressTechniques(i int) []Technique {
	e := &v.Snapshot.Elements[i]
	var ways []Technique
	if fieldtext.SheetCell(e) {
		ways = append(ways, v.ByAccessibility(i, "the cursor of its sheet", desktop.Act{Verb: desktop.TakeFocus}))
	}
	switch e.Role {
	case desktop.Option, desktop.ListItem, desktop.TreeItem, desktop.Row, desktop.Cell, desktop.Tab:
		// A menu's items are selectable too, but that only highlights them.
		ways = append(ways, v.ByAccessibility(i, "the selection of its list", desktop.Act{Verb: desktop.SelectItem}))
	}
	return append(ways, v.ByAccessibility(i, "its accessibility action", desktop.Act{Verb: desktop.Press, AllowClosedMenu: v.InClosedMenu(i)}))
}

// PressAsLastResort is the last way to press an element: the program may hang after it.
func (v *View) PressAsLastResort(i int) Technique {
	w := v.ByAccessibility(i, "its accessibility action over the bus", desktop.Act{Verb: desktop.Press, AllowClosedMenu: v.InClosedMenu(i), AllowHang: true})
	w.risk = "the program could be reached over the bus alone: if a dialog of it is open now, it may hang at the next key, so close the dialog by its buttons first"
	return w
}

// FixedWindow finds a window that is known already.
func FixedWindow(w desktop.WindowInfo) func(context.Context) (desktop.WindowInfo, error) {
	return func(context.Context) (desktop.WindowInfo, error) { return w, nil }
}
