package gui

import (
	"context"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// findForAction finds the element of the query and waits until it is ready, in the mode "focus"
// with its window in front.
func (v *view) findForAction(ctx context.Context, query string) (match, error) {
	v.forAction, v.certainOnly = true, true
	m, err := v.locate(ctx, query)
	if err != nil {
		return m, err
	}
	m, v.scrolledIntoView = v.scrollIntoView(ctx, m)
	m, err = v.awaitReady(ctx, m, query) // an element that was renamed meanwhile does not match
	v.forAction = false
	if err != nil || !params.TakesFocus(v.call) {
		return m, err
	}
	return v.bringToFront(ctx, m)
}

// pressTechniques returns the techniques to press an element by accessibility.
func (v *view) pressTechniques(i int) []technique {
	e := &v.Snapshot.Elements[i]
	var ways []technique
	if fieldtext.IsSheetCell(e) {
		ways = append(ways, v.byAccessibility(i, "the cursor of its sheet", desktop.Act{Verb: desktop.TakeFocus}))
	}
	switch e.Role {
	case desktop.Option, desktop.ListItem, desktop.TreeItem, desktop.Row, desktop.Cell, desktop.Tab:
		// Selecting a menu item would only highlight it.
		ways = append(ways, v.byAccessibility(i, "the selection of its list", desktop.Act{Verb: desktop.SelectItem}))
	}
	return append(ways, v.byAccessibility(i, "its accessibility action", desktop.Act{Verb: desktop.Press, AllowClosedMenu: v.InClosedMenu(i)}))
}

// pressAsLastResort returns the technique that presses an element even if the program may hang at the next key.
// Callers append it after the safer techniques.
func (v *view) pressAsLastResort(i int) technique {
	w := v.byAccessibility(i, "its accessibility action over the bus", desktop.Act{Verb: desktop.Press, AllowClosedMenu: v.InClosedMenu(i), AllowHang: true})
	w.risk = "the program could be reached over the bus alone: if it has a dialog open now, it may hang at the next key: close the dialog by its buttons first"
	return w
}

// fixedWindow returns a function for byInputIn or byKeysIn that always returns w.
func fixedWindow(w desktop.WindowInfo) func(context.Context) (desktop.WindowInfo, error) {
	return func(context.Context) (desktop.WindowInfo, error) { return w, nil }
}
