package gui

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// setCell sets a table cell: by accessibility, or else by keys.
func (v *view) setCell(ctx context.Context, i int, value string) (*aai.Result, error) {
	if b, is := fieldtext.ParseBlock(&v.snapshot.Elements[i], value); is {
		return v.setBlock(ctx, i, b)
	}
	is := v.trackElement(i)
	before, err := v.cellReader(i, v.snapshot.Elements[i])(ctx)
	if err != nil {
		return nil, err
	}
	if i = is(); i < 0 {
		return nil, guierr.Failed(aai.NotDelivered, "the cell is gone")
	}
	if fieldtext.SameCell(before.Value, value) {
		return v.alreadySetResult(i), nil
	}
	a := action{view: v, index: i, doneText: "Set", text: value}
	a.techniques = []technique{v.byCellKeys(i, value)}
	if !before.States.Has(desktop.Editable) { // a list would search for typed text and move to another row
		a.techniques = []technique{{do: func(context.Context) error { return v.readOnlyCellError(&before) }}}
	}
	if number := fieldtext.ParseNumber(value, math.NaN()); !math.IsNaN(number) { // a number needs no keys
		a.techniques = append([]technique{v.byAccessibility(i, "its value", desktop.Act{Verb: desktop.SetNumber, Number: number})}, a.techniques...)
	}
	read := v.cellReader(i, before)
	formula := strings.HasPrefix(value, "=")
	a.verify = func(ctx context.Context) (string, bool) {
		now, known := before, false
		is, _ := v.pollUntil(ctx, wrongCeiling, func() (bool, error) { // cells vanish for a moment when the cursor moves, and update later
			e, err := read(ctx)
			if err == nil {
				now, known = e, true
			}
			return fieldtext.SameCell(now.Value, value) || formula && fieldtext.IsCalculated(before.Value, now.Value), nil
		})
		if is || !known || formula {
			return "", is
		}
		return fmt.Sprintf("its value is now %q", aai.CleanLabel(now.Value, 100)), false
	}
	out, err := a.execute(ctx)
	return out, leadingZerosHint(err, value)
}

// readOnlyCellError returns the error for a cell that is not known to be editable. GTK reports a cell with a check box
// like an empty one, so the hint suggests a click. In Qt the first key opens an editor, which is in no tree.
func (v *view) readOnlyCellError(e *desktop.Element) error {
	if v.app.SelectsWithoutCurrent {
		return &aai.Error{
			Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered, Message: desktop.Describe(e) + " does not report whether it takes a text",
			Hint: "If it does, ax_type with submit writes there by keys: the first one opens its editor, and return ends it.",
		}
	}
	return &aai.Error{
		Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered, Message: desktop.Describe(e) + " takes no text",
		Hint: `If a click checks it, or a double click opens it for editing, do that by ax_click with mode "focus"; ax_type without query then types into the editor.`,
	}
}

// leadingZerosHint adds to an error how to keep leading zeros, if they were lost.
func leadingZerosHint(err error, texts ...string) error {
	e := aai.AsError(err)
	if e == nil || e.Code != aai.AutomationFailed || !slices.ContainsFunc(texts, fieldtext.HasLeadingZeros) {
		return err
	}
	said := *e
	said.Hint = strings.TrimSpace(said.Hint + " A sheet drops zeros before a number; an apostrophe before it, as in '0012, makes it a text.")
	return &said
}

// byCellKeys returns a technique that clicks the cell and types into it.
func (v *view) byCellKeys(i int, value string) technique {
	return v.byKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if err := v.enterCell(ctx, i, input, seat, w); err != nil {
			return err
		}
		return v.writeCell(ctx, value, "return", input, seat, w)
	})
}

