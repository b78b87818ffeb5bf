package atspi

import (
	"context"
	"errors"

	"aai"
	"aai/internal/dbuswire"
	"aai/internal/desktop"
)

// A sheetPart are cells of a table that are wanted, whether people can see them or not.
type sheetPart struct {
	table ref
	cells desktop.Cells
}

// wanted are those of the node's cells that are, save for those that were seen: LibreOffice makes
// another object of a cell each time that it is asked for it.
func (p *program) wanted(ctx context.Context, n *node, seen rectangle) ([]ref, error) {
	part := p.cells.Load()
	if part == nil || part.table != n.ref {
		return nil, nil
	}
	c := part.cells
	refs := make([]ref, min(c.Rows*c.Columns, desktop.MaxCells))
	r := &round{}
	for i := range refs {
		row, column := c.Row+i/c.Columns, c.Column+i%c.Columns
		if seen.has(row, column) {
			continue
		}
		at := numbers(tableInterface, "GetAccessibleAt", "ii", "(so)", int32(row), int32(column))
		r.put(at, n.ref, func(d *dbuswire.Decoder) {
			if refs[i] = readRef(d, p.sender); d.Err() != nil {
				refs[i] = ref{}
			}
		})
	}
	return refs, p.run(ctx, r)
}

// A rectangle are cells of a table, row by row: so many columns, the last row maybe not whole.
type rectangle struct{ row, column, columns, count int }

func (r rectangle) has(row, column int) bool {
	row, column = row-r.row, column-r.column
	return row >= 0 && column >= 0 && column < r.columns && row*r.columns+column < r.count
}

// scrollTo brings the element into view. LibreOffice does not know how to; its sheet goes where
// its cursor goes.
func (a *actor) scrollTo(ctx context.Context) error {
	err := a.do(ctx, numbers(componentInterface, "ScrollTo", "u", "b", scrollAnywhere), a.n.ref)
	e, ok := errors.AsType[*aai.Error](err)
	switch {
	case !ok || e.Code != aai.AutomationFailed && e.Code != aai.AutomationNotSupported:
		return err
	case a.n.role == roleTableCell && a.n.states.has(stateEditable) && a.p.habits().unlisted:
		return a.do(ctx, method(componentInterface, "GrabFocus", "b"), a.n.ref)
	case e.Delivery == aai.Delivered:
		return a.unsupported("cannot be scrolled to", e)
	}
	return err
}
