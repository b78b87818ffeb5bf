package ax

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"aai"
	"aai/internal/desktop"
)

// A block is a text as a sheet takes it that is pasted: a line for each row, its cells parted
// by tabs. It begins in the cell of the name, such as B2.
type block struct {
	column, row int // from 1
	rows        [][]string
}

// blockAt is the block that the text is in a cell of a sheet; false for the text of one cell.
func blockAt(e *desktop.Element, text string) (b block, is bool) {
	if !sheetCell(e) || !strings.ContainsAny(text, "\t\n") {
		return b, false
	}
	digits := strings.IndexAny(e.Name, "123456789")
	if digits < 1 {
		return b, false
	}
	for _, letter := range e.Name[:digits] {
		if letter < 'A' || letter > 'Z' {
			return b, false
		}
		b.column = 26*b.column + int(letter-'A') + 1
	}
	row, err := strconv.Atoi(e.Name[digits:])
	b.row = row
	for line := range strings.Lines(normalized(text)) {
		b.rows = append(b.rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return b, err == nil
}

// name is what a cell of the block is called.
func (b block) name(row, column int) string {
	text := ""
	for n := b.column + column; n > 0; n = (n - 1) / 26 {
		text = string(rune('A'+(n-1)%26)) + text
	}
	return text + strconv.Itoa(b.row+row)
}

// last is the name of its last cell.
func (b block) last() string {
	return b.name(len(b.rows)-1, len(b.rows[len(b.rows)-1])-1)
}

// cellsOf are the cells of the block that the sheet tells of, by their names.
func (v *view) cellsOf(b block, table desktop.ID) map[string]int {
	cells, names := make(map[string]int), make(map[string]bool)
	for r := range b.rows {
		for c := range b.rows[r] {
			names[b.name(r, c)] = true
		}
	}
	for i := range v.shot.Elements {
		e := &v.shot.Elements[i]
		if e.Role == desktop.Cell && names[e.Name] && e.Parent >= 0 && v.shot.Elements[e.Parent].ID == table {
			cells[e.Name] = i
		}
	}
	return cells
}

// blockText is what the cells of the block hold.
func (v *view) blockText(b block, i int) string {
	var text strings.Builder
	cells := v.cellsOf(b, v.tableOf(i))
	for r := range b.rows {
		for c := range b.rows[r] {
			if at, is := cells[b.name(r, c)]; is {
				text.WriteString(v.shot.Elements[at].Value)
			}
			if c+1 < len(b.rows[r]) {
				text.WriteByte('\t')
			}
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// tableOf is what the cell is in.
func (v *view) tableOf(i int) desktop.ID {
	if up := v.shot.Elements[i].Parent; up >= 0 {
		return v.shot.Elements[up].ID
	}
	return ""
}

// setBlock types into one cell after the other, and reads them all.
func (v *view) setBlock(ctx context.Context, i int, b block) (*aai.Result, error) {
	a := deed{view: v, index: i, done: "Set the cells to " + b.last() + " from"}
	a.ways = []way{v.byInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if err := v.enterCell(ctx, i, input, seat, w); err != nil {
			return err
		}
		for _, row := range b.rows {
			for c, text := range row {
				key := "tab"
				if c+1 == len(row) {
					key = "return" // which leads below the cell that the tabs began in
				}
				if err := v.writeCell(ctx, text, key, input, seat, w); err != nil {
					return err
				}
			}
		}
		return nil
	})}
	table, before := v.tableOf(i), make(map[string]string)
	for name, at := range v.cellsOf(b, table) {
		before[name] = v.shot.Elements[at].Value
	}
	a.verify = func(ctx context.Context) (string, bool) {
		for until := time.Now().Add(wrongCeiling); ; { // cells are away for a moment when the cursor comes
			wrong, all := v.blockIs(ctx, b, table, before)
			if wrong != "" || all || time.Now().After(until) || !slept(ctx, lookAgain) {
				return wrong, all
			}
		}
	}
	return a.perform(ctx)
}

// writeCell types into the cell that the cursor of the sheet is in, and leaves it by a key.
// What the sheet puts behind what is typed, from the cells above, is deleted.
func (v *view) writeCell(ctx context.Context, text, leave string, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	if text != "" {
		if err := input.Type(ctx, seat, w.ID, text); err != nil {
			return err
		}
	}
	if err := input.Key(ctx, seat, w.ID, desktop.Chord{Key: "delete"}); err != nil || leave == "" {
		return err
	}
	return input.Key(ctx, seat, w.ID, desktop.Chord{Key: leave})
}

// blockIs reports whether all cells hold what they are to hold, or says which does not. What
// has gone out of view is not known.
func (v *view) blockIs(ctx context.Context, b block, table desktop.ID, before map[string]string) (string, bool) {
	if err := v.refresh(ctx); err != nil {
		return "", false
	}
	cells, all := v.cellsOf(b, table), true
	for r := range b.rows {
		for c, want := range b.rows[r] {
			name := b.name(r, c)
			at, there := cells[name]
			if !there {
				all = false
				continue
			}
			now, err := v.backend.Tree.Read(ctx, v.app, v.shot.Elements[at].ID)
			switch {
			case err != nil:
				return "", false
			case !sameCell(now.Value, want) && (!strings.HasPrefix(want, "=") || now.Value == before[name]):
				return fmt.Sprintf("%s now holds %q", name, aai.CleanLabel(now.Value, 100)), false
			}
		}
	}
	return "", all
}