// cellReader returns a reader for a cell. It finds a sheet's cell by position: LibreOffice replaces
// cell objects when the cursor moves, and the old ones keep their old values.
func (v *view) cellReader(i int, was desktop.Element) func(context.Context) (desktop.Element, error) {
	is, table, sheet := v.trackElement(i), v.tableOf(i), fieldtext.IsSheetCell(&v.snapshot.Elements[i])
	return func(ctx context.Context) (desktop.Element, error) {
		if sheet {
			if err := v.readAnew(ctx, table, was.Name); err != nil {
				return was, err
			}
			if now := is(); now >= 0 {
				return v.read(ctx, v.snapshot.Elements[now].ID)
			}
		}
		return v.read(ctx, was.ID)
	}
}

// readAnew reads the sheet's cell again: the old objects may keep their old values.
func (v *view) readAnew(ctx context.Context, table desktop.ID, name string) error {
	column, row, is := desktop.ParseCellName(name)
	if is && v.readCells(ctx, table, desktop.Cells{Row: row - 1, Column: column - 1, Rows: 1, Columns: 1}) {
		return nil
	}
	return v.refresh(ctx)
}

// typedCell returns a verify function that reads the cell. A cell in edit mode, or with its own
// number format, is not known to be wrong.
func (v *view) typedCell(i int, before desktop.Element, text string) func(context.Context) (string, bool) {
	read := v.cellReader(i, before)
	return func(ctx context.Context) (string, bool) {
		now := before
		changed, _ := v.pollUntil(ctx, effectCeiling, func() (_ bool, err error) {
			now, err = read(ctx)
			return err == nil && now.Value != before.Value, nil
		})
		return "", changed && fieldtext.SameCell(now.Value, fieldtext.Normalize(text))
	}
}

// setBlock types into the cells in order, and reads them all.
func (v *view) setBlock(ctx context.Context, i int, b fieldtext.Block) (*aai.Result, error) {
	table, is := v.tableOf(i), v.trackElement(i)
	if len(v.cellsOf(b, table)) < b.Count() && v.readCells(ctx, table, b.Cells()) {
		if i = is(); i < 0 {
			return nil, guierr.Failed(aai.NotDelivered, "the cell is gone")
		}
	}
	a := action{view: v, index: i, doneText: "Set the cells to " + b.LastCellName() + " from"}
	a.techniques = []technique{v.byKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return v.writeBlock(ctx, i, b, input, seat, w)
	})}
	before := make(map[string]string)
	for name, at := range v.cellsOf(b, table) {
		before[name] = v.snapshot.Elements[at].Value
	}
	a.verify = func(ctx context.Context) (wrong string, all bool) {
		_, _ = v.pollUntil(ctx, wrongCeiling, func() (bool, error) { // cells vanish for a moment when the cursor moves
			wrong, all = v.verifyBlock(ctx, b, table, before)
			return wrong != "" || all, nil
		})
		return wrong, all
	}
	out, err := a.execute(ctx)
	return out, leadingZerosHint(err, slices.Concat(b.Rows...)...)
}

