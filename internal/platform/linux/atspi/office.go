package atspi

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// cellAge is how long snapshots contain a requested cell.
const cellAge = 5 * time.Minute

// A wantedCell is a requested cell of a table, which snapshots contain even if it is not visible.
type wantedCell struct {
	table       ref
	row, column int
	asked       time.Time
}

// want records requested cells of the table. It keeps the last desktop.MaxCells.
func (p *program) want(table ref, c desktop.Cells) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cells = slices.DeleteFunc(p.cells, func(old wantedCell) bool {
		return now.Sub(old.asked) > cellAge || old.table == table && c.Contains(old.row, old.column)
	})
	for i := range min(c.Rows*c.Columns, desktop.MaxCells) {
		p.cells = append(p.cells, wantedCell{table, c.Row + i/c.Columns, c.Column + i%c.Columns, now})
	}
	p.cells = p.cells[max(0, len(p.cells)-desktop.MaxCells):]
}

// wanted returns the requested cells of the node, except for those in seen: LibreOffice creates a new
// object for a cell at every query.
func (p *program) wanted(ctx context.Context, n *node, seen rectangle) ([]ref, error) {
	p.mu.Lock()
	cells := slices.Clone(p.cells)
	p.mu.Unlock()
	refs := make([]ref, len(cells))
	r := &batch{}
	for i, c := range cells {
		if c.table != n.ref || seen.has(c.row, c.column) || time.Since(c.asked) > cellAge {
			continue
		}
		p.askCell(r, n, c.row, c.column, &refs[i])
	}
	return refs, p.run(ctx, r)
}

// A rectangle is a range of cells of a table, row by row; the last row may be incomplete.
type rectangle struct{ row, column, columns, count int }

func (r rectangle) has(row, column int) bool {
	row, column = row-r.row, column-r.column
	return row >= 0 && column >= 0 && column < r.columns && row*r.columns+column < r.count
}

// mayCalculate reports whether the node may be a cell of a LibreOffice sheet. Such a cell has no text if it
// shows an error.
func (p *program) mayCalculate(n *node) bool {
	return n.role == roleTableCell && n.states.has(stateEditable) && p.profile().isOffice
}

// readFormula sets the text of a cell without text to its formula.
func (n *node) readFormula(d *wire.Decoder) {
	d.Array(8, func() {
		d.Struct()
		if key, value := d.Str(), d.Str(); key == "Formula" && value != "" {
			n.text = "=" + value
		}
	})
}

// named returns the range that the found cells of a sheet span, derived from their names. After row 131,072
// of a sheet a cell's index overflows its type.
func (p *program) named(ctx context.Context, found []ref) (rectangle, error) {
	names := make([]string, len(found))
	r := &batch{}
	for i, cell := range found {
		if !cell.none() {
			r.add(p.bus.requests.name, cell, func(d *wire.Decoder) { names[i], _ = readText(d) })
		}
	}
	if err := p.run(ctx, r); err != nil {
		return rectangle{}, err
	}
	var cells rectangle
	last := [2]int{-1, -1}
	for _, name := range names {
		column, row, is := desktop.ParseCellName(name)
		if !is {
			continue
		}
		if row, column = row-1, column-1; last[0] < 0 {
			cells.row, cells.column = row, column
		}
		cells.row, cells.column = min(cells.row, row), min(cells.column, column)
		last[0], last[1] = max(last[0], row), max(last[1], column)
	}
	if last[0] >= 0 {
		cells.columns = last[1] - cells.column + 1
		cells.count = min(maxSample, cells.columns*(last[0]-cells.row+1))
	}
	return cells, nil
}

// cellsOf returns the node's cells in the rectangle.
func (p *program) cellsOf(ctx context.Context, n *node, cells rectangle) ([]ref, error) {
	refs := make([]ref, cells.count)
	r := &batch{}
	for i := range refs {
		p.askCell(r, n, cells.row+i/cells.columns, cells.column+i%cells.columns, &refs[i])
	}
	return refs, p.run(ctx, r)
}

// askCell queries the cell of the node at row and column.
func (p *program) askCell(r *batch, n *node, row, column int, cell *ref) {
	r.add(numbers(tableInterface, "GetAccessibleAt", "ii", "(so)", int32(row), int32(column)), n.ref, func(d *wire.Decoder) {
		if *cell = readRef(d, p.sender); d.Err() != nil {
			*cell = ref{}
		}
	})
}

// scrollTo scrolls the element into view. LibreOffice does not implement ScrollTo; its sheet follows the
// cursor.
func (a *actor) scrollTo(ctx context.Context) error {
	err := a.do(ctx, numbers(componentInterface, "ScrollTo", "u", "b", scrollAnywhere), a.n.ref)
	e, ok := errors.AsType[*aai.Error](err)
	switch {
	case !ok || e.Code != aai.AutomationFailed && e.Code != aai.AutomationNotSupported:
		return err
	case a.n.role == roleTableCell && a.n.states.has(stateEditable) && a.p.profile().isOffice:
		return a.do(ctx, method(componentInterface, "GrabFocus", "b"), a.n.ref)
	}
	return a.scrollByBars(ctx)
}

// LibreOffice lets GTK draw its menus and also exposes its own menu bars, with height 0. These repeat a
// third of its whole tree, so their menus are not read if the window has a visible menu bar.

// findUnseenBars finds the invisible menu bars among the nodes and defers reading their menus.
func (p *program) findUnseenBars(ctx context.Context, t *tree, level []*node) error {
	if !p.profile().isOffice {
		return nil
	}
	r := &batch{}
	for _, n := range level {
		if n.role != roleMenuBar || n.bar == barNeeded {
			continue
		}
		if n.bar == noBar {
			t.bars = append(t.bars, n)
		}
		n.bar = barSeen
		r.add(p.bus.requests.extentsOf(p.profile()), n.ref, func(d *wire.Decoder) {
			if frame, ok := readExtents(d); ok && sane(frame).Empty() {
				n.bar = barUnseen
			}
		})
	}
	return p.run(ctx, r)
}

// A bar says whether a node is a menu bar, and whether the bar is visible.
type bar int

const (
	noBar bar = iota
	barSeen
	barUnseen
	barNeeded // invisible, but the only one of its window
)

// neededBars returns the menus of invisible menu bars in windows without another menu bar.
func (t *tree) neededBars() (needed []*node) {
	for _, n := range t.bars {
		if n.bar != barUnseen || t.nodes[n.ref] != n {
			continue
		}
		other := false
		for _, o := range t.bars {
			other = other || o.bar == barSeen && o.window() == n.window()
		}
		if !other {
			n.bar = barNeeded
			needed = append(needed, n.children...)
		}
	}
	return needed
}

// window returns the child of the app that contains the node.
func (n *node) window() *node {
	for n.parent != nil && n.parent.parent != nil {
		n = n.parent
	}
	return n
}
