package operate

import (
	"context"
	"regexp"
	"strings"

	"aai"
	"aai/internal/ax/values"
	"aai/internal/desktop"
)

// What is only scrolled out of view is found as what shows, where nothing that shows is
// meant. An act brings it into view first, and says so.

// mayBeFar reports whether what was found is out of view, or nothing was found.
func (v *View) mayBeFar(m Match, err error) bool {
	if err != nil {
		return aai.AsError(err).Code == aai.ElementNotFound
	}
	return v.Shot.Beyond(m.Index)
}

// LookFar reads also what is out of view completely, and reports whether it has: not twice,
// and not where nothing is.
func (v *View) LookFar(ctx context.Context) bool {
	if v.far || v.Backend.Far == nil {
		return false
	}
	for i := range v.Shot.Elements {
		if !v.Shot.Beyond(i) {
			continue
		}
		shot, err := v.Backend.Far.Far(ctx, v.App)
		if err != nil {
			return false // what shows is known all the same
		}
		v.Shot, v.far = shot, true
		return true
	}
	return false
}

// cellName is what might be the name of a cell in a query.
var cellName = regexp.MustCompile(`\b[A-Za-z]{1,3}[1-9][0-9]{0,6}\b`)

// LookInSheet reads the cell that the query names also where it is one of those that are too
// many to be read, and reports whether it has.
func (v *View) LookInSheet(ctx context.Context, query string) bool {
	names := cellName.FindAllString(query, 2)
	if len(names) != 1 {
		return false
	}
	column, row, is := desktop.CellPlace(strings.ToUpper(names[0]))
	return is && v.ReadCells(ctx, v.sheet(), desktop.Cells{Row: row - 1, Column: column - 1, Rows: 1, Columns: 1})
}

// ReadCells reads also those cells of a table, and reports whether it has.
func (v *View) ReadCells(ctx context.Context, table desktop.ID, cells desktop.Cells) bool {
	if table == "" || v.Backend.Far == nil {
		return false
	}
	shot, err := v.Backend.Far.Cells(ctx, v.App, table, cells)
	if err != nil {
		v.Desk.Log.Debug("cells were not read", "error", err)
		return false
	}
	v.Shot = shot
	return true
}

// sheet is the sheet that shows and has more cells than are read, or "".
func (v *View) sheet() desktop.ID {
	for i := range v.Shot.Elements {
		e := &v.Shot.Elements[i]
		if e.Unread == 0 || !v.Shot.Visible(i) {
			continue
		}
		for _, child := range v.Shot.Children(i) {
			if _, _, is := desktop.CellPlace(v.Shot.Elements[child].Name); is && values.SheetCell(&v.Shot.Elements[child]) {
				return e.ID
			}
		}
	}
	return ""
}

// Bring scrolls an element into view that is out of it, and reports whether it has. Where that
// cannot be done it is as it was.
func (v *View) Bring(ctx context.Context, m Match) (now Match, brought bool) {
	if !v.Shot.Beyond(m.Index) || v.modal(ctx, v.Shot.Window(m.Index)) >= 0 {
		return m, false
	}
	is := v.Same(m.Index)
	for _, way := range v.WaysToView(m.Index) {
		if err := way.Do(ctx); err != nil {
			v.Desk.Log.Debug("an element was not brought into view", "error", err)
			continue
		}
		if i := v.comes(ctx, is); i >= 0 {
			m.Index = i
			return m, true
		}
	}
	if i := is(); i >= 0 {
		m.Index = i
	}
	return m, false
}

// WaysToView are the ways to bring an element into view.
func (v *View) WaysToView(i int) []Way {
	id, scrollTo := v.Shot.Elements[i].ID, desktop.Act{Verb: desktop.ScrollTo}
	if values.SheetCell(&v.Shot.Elements[i]) { // its sheet's cursor goes there; then the sheet goes where its cursor is
		return []Way{v.ByInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
			if err := v.asksFor(ctx, i, scrollTo, input, seat, w); err != nil {
				return err
			}
			return input.Key(ctx, seat, w.ID, desktop.Chord{Key: "backspace", Modifiers: []string{"ctrl"}})
		})}
	}
	return []Way{
		v.ByAsking(i, "its scrolling", scrollTo),
		{Name: "scrolling its list", Do: func(ctx context.Context) error { return v.Roll(ctx, id) }},
	}
}

// Same finds the element in later looks, a cell of a sheet by its name: its object is another
// when the sheet has moved. -1 is an element that is gone.
func (v *View) Same(i int) func() int {
	id, name, table := v.Shot.Elements[i].ID, v.Shot.Elements[i].Name, v.TableOf(i)
	if !values.SheetCell(&v.Shot.Elements[i]) {
		return func() int { return v.Shot.Index(id) }
	}
	return func() int {
		for _, cell := range v.Shot.Children(v.Shot.Index(table)) {
			if v.Shot.Elements[cell].Name == name {
				return cell
			}
		}
		return -1
	}
}

// comes waits until the element shows, and returns where it is; -1 if it does not.
func (v *View) comes(ctx context.Context, is func() int) int {
	for p := v.Patience(rollPatience); ; {
		if err := v.Refresh(ctx); err != nil {
			return -1
		}
		if i := is(); i >= 0 && v.Shot.Visible(i) {
			return i
		}
		if !p.Changed(ctx) {
			return -1
		}
	}
}