// writeBlock types into the cells, from the given one. After a typed cell it moves by tab to the
// next, and otherwise sets the sheet's cursor. Return would lead below the first cell of a series
// of tabs, which may not be the block's.
func (v *view) writeBlock(ctx context.Context, i int, b fieldtext.Block, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	if err := v.enterCell(ctx, i, input, seat, w); err != nil {
		return err
	}
	cells, there := v.cellsOf(b, v.tableOf(i)), true
	for r, row := range b.Rows {
		for c, text := range row {
			at, known := cells[b.CellName(r, c)]
			known = known && (seat == desktop.OwnSeat || v.snapshot.IsVisible(at))
			if known && text == "" && v.snapshot.Elements[at].Value == "" {
				there = false
				continue
			}
			if known && !there {
				if err := v.enterCell(ctx, at, input, seat, w); err != nil {
					return err
				}
			}
			last := c+1 == len(row)
			key := "tab"
			if there = !last; last {
				key = "return"
			}
			if err := v.writeCell(ctx, text, key, input, seat, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeCell types into the cell at the sheet's cursor and leaves it by a key. The delete key
// removes the sheet's autocompletion. To empty a cell, writeCell types a blank and removes it.
// After a plain delete LibreOffice loses later keys, and reports the old value until the cursor
// leaves.
func (v *view) writeCell(ctx context.Context, text, leave string, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	keys := []string{"delete", leave}
	if text == "" {
		text, keys = " ", []string{"delete", "backspace", leave}
	}
	if err := input.Type(ctx, seat, w.ID, text); err != nil {
		return err
	}
	for _, key := range keys {
		if err := input.Key(ctx, seat, w.ID, desktop.Chord{Key: key}); err != nil {
			return err
		}
	}
	return nil
}

// verifyBlock reports whether all cells have their values, or describes a wrong one. Cells out of
// view are unknown.
func (v *view) verifyBlock(ctx context.Context, b fieldtext.Block, table desktop.ID, before map[string]string) (string, bool) {
	if !v.readCells(ctx, table, b.Cells()) && v.refresh(ctx) != nil {
		return "", false
	}
	cells, all := v.cellsOf(b, table), true
	for r := range b.Rows {
		for c, want := range b.Rows[r] {
			name := b.CellName(r, c)
			at, there := cells[name]
			if !there {
				all = false
				continue
			}
			now, err := v.backend.Tree.Read(ctx, v.app, v.snapshot.Elements[at].ID)
			switch {
			case err != nil:
				return "", false
			case fieldtext.SameCell(now.Value, want):
			case strings.HasPrefix(want, "="):
				all = all && fieldtext.IsCalculated(before[name], now.Value)
			default:
				return fmt.Sprintf("the value of %s is now %q", name, aai.CleanLabel(now.Value, 100)), false
			}
		}
	}
	return "", all
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
	v.snapshot = shot
	return true
}

// sheet returns the visible sheet with unread cells, or "".
func (v *view) sheet() desktop.ID {
	for i := range v.snapshot.Elements {
		e := &v.snapshot.Elements[i]
		if e.UnreadChildren == 0 || !v.snapshot.IsVisible(i) {
			continue
		}
		for _, child := range v.snapshot.Children(i) {
			if _, _, is := desktop.ParseCellName(v.snapshot.Elements[child].Name); is && fieldtext.IsSheetCell(&v.snapshot.Elements[child]) {
				return e.ID
			}
		}
	}
	return ""
}

// cellsOf returns the indexes of the cells of the block in the snapshot, by their names.
func (v *view) cellsOf(b fieldtext.Block, table desktop.ID) map[string]int {
	cells, names := make(map[string]int), make(map[string]bool)
	for r := range b.Rows {
		for c := range b.Rows[r] {
			names[b.CellName(r, c)] = true
		}
	}
	for i := range v.snapshot.Elements {
		e := &v.snapshot.Elements[i]
		if e.Role == desktop.Cell && names[e.Name] && e.Parent >= 0 && v.snapshot.Elements[e.Parent].ID == table {
			cells[e.Name] = i
		}
	}
	return cells
}

// blockText returns the values of the cells of a block at cell i: tabs between cells, a line per row.
func (v *view) blockText(b fieldtext.Block, i int) string {
	var text strings.Builder
	cells := v.cellsOf(b, v.tableOf(i))
	for r := range b.Rows {
		for c := range b.Rows[r] {
			if at, is := cells[b.CellName(r, c)]; is {
				text.WriteString(v.snapshot.Elements[at].Value)
			}
			if c+1 < len(b.Rows[r]) {
				text.WriteByte('\t')
			}
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// tableOf returns the ID of the table of a cell: its parent; "" without one.
func (v *view) tableOf(i int) desktop.ID {
	if up := v.snapshot.Elements[i].Parent; up >= 0 {
		return v.snapshot.Elements[up].ID
	}
	return ""
}
