package gui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// setBlock types into the cells in order, and reads them all.
func (v *view) setBlock(ctx context.Context, i int, b fieldtext.Block) (*aai.Result, error) {
	table, is := v.TableOf(i), v.trackElement(i)
	if len(v.CellsOf(b, table)) < b.Count() && v.readCells(ctx, table, b.Cells()) {
		if i = is(); i < 0 {
			return nil, guierr.Failed(aai.NotDelivered, "the cell is gone")
		}
	}
	a := action{view: v, index: i, doneText: "Set the cells to " + b.LastCellName() + " from"}
	a.techniques = []technique{v.byKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return v.writeBlock(ctx, i, b, input, seat, w)
	})}
	before := make(map[string]string)
	for name, at := range v.CellsOf(b, table) {
		before[name] = v.Snapshot.Elements[at].Value
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
	cells, there := v.CellsOf(b, v.TableOf(i)), true
	for r, row := range b.Rows {
		for c, text := range row {
			at, known := cells[b.CellName(r, c)]
			known = known && (seat == desktop.OwnSeat || v.Snapshot.IsVisible(at))
			if known && text == "" && v.Snapshot.Elements[at].Value == "" {
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
	cells, all := v.CellsOf(b, table), true
	for r := range b.Rows {
		for c, want := range b.Rows[r] {
			name := b.CellName(r, c)
			at, there := cells[name]
			if !there {
				all = false
				continue
			}
			now, err := v.backend.Tree.Read(ctx, v.app, v.Snapshot.Elements[at].ID)
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
