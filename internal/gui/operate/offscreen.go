package operate

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
func (v *View) mayBeOffscreen(m Match, err error) bool {
	if err != nil {
		return aai.AsError(err).Code == aai.ElementNotFound
	}
	return v.Snapshot.IsOffscreen(m.Index)
}

// ReadOffscreen also reads elements that are entirely out of view, and reports whether it did. It
// reads once per view, and only if there are any.
func (v *View) ReadOffscreen(ctx context.Context) bool {
	if v.offscreenRead || v.Backend.Offscreen == nil {
		return false
	}
	for i := range v.Snapshot.Elements {
		if !v.Snapshot.IsOffscreen(i) {
			continue
		}
		shot, err := v.Backend.Offscreen.SnapshotOffscreen(ctx, v.App)
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

// ReadSheetCell reads the cell that the query names, even if the sheet has too many cells to read
// them all. It reports whether it did.
func (v *View) ReadSheetCell(ctx context.Context, query string) bool {
	names := cellName.FindAllString(query, 2)
	if len(names) != 1 {
		return false
	}
	column, row, is := desktop.ParseCellName(strings.ToUpper(names[0]))
	return is && v.ReadCells(ctx, v.sheet(), desktop.Cells{Row: row - 1, Column: column - 1, Rows: 1, Columns: 1})
}

// ReadCells also reads the given cells of a table, and reports whether it did.
func (v *View) ReadCells(ctx context.Context, table desktop.ID, cells desktop.Cells) bool {
	if table == "" || v.Backend.Offscreen == nil {
		return false
	}
	shot, err := v.Backend.Offscreen.SnapshotCells(ctx, v.App, table, cells)
	if err != nil {
		v.Engine.Log.Debug("cells were not read", "error", err)
		return false
	}
	v.Snapshot = shot
	return true
}

// sheet returns the visible sheet with unread cells, or "".
func (v *View) sheet() desktop.ID {
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

// ScrollIntoView scrolls an element that is out of view into view, and reports whether it did. On
// failure it returns the match at its current index.
func (v *View) ScrollIntoView(ctx context.Context, m Match) (now Match, brought bool) {
	if !v.Snapshot.IsOffscreen(m.Index) || v.modal(ctx, v.Snapshot.WindowOf(m.Index)) >= 0 {
		return m, false
	}
	is := v.TrackElement(m.Index)
	for _, way := range v.ScrollTechniques(m.Index) {
		if err := way.Do(ctx); err != nil {
			v.Engine.Log.Debug("an element was not brought into view", "error", err)
			continue
		}
		if i := v.awaitShowing(ctx, is); i >= 0 {
			m.Index = i
			return m, true
		}
	}
	if i := is(); i >= 0 {
		m.Index = i
	}
	return m, false
}

// ScrollTechniques returns the techniques to bring an element into view.
func (v *View) ScrollTechniques(i int) []Technique {
	id, scrollTo := v.Snapshot.Elements[i].ID, desktop.Act{Verb: desktop.ScrollTo}
	if fieldtext.IsSheetCell(&v.Snapshot.Elements[i]) { // the sheet's cursor goes there; then the sheet scrolls to its cursor
		return []Technique{v.ByInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
			if err := v.focusByAction(ctx, i, scrollTo, input, seat, w); err != nil {
				return err
			}
			return input.Key(ctx, seat, w.ID, desktop.Chord{Key: "backspace", Modifiers: []string{"ctrl"}})
		})}
	}
	return []Technique{
		v.ByAccessibility(i, "its scrolling", scrollTo),
		{Name: "scrolling its list", Do: func(ctx context.Context) error { return v.ScrollList(ctx, id) }},
	}
}

// TrackElement returns a function that finds the element in later snapshots; -1 if it is gone. It
// finds a sheet's cell by name: scrolling replaces its object.
func (v *View) TrackElement(i int) func() int {
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
func (v *View) awaitShowing(ctx context.Context, is func() int) int {
	for p := v.NewAdaptiveWait(scrollTimeout); ; {
		if err := v.Refresh(ctx); err != nil {
			return -1
		}
		if i := is(); i >= 0 && v.Snapshot.IsVisible(i) {
			return i
		}
		if !p.AwaitChange(ctx) {
			return -1
		}
	}
}
