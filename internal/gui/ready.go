package gui

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
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

// notch is how many pixels most programs scroll per notch of the wheel.
const notch = 50

// notches converts pixels to notches of the wheel, at least one unless pixels is 0.
func notches(pixels int) int {
	switch {
	case pixels > 0:
		return max(1, pixels/notch)
	case pixels < 0:
		return min(-1, pixels/notch)
	}
	return 0
}

// Limits for scrolling an element into view if the program does not do it itself.
const (
	maxScrolls    = 60 // how often its list is scrolled
	scrollTimeout = time.Second
)

// scrollList scrolls the list that contains the element, page by page, until the element is
// visible. It reads the program after each step, because toolkits differ in the rows that a list
// shows and in the distance per notch. The view keeps its snapshot, so that its indexes stay valid.
func (v *view) scrollList(ctx context.Context, id desktop.ID) error {
	now := *v
	last, step := 0, 1.0
	for range maxScrolls {
		i := now.Snapshot.Index(id)
		if i < 0 {
			return guierr.Failed(aai.Delivered, "it disappeared while its list was scrolled")
		}
		if now.Snapshot.IsVisible(i) {
			return nil
		}
		list, away, rows := now.ScrollDistance(i)
		switch {
		case away == 0 && last == 0:
			return guierr.Unsupported("way to bring this into view")
		case away == 0:
			return guierr.Failed(aai.Delivered, "its list cannot be scrolled to it")
		case away < 0 && last > 0 || away > 0 && last < 0:
			step /= 2 // the step was too far
		}
		last = away
		if err := now.scrollListBy(ctx, list, int(math.Round(step*float64(away)))); err != nil {
			return err
		}
		if err := now.awaitScrolled(ctx, id, rows); err != nil {
			return err
		}
	}
	return guierr.Failed(aai.Delivered, "its list was scrolled %d times, and it is not in view", maxScrolls)
}

// awaitScrolled waits until the element is visible or its distance in rows has changed from the given one.
func (v *view) awaitScrolled(ctx context.Context, id desktop.ID, from int) error {
	for p := v.newAdaptiveWait(scrollTimeout); ; {
		if err := v.refresh(ctx); err != nil {
			return err
		}
		i := v.Snapshot.Index(id)
		if i < 0 || v.Snapshot.IsVisible(i) {
			return nil
		}
		if _, _, rows := v.ScrollDistance(i); rows != from {
			return nil
		}
		if !p.awaitChange(ctx) {
			return guierr.Failed(aai.Delivered, "its list does not scroll any further")
		}
	}
}

// scrollListBy scrolls a list by so many pixels, with its scroll bar or the wheel.
func (v *view) scrollListBy(ctx context.Context, list, pixels int) error {
	if bar := v.Scrollbar(list, true); bar >= 0 && !params.TakesFocus(v.call) {
		e := &v.Snapshot.Elements[bar]
		to := math.Max(e.Min, math.Min(e.Max, fieldtext.ParseNumber(e.Value, 0)+float64(pixels)))
		return v.byAccessibility(bar, "", desktop.Act{Verb: desktop.SetNumber, Number: to}).do(ctx)
	}
	return v.byInput(list, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at, err := v.ClickPoint(list, w)
		if err != nil {
			return err
		}
		return input.Scroll(ctx, seat, w.ID, at, 0, notches(pixels))
	}).do(ctx)
}

// Queries also find elements that are scrolled out of view, if no visible one matches. An action
// scrolls such an element into view first, and reports that.

// mayBeOffscreen reports whether the match is out of view, or nothing was found.
func (v *view) mayBeOffscreen(m match, err error) bool {
	if err != nil {
		return aai.AsError(err).Code == aai.ElementNotFound
	}
	return v.Snapshot.IsOffscreen(m.index)
}

