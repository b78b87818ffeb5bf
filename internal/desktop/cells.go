package desktop

import (
	"strconv"
	"strings"
)

// MaxCells is how many cells of a table are read because they were asked for.
const MaxCells = 500

// Cells are a rectangle of the cells of a table. Rows and columns count from 0.
type Cells struct {
	Row, Column   int
	Rows, Columns int
}

// Contains reports whether a cell is one of them.
func (c Cells) Contains(row, column int) bool {
	return row >= c.Row && row < c.Row+c.Rows && column >= c.Column && column < c.Column+c.Columns
}

// ParseCellName reads the name of a cell of a sheet, such as B2: its column and row, from 1. False
// for what is none, or of a sheet larger than any.
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
