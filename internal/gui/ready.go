package gui

import (
	"context"
	"fmt"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/programs"
)

// readyTimeout limits how long an element may take to become ready.
const readyTimeout = 2 * time.Second

// awaitReady waits until an element is ready for an action: visible, enabled and not behind a modal dialog. After
// each change it runs the query again, and returns the new match.
func (v *view) awaitReady(ctx context.Context, m match, query string) (match, error) {
	for p := v.newAdaptiveWait(readyTimeout); ; {
		err := v.obstacle(ctx, m.index)
		if err == nil {
			return m, nil
		}
		if !p.awaitChange(ctx) {
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

// obstacle returns the reason why the element is not ready, or nil.
func (v *view) obstacle(ctx context.Context, i int) error {
	refused := func(hint, why string, args ...any) error {
		e := guierr.Failed(aai.NotDelivered, "%s %s", v.Name(i), fmt.Sprintf(why, args...))
		aai.AsError(e).Hint = hint
		return e
	}
	if modal := max(v.modal(ctx, v.Snapshot.WindowOf(i)), v.BrowserPromptFor(i)); modal >= 0 {
		return refused("Answer or close that dialog first.", "is behind the modal %s [%s], which must be answered first", desktop.Describe(&v.Snapshot.Elements[modal]), v.Ref(modal))
	}
	if shows := v.Snapshot.IsVisible(i) || v.includeMenus && v.InClosedMenu(i); !shows {
		return refused(v.revealHint(ctx, i), "is not showing")
	}
	if !v.Snapshot.Elements[i].States.Has(desktop.Enabled) {
		return refused("", "is disabled")
	}
	return nil
}

// menuHint explains how to reach an element in a closed menu.
const menuHint = "It is in a closed menu: ax_click chooses it there by its ref, without opening the menu."

// revealHint explains how to reach an element that is not visible: the obstacle in front of it, or
// its closed container.
func (v *view) revealHint(ctx context.Context, i int) string {
	if v.WithoutNewRefs {
		return ""
	}
	if why := v.hiddenReason(ctx, i); why != "" {
		return why
	}
	return "The program does not show it now. If it is scrolled out of view, ax_scroll with to_view shows it."
}

// hiddenReason returns the reason why the element is hidden, other than scrolling, with a remedy;
// "" if there is none.
func (v *view) hiddenReason(ctx context.Context, i int) string {
	if modal := v.modal(ctx, v.Snapshot.WindowOf(i)); modal >= 0 {
		return fmt.Sprintf("The modal %s is in front of it. Answer or close that first.", v.Name(modal))
	}
	if v.InClosedMenu(i) {
		return menuHint
	}
	top := i
	for p := v.Snapshot.Elements[i].Parent; p >= 0; p = v.Snapshot.Elements[p].Parent {
		e := &v.Snapshot.Elements[p]
		// In GTK the content of a tab is a child of the tab itself.
		if e.Role == desktop.Tab && !e.States.Has(desktop.Selected) || e.Role == desktop.Tabpanel && !e.States.Has(desktop.Showing) {
			return fmt.Sprintf("It is in the %s, which is not open. Open that first.", v.Name(p))
		}
		if e.Role == desktop.Combobox {
			return fmt.Sprintf("It is in the %s, which is closed. ax_set_value chooses it there by its name.", v.Name(p))
		}
		top = p
	}
	if !v.Snapshot.Elements[top].States.Has(desktop.Showing) {
		return fmt.Sprintf("It is in the %s, which is not on the screen. Open or restore that first.", v.Name(top))
	}
	return ""
}

// modal returns the index of the window that must be answered before own can be used, or -1. If both are modal, their
// order is unknown, and modal returns -1.
func (v *view) modal(ctx context.Context, own int) int {
	var others []int
	for _, top := range v.Snapshot.Children(-1) {
		if top != own && v.Snapshot.Elements[top].States.Has(desktop.Showing) {
			others = append(others, top)
		}
	}
	if len(others) == 0 {
		return -1
	}
	windows, _ := v.appWindows(ctx) // Qt reports modality only to the window system
	isModal := func(top int) bool {
		e := &v.Snapshot.Elements[top]
		w, sure := programs.BestWindow(windows, e)
		return e.States.Has(desktop.Modal) || sure && w.Modal
	}
	if isModal(own) {
		return -1
	}
	last := -1
	for _, top := range others { // of several, the one in front, or else the newest
		if !isModal(top) {
			continue
		}
		if v.Snapshot.Elements[top].States.Has(desktop.Active) {
			return top
		}
		last = top
	}
	return last
}
