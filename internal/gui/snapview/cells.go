package snapview

import (
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
)

// CellsOf returns the indexes of the cells of the block in the snapshot, by their names.
func (s *RefSnapshot) CellsOf(b fieldtext.Block, table desktop.ID) map[string]int {
	cells, names := make(map[string]int), make(map[string]bool)
	for r := range b.Rows {
		for c := range b.Rows[r] {
			names[b.CellName(r, c)] = true
		}
	}
	for i := range s.Snapshot.Elements {
		e := &s.Snapshot.Elements[i]
		if e.Role == desktop.Cell && names[e.Name] && e.Parent >= 0 && s.Snapshot.Elements[e.Parent].ID == table {
			cells[e.Name] = i
		}
	}
	return cells
}

// blockText returns the values of the cells of a block at cell i: tabs between cells, a line per row.
func (s *RefSnapshot) blockText(b fieldtext.Block, i int) string {
	var text strings.Builder
	cells := s.CellsOf(b, s.TableOf(i))
	for r := range b.Rows {
		for c := range b.Rows[r] {
			if at, is := cells[b.CellName(r, c)]; is {
				text.WriteString(s.Snapshot.Elements[at].Value)
			}
			if c+1 < len(b.Rows[r]) {
				text.WriteByte('\t')
			}
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// TableOf returns the ID of the table of a cell: its parent; "" without one.
func (s *RefSnapshot) TableOf(i int) desktop.ID {
	if up := s.Snapshot.Elements[i].Parent; up >= 0 {
		return s.Snapshot.Elements[up].ID
	}
	return ""
}
