package gui

import (
	"context"
	"regexp"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
)

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
