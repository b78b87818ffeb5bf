package desktop

import (
	"strconv"
	"strings"
)

// MaxCells is the maximum number of requested cells of a table that a snapshot contains.
const MaxCells = 500

// Cells is a rectangle of cells of a table. Rows and columns count from 0.
type Cells struct {
	Row, Column   int
	Rows, Columns int
}

// Contains reports whether the cell lies in the rectangle.
func (c Cells) Contains(row, column int) bool {
	return row >= c.Row && row < c.Row+c.Rows && column >= c.Column && column < c.Column+c.Columns
}

// ParseCellName parses the name of a spreadsheet cell, such as B2, into column and row, from 1. It returns
// false for any other text and for a cell beyond the largest possible sheet.
func ParseCellName(name string) (column, row int, is bool) {
	digits := strings.IndexAny(name, "123456789")
	if digits < 1 || digits > 3 {
		return 0, 0, false
	}
	for _, letter := range name[:digits] {
		if letter < 'A' || letter > 'Z' {
			return 0, 0, false
		}
		column = 26*column + int(letter-'A') + 1
	}
	row, err := strconv.Atoi(name[digits:])
	return column, row, err == nil && row <= 1<<20
}
