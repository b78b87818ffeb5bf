package gui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
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
		e := guierr.Failed(aai.NotDelivered, "%s %s", v.name(i), fmt.Sprintf(why, args...))
		aai.AsError(e).Hint = hint
		return e
	}
	if modal := max(v.modal(ctx, v.snapshot.WindowOf(i)), v.browserPromptFor(i)); modal >= 0 {
		return refused("Answer or close that dialog first.", "is behind the modal %s [%s], which must be answered first", desktop.Describe(&v.snapshot.Elements[modal]), v.ref(modal))
	}
	if shows := v.snapshot.IsVisible(i) || v.includeMenus && v.inClosedMenu(i); !shows {
		return refused(v.revealHint(ctx, i), "is not showing")
	}
	if !v.snapshot.Elements[i].States.Has(desktop.Enabled) {
		return refused("", "is disabled")
	}
	return nil
}

// menuHint explains how to reach an element in a closed menu.
const menuHint = "It is in a closed menu: ax_click chooses it there by its ref, without opening the menu."

// revealHint explains how to reach an element that is not visible: the obstacle in front of it, or
// its closed container.
func (v *view) revealHint(ctx context.Context, i int) string {
	if v.withoutNewRefs {
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
	if modal := v.modal(ctx, v.snapshot.WindowOf(i)); modal >= 0 {
		return fmt.Sprintf("The modal %s is in front of it. Answer or close that first.", v.name(modal))
	}
	if v.inClosedMenu(i) {
		return menuHint
	}
	top := i
	for p := v.snapshot.Elements[i].Parent; p >= 0; p = v.snapshot.Elements[p].Parent {
		e := &v.snapshot.Elements[p]
		// In GTK the content of a tab is a child of the tab itself.
		if e.Role == desktop.Tab && !e.States.Has(desktop.Selected) || e.Role == desktop.Tabpanel && !e.States.Has(desktop.Showing) {
			return fmt.Sprintf("It is in the %s, which is not open. Open that first.", v.name(p))
		}
		if e.Role == desktop.Combobox {
			return fmt.Sprintf("It is in the %s, which is closed. ax_set_value chooses it there by its name.", v.name(p))
		}
		top = p
	}
	if !v.snapshot.Elements[top].States.Has(desktop.Showing) {
		return fmt.Sprintf("It is in the %s, which is not on the screen. Open or restore that first.", v.name(top))
	}
	return ""
}

// modal returns the index of the window that must be answered before own can be used, or -1. If both are modal, their
// order is unknown, and modal returns -1.
func (v *view) modal(ctx context.Context, own int) int {
	var others []int
	for _, top := range v.snapshot.Children(-1) {
		if top != own && v.snapshot.Elements[top].States.Has(desktop.Showing) {
			others = append(others, top)
		}
	}
	if len(others) == 0 {
		return -1
	}
	windows, _ := v.appWindows(ctx) // Qt reports modality only to the window system
	isModal := func(top int) bool {
		e := &v.snapshot.Elements[top]
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
		if v.snapshot.Elements[top].States.Has(desktop.Active) {
			return top
		}
		last = top
	}
	return last
}

// An open menu, or the open list of a combo box, grabs the keyboard and pointer of the person. Typed keys go there
// although no window has lost the focus. So calls in the background do not open menus or lists: their items can be
// chosen while they are closed.

// inClosedMenu reports whether the element is an item of a closed menu of a visible menu bar or button.
func (v *view) inClosedMenu(i int) bool {
	if !v.snapshot.Elements[i].Role.IsMenuItem() || v.snapshot.IsVisible(i) || len(v.closedChildren(i)) > 0 {
		return false
	}
	for p := v.snapshot.Elements[i].Parent; p >= 0; p = v.snapshot.Elements[p].Parent {
		switch role := v.snapshot.Elements[p].Role; {
		case role == desktop.Menubar, role == desktop.Button:
			return v.snapshot.IsVisible(p)
		case role != desktop.Menu && !role.IsMenuItem():
			return false
		}
	}
	return false
}

// closedChildren returns the items of an element's closed menu or list.
func (v *view) closedChildren(i int) []int {
	e := &v.snapshot.Elements[i]
	var is func(desktop.Role) bool
	switch {
	case e.Role == desktop.Menu || e.Role.IsMenuItem() || e.Role == desktop.Button && e.End > i+1 && v.snapshot.Elements[i+1].Role == desktop.Menu && !v.app.IsBrowser:
		is = desktop.Role.IsMenuItem
	case e.Role == desktop.Combobox:
		is = func(r desktop.Role) bool { return r == desktop.Option || r == desktop.ListItem || r.IsMenuItem() }
	default:
		return nil
	}
	var items []int
	for j := i + 1; j < e.End; j++ {
		if !is(v.snapshot.Elements[j].Role) {
			continue
		}
		if v.snapshot.IsVisible(j) {
			return nil // it is open
		}
		items = append(items, j)
	}
	return items
}

// checkOpen returns an error if a press on the element would open a menu or list, which need not be open.
func (v *view) checkOpen(i int) error {
	items := v.closedChildren(i)
	if len(items) == 0 {
		return v.checkUnreportedMenu(i)
	}
	what, instead := "menu", "ax_click one of its items: the menu need not be open."
	if v.snapshot.Elements[i].Role == desktop.Combobox {
		what, instead = "list", "ax_set_value chooses one."
	}
	e := aai.Errorf(aai.AutomationNotSupported, "%s opens a %s, which would take the person's keyboard and pointer until it is closed", v.name(i), what)
	e.Delivery = aai.NotDelivered
	setCandidates(e, v.candidates(items), len(items))
	e.Hint = instead + ` With mode "focus" it is opened all the same.`
	return e
}

// checkUnreportedMenu returns an error if a press on the element would open a menu that is in no tree. In Qt this is the
// menu of a button.
func (v *view) checkUnreportedMenu(i int) error {
	if e := &v.snapshot.Elements[i]; e.Role != desktop.Button || !v.app.HasSetFocus || !slices.Contains(e.Actions, "ShowMenu") {
		return nil
	}
	e := aai.Errorf(aai.AutomationNotSupported, "%s opens a menu that the program does not report, and that would take the person's keyboard and pointer until it is closed", v.name(i))
	e.Delivery = aai.NotDelivered
	e.Hint = `With mode "focus" it is opened all the same: ax_screenshot of the screen shows its items, and ax_key_press with down and return chooses one.`
	return e
}

// unloadedMenusHint returns a hint with the closed menus that report no items until they open, or
// "".
func (v *view) unloadedMenusHint() string {
	var names []string
	for i := range v.snapshot.Elements {
		e := &v.snapshot.Elements[i]
		if e.Parent < 0 || v.snapshot.Elements[e.Parent].Role != desktop.Menubar || e.End > i+1 || strings.TrimSpace(e.Name) == "" || v.withoutNewRefs || v.isInHiddenMenuBar(i) {
			continue
		}
		if (e.Role == desktop.Menu || e.Role.IsMenuItem()) && e.States.Has(desktop.Enabled) && v.snapshot.IsVisible(i) && len(names) < maxCandidates {
			names = append(names, v.name(i))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " Menus that report their items only when open: " + strings.Join(names, ", ") + `. Open one by ax_click with mode "focus", then choose its item in the same way.`
}

// hasNoPage reports whether there is no visible document with a name or content, nor a dialog in
// front of it.
func (v *view) hasNoPage() bool {
	for i := range v.snapshot.Elements {
		e := &v.snapshot.Elements[i]
		if e.Role == desktop.Document && e.States.Has(desktop.Showing) && (e.Name != "" || e.End > i+1) {
			return false
		}
	}
	return v.alertOfPage() < 0
}

// alertOfPage returns the visible dialog that makes a browser hide its page, such as an alert of
// the page; -1 if there is none.
func (v *view) alertOfPage() int {
	dialog := -1
	for i := range v.snapshot.Elements {
		switch e := &v.snapshot.Elements[i]; {
		case !e.States.Has(desktop.Showing):
		case e.Role == desktop.Document && e.Name != "":
			return -1
		case e.Role == desktop.Dialog || e.Role == desktop.AlertDialog:
			dialog = i
		}
	}
	return dialog
}

// browserPromptFor returns the index of the browser's own visible modal dialog, outside the page, in
// the window of element i. It returns -1 if there is none or i is not in a page.
func (v *view) browserPromptFor(i int) int {
	document, top := -1, v.snapshot.WindowOf(i)
	for p := v.snapshot.Elements[i].Parent; p >= 0; p = v.snapshot.Elements[p].Parent {
		if v.snapshot.Elements[p].Role == desktop.Document {
			document = p
		}
	}
	if document < 0 {
		return -1
	}
	for d := top + 1; d < v.snapshot.Elements[top].End; d++ {
		switch e := &v.snapshot.Elements[d]; {
		case e.Role == desktop.Document:
			d = e.End - 1
		case e.Role == desktop.Dialog && e.States.Has(desktop.Showing|desktop.Modal):
			return d
		}
	}
	return -1
}

// dialogsOutsidePage returns the visible dialogs of the window outside documents, such as a
// browser's questions for its page. It returns none if one of them contains i (-1: none).
func (v *view) dialogsOutsidePage(top, i int) (dialogs []int) {
	for d := top + 1; d < v.snapshot.Elements[top].End; d++ {
		switch e := &v.snapshot.Elements[d]; {
		case e.Role == desktop.Document:
			d = e.End - 1
		case (e.Role == desktop.Dialog || e.Role == desktop.AlertDialog) && v.snapshot.IsVisible(d):
			if d <= i && i < e.End {
				return nil
			}
			dialogs = append(dialogs, d)
			d = e.End - 1
		}
	}
	return dialogs
}

// pageModal returns a visible modal dialog within a page: browsers omit the content behind it. -1
// if there is none.
func (v *view) pageModal() int {
	modal, within := -1, 0
	for i := range v.snapshot.Elements {
		switch e := &v.snapshot.Elements[i]; {
		case e.Role == desktop.Document && e.States.Has(desktop.Showing):
			within = max(within, e.End)
		case i < within && (e.Role == desktop.Dialog || e.Role == desktop.AlertDialog) && e.States.Has(desktop.Showing|desktop.Modal):
			modal = i
		}
	}
	return modal
}

// scrollIntoView scrolls the match of the query, if it is out of view, into view, and reports whether
// it did. On failure it returns the match at its current index. For a label it returns the field that
// has the name of the label by its place, and for a combo box the field inside, which some toolkits only tell in view.
func (v *view) scrollIntoView(ctx context.Context, m match, query string) (now match, brought bool) {
	if !v.snapshot.IsOffscreen(m.index) || v.modal(ctx, v.snapshot.WindowOf(m.index)) >= 0 {
		return m, false
	}
	is := v.trackElement(m.index)
	for _, way := range v.scrollTechniques(m.index) {
		if err := way.do(ctx); err != nil {
			v.engine.Log.Debug("an element was not brought into view", "error", err)
			continue
		}
		if i := v.awaitShowing(ctx, is); i >= 0 {
			m.index = i
			if role := v.snapshot.Elements[i].Role; role.IsTextual() || role == desktop.Combobox {
				if again, err := v.find(ctx, query); err == nil {
					m = again
				}
			}
			return m, true
		}
	}
	if i := is(); i >= 0 {
		m.index = i
	}
	return m, false
}

// stillTime is how long an element must keep its place after a scroll before the pointer clicks it.
const stillTime = 250 * time.Millisecond

// awaitStill waits until an element that was scrolled into view keeps its place: programs add and remove content as
// they scroll. It fails if the element still moves after wrongCeiling.
func (v *view) awaitStill(ctx context.Context, m match) (match, error) {
	is, place, since := v.trackElement(m.index), v.snapshot.Elements[m.index].Frame, time.Now()
	still, err := v.pollUntil(ctx, wrongCeiling, func() (bool, error) {
		if err := v.refresh(ctx); err != nil {
			return false, err
		}
		if m.index = is(); m.index < 0 {
			return false, guierr.Failed(aai.NotDelivered, "the element is gone since it was scrolled into view")
		}
		if now := v.snapshot.Elements[m.index].Frame; now != place {
			place, since = now, time.Now()
		}
		return time.Since(since) >= stillTime, nil
	})
	if err == nil && !still {
		err = guierr.Failed(aai.NotDelivered, "%s keeps moving since it was scrolled into view", v.name(m.index))
	}
	return m, err
}

// scrollTechniques returns the techniques to bring an element into view.
func (v *view) scrollTechniques(i int) []technique {
	id, scrollTo := v.snapshot.Elements[i].ID, desktop.Act{Verb: desktop.ScrollTo}
	if fieldtext.IsSheetCell(&v.snapshot.Elements[i]) { // the sheet's cursor goes there; then the sheet scrolls to its cursor
		return []technique{v.byInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
			if err := v.focusByAction(ctx, i, scrollTo, input, seat, w); err != nil {
				return err
			}
			return input.Key(ctx, seat, w.ID, desktop.Chord{Key: "backspace", Modifiers: []string{"ctrl"}})
		})}
	}
	return []technique{
		v.byAccessibility(i, "its scrolling", scrollTo),
		{name: "scrolling its list", do: func(ctx context.Context) error { return v.scrollList(ctx, id) }},
	}
}
