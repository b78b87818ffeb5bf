package operate

import (
	"context"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// FindForAction finds the element of the query and waits until it is ready, in the mode "focus"
// with its window in front.
func (v *View) FindForAction(ctx context.Context, query string) (Match, error) {
	v.ForAction, v.CertainOnly = true, true
	m, err := v.Locate(ctx, query)
	if err != nil {
		return m, err
	}
	m, v.scrolledIntoView = v.ScrollIntoView(ctx, m)
	m, err = v.AwaitReady(ctx, m, query) // an element that was renamed meanwhile does not match
	v.ForAction = false
	if err != nil || !params.TakesFocus(v.Call) {
		return m, err
	}
	return v.BringToFront(ctx, m)
}

// PressTechniques returns the techniques to press an element by accessibility.
func (v *View) PressTechniques(i int) []Technique {
	e := &v.Snapshot.Elements[i]
	var ways []Technique
	if fieldtext.IsSheetCell(e) {
		ways = append(ways, v.ByAccessibility(i, "the cursor of its sheet", desktop.Act{Verb: desktop.TakeFocus}))
	}
	switch e.Role {
	case desktop.Option, desktop.ListItem, desktop.TreeItem, desktop.Row, desktop.Cell, desktop.Tab:
		// Selecting a menu item would only highlight it.
		ways = append(ways, v.ByAccessibility(i, "the selection of its list", desktop.Act{Verb: desktop.SelectItem}))
	}
	return append(ways, v.ByAccessibility(i, "its accessibility action", desktop.Act{Verb: desktop.Press, AllowClosedMenu: v.InClosedMenu(i)}))
}

// PressAsLastResort returns the technique that presses an element even if the program may hang at the next key.
// Callers append it after the safer techniques.
func (v *View) PressAsLastResort(i int) Technique {
	w := v.ByAccessibility(i, "its accessibility action over the bus", desktop.Act{Verb: desktop.Press, AllowClosedMenu: v.InClosedMenu(i), AllowHang: true})
	w.risk = "the program could be reached over the bus alone: if it has a dialog open now, it may hang at the next key: close the dialog by its buttons first"
	return w
}

// FixedWindow returns a function for ByInputIn or ByKeysIn that always returns w.
func FixedWindow(w desktop.WindowInfo) func(context.Context) (desktop.WindowInfo, error) {
	return func(context.Context) (desktop.WindowInfo, error) { return w, nil }
}
