package ax

import (
	"context"
	"fmt"
	"time"

	"aai"
	"aai/internal/desktop"
)

// readyPatience is how long an element may take until it can be acted upon.
const readyPatience = 2 * time.Second

// ready waits until an element can be acted upon: it is showing, enabled and not
// behind a modal dialog.
func (v *view) ready(ctx context.Context, m match, query string) (match, error) {
	until := time.Now().Add(readyPatience)
	for {
		err := v.obstacle(ctx, m.index)
		if err == nil {
			return m, nil
		}
		if time.Now().After(until) || !v.changed(ctx, until) {
			return m, err
		}
		if err := v.refresh(ctx); err != nil {
			return m, err
		}
		again, err := v.find(ctx, query)
		if err != nil {
			return m, err
		}
		m = again
	}
}

// obstacle says why the element cannot be acted upon now, or nil.
func (v *view) obstacle(ctx context.Context, i int) error {
	refused := func(hint, why string, args ...any) error {
		e := failed(aai.NotDelivered, "%s %s", v.name(i), fmt.Sprintf(why, args...))
		aai.AsError(e).Hint = hint
		return e
	}
	if shows := v.shot.Visible(i) || v.alsoMenus && v.inClosedMenu(i); !shows {
		return refused(hiddenHint, "is not showing")
	}
	if modal := v.modal(ctx, v.shot.Window(i)); modal >= 0 {
		return refused("", "is behind the modal %s [%s], which must be answered first", desktop.Describe(&v.shot.Elements[modal]), v.ref(modal))
	}
	if !v.shot.Elements[i].States.Has(desktop.Enabled) {
		return refused("", "is disabled")
	}
	return nil
}

// hiddenHint says how to come to what is not showing.
const hiddenHint = "Open the tab or dialog that it is in first, or bring it into view by ax_scroll with to_view."

// menuHint says how to come to what is in a closed menu.
const menuHint = "It is in a closed menu: ax_click chooses it there by its ref, without opening the menu."

// modal returns the window that must be answered before the given one can be
// used, or -1. Where both are modal nobody can tell which came later.
func (v *view) modal(ctx context.Context, own int) int {
	var others []int
	for _, top := range v.shot.Children(-1) {
		if top != own && v.shot.Elements[top].States.Has(desktop.Showing) {
			others = append(others, top)
		}
	}
	if len(others) == 0 {
		return -1
	}
	windows, _ := v.windows(ctx) // Qt tells it only to the window system
	isModal := func(top int) bool {
		e := &v.shot.Elements[top]
		w, sure := likest(windows, e)
		return e.States.Has(desktop.Modal) || sure && w.Modal
	}
	if isModal(own) {
		return -1
	}
	for _, top := range others {
		if isModal(top) {
			return top
		}
	}
	return -1
}
