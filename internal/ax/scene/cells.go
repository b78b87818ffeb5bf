package scene

import (
	"strings"

	"aai/internal/ax/values"
	"aai/internal/desktop"
)

// CellsOf are the cells of the block that the sheet tells of, by their names.
func (s *Scene) CellsOf(b values.Block, table desktop.ID) map[string]int {
	cells, names := make(map[string]int), make(map[string]bool)
	for r := range b.Rows {
		for c := range b.Rows[r] {
			names[b.Name(r, c)] = true
		}
	}
	for i := range s.Shot.Elements {
		e := &s.Shot.Elements[i]
		if e.Role == desktop.Cell && names[e.Name] && e.Parent >= 0 && s.Shot.Elements[e.Parent].ID == table {
			cells[e.Name] = i
		}
	}
	return cells
}

// blockText is what the cells of the block hold.
func (s *Scene) blockText(b values.Block, i int) string {
	var text strings.Builder
	cells := s.CellsOf(b, s.TableOf(i))
	for r := range b.Rows {
		for c := range b.Rows[r] {
			if at, is := cells[b.Name(r, c)]; is {
				text.WriteString(s.Shot.Elements[at].Value)
			}
			if c+1 < len(b.Rows[r]) {
				text.WriteByte('\t')
			}
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// TableOf is what the cell is in.
func (s *Scene) TableOf(i int) desktop.ID {
	if up := s.Shot.Elements[i].Parent; up >= 0 {
		return s.Shot.Elements[up].ID
	}
	return ""
}
