package ax

import (
	"context"
	"fmt"
	"strings"

	"aai"
	"aai/internal/ax/fault"
	"aai/internal/ax/operate"
	"aai/internal/ax/values"
	"aai/internal/desktop"
)

// setBlock types into one cell after the other, and reads them all.
func (v *view) setBlock(ctx context.Context, i int, b values.Block) (*aai.Result, error) {
	table, is := v.TableOf(i), v.Same(i)
	if len(v.CellsOf(b, table)) < b.Count() && v.ReadCells(ctx, table, b.Cells()) {
		if i = is(); i < 0 {
			return nil, fault.Failed(aai.NotDelivered, "the cell went")
		}
	}
	a := operate.Deed{View: v.View, Index: i, Done: "Set the cells to " + b.Last() + " from"}
	a.Ways = []operate.Way{v.ByKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if err := v.EnterCell(ctx, i, input, seat, w); err != nil {
			return err
		}
		for _, row := range b.Rows {
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
	before := make(map[string]string)
	for name, at := range v.CellsOf(b, table) {
		before[name] = v.Shot.Elements[at].Value
	}
	a.Verify = func(ctx context.Context) (wrong string, all bool) {
		_, _ = v.Until(ctx, operate.WrongCeiling, func() (bool, error) { // cells are away for a moment when the cursor comes
			wrong, all = v.blockIs(ctx, b, table, before)
			return wrong != "" || all, nil
		})
		return wrong, all
	}
	return a.Perform(ctx)
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
func (v *view) blockIs(ctx context.Context, b values.Block, table desktop.ID, before map[string]string) (string, bool) {
	if err := v.Refresh(ctx); err != nil {
		return "", false
	}
	cells, all := v.CellsOf(b, table), true
	for r := range b.Rows {
		for c, want := range b.Rows[r] {
			name := b.Name(r, c)
			at, there := cells[name]
			if !there {
				all = false
				continue
			}
			now, err := v.Backend.Tree.Read(ctx, v.App, v.Shot.Elements[at].ID)
			switch {
			case err != nil:
				return "", false
			case !values.SameCell(now.Value, want) && (!strings.HasPrefix(want, "=") || now.Value == before[name]):
				return fmt.Sprintf("%s now holds %q", name, aai.CleanLabel(now.Value, 100)), false
			}
		}
	}
	return "", all
}
