package atspi

import (
	"context"
	"errors"
	"slices"
	"time"

	"aai"
	"aai/internal/dbuswire"
	"aai/internal/desktop"
)

// cellAge is how long a cell is read that was asked for.
const cellAge = 5 * time.Minute

// A wantedCell is one of a table that is read, whether people can see it or not.
type wantedCell struct {
	table       ref
	row, column int
	asked       time.Time
}

// want notes that cells of the table are asked for: the last desktop.MaxCells are read.
func (p *program) want(table ref, c desktop.Cells) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cells = slices.DeleteFunc(p.cells, func(old wantedCell) bool {
		return now.Sub(old.asked) > cellAge || old.table == table && c.Has(old.row, old.column)
	})
	for i := range min(c.Rows*c.Columns, desktop.MaxCells) {
		p.cells = append(p.cells, wantedCell{table, c.Row + i/c.Columns, c.Column + i%c.Columns, now})
	}
	p.cells = p.cells[max(0, len(p.cells)-desktop.MaxCells):]
}

// wanted are those of the node's cells that are, save for those that were seen: LibreOffice makes
// another object of a cell each time that it is asked for it.
func (p *program) wanted(ctx context.Context, n *node, seen rectangle) ([]ref, error) {
	p.mu.Lock()
	cells := slices.Clone(p.cells)
	p.mu.Unlock()
	refs := make([]ref, len(cells))
	r := &round{}
	for i, c := range cells {
		if c.table != n.ref || seen.has(c.row, c.column) || time.Since(c.asked) > cellAge {
			continue
		}
		r.put(numbers(tableInterface, "GetAccessibleAt", "ii", "(so)", int32(c.row), int32(c.column)), n.ref, func(d *dbuswire.Decoder) {
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