// readOffscreen also reads elements that are entirely out of view, and reports whether it did. It
// reads once per view, and only if there are any.
func (v *view) readOffscreen(ctx context.Context) bool {
	if v.offscreenRead || v.backend.Offscreen == nil {
		return false
	}
	for i := range v.Snapshot.Elements {
		if !v.Snapshot.IsOffscreen(i) {
			continue
		}
		shot, err := v.backend.Offscreen.SnapshotOffscreen(ctx, v.app)
		if err != nil {
			return false // the visible elements are known anyway
		}
		v.Snapshot, v.offscreenRead = shot, true
		return true
	}
	return false
}

// cellName matches possible cell names in a query.
var cellName = regexp.MustCompile(`\b[A-Za-z]{1,3}[1-9][0-9]{0,6}\b`)

// readSheetCell reads the cell that the query names, even if the sheet has too many cells to read
// them all. It reports whether it did.
func (v *view) readSheetCell(ctx context.Context, query string) bool {
	names := cellName.FindAllString(query, 2)
	if len(names) != 1 {
		return false
	}
	column, row, is := desktop.ParseCellName(strings.ToUpper(names[0]))
	return is && v.readCells(ctx, v.sheet(), desktop.Cells{Row: row - 1, Column: column - 1, Rows: 1, Columns: 1})
}

// readCells also reads the given cells of a table, and reports whether it did.
func (v *view) readCells(ctx context.Context, table desktop.ID, cells desktop.Cells) bool {
	if table == "" || v.backend.Offscreen == nil {
		return false
	}
	shot, err := v.backend.Offscreen.SnapshotCells(ctx, v.app, table, cells)
	if err != nil {
		v.engine.Log.Debug("cells were not read", "error", err)
		return false
	}
	v.Snapshot = shot
	return true
}

// sheet returns the visible sheet with unread cells, or "".
func (v *view) sheet() desktop.ID {
	for i := range v.Snapshot.Elements {
		e := &v.Snapshot.Elements[i]
		if e.UnreadChildren == 0 || !v.Snapshot.IsVisible(i) {
			continue
		}
		for _, child := range v.Snapshot.Children(i) {
			if _, _, is := desktop.ParseCellName(v.Snapshot.Elements[child].Name); is && fieldtext.IsSheetCell(&v.Snapshot.Elements[child]) {
				return e.ID
			}
		}
	}
	return ""
}

// scrollIntoView scrolls an element that is out of view into view, and reports whether it did. On
// failure it returns the match at its current index.
func (v *view) scrollIntoView(ctx context.Context, m match) (now match, brought bool) {
	if !v.Snapshot.IsOffscreen(m.index) || v.modal(ctx, v.Snapshot.WindowOf(m.index)) >= 0 {
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
			return m, true
		}
	}
	if i := is(); i >= 0 {
		m.index = i
	}
	return m, false
}

// scrollTechniques returns the techniques to bring an element into view.
func (v *view) scrollTechniques(i int) []technique {
	id, scrollTo := v.Snapshot.Elements[i].ID, desktop.Act{Verb: desktop.ScrollTo}
	if fieldtext.IsSheetCell(&v.Snapshot.Elements[i]) { // the sheet's cursor goes there; then the sheet scrolls to its cursor
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

// trackElement returns a function that finds the element in later snapshots; -1 if it is gone. It
// finds a sheet's cell by name: scrolling replaces its object.
func (v *view) trackElement(i int) func() int {
	id, name, table := v.Snapshot.Elements[i].ID, v.Snapshot.Elements[i].Name, v.TableOf(i)
	if !fieldtext.IsSheetCell(&v.Snapshot.Elements[i]) {
		return func() int { return v.Snapshot.Index(id) }
	}
	return func() int {
		for _, cell := range v.Snapshot.Children(v.Snapshot.Index(table)) {
			if v.Snapshot.Elements[cell].Name == name {
				return cell
			}
		}
		return -1
	}
}

// awaitShowing waits until the element is visible, and returns its index; -1 if it stays hidden.
func (v *view) awaitShowing(ctx context.Context, is func() int) int {
	for p := v.newAdaptiveWait(scrollTimeout); ; {
		if err := v.refresh(ctx); err != nil {
			return -1
		}
		if i := is(); i >= 0 && v.Snapshot.IsVisible(i) {
			return i
		}
		if !p.awaitChange(ctx) {
			return -1
		}
	}
}
