package fieldtext

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// SameCell reports whether a cell shows the value. A number may look different there, except for leading zeros. An
// apostrophe before the value marks the rest as text.
func SameCell(shown, value string) bool {
	if shown == value || len(value) > 1 && value[0] == '\'' && shown == value[1:] {
		return true
	}
	if HasLeadingZeros(value) {
		return false
	}
	if number := ParseNumber(value, math.NaN()); !math.IsNaN(number) {
		return number != 0 && near(shown, number, 1e-9) // the cell shows ten digits
	}
	return grouped.MatchString(value) && slices.ContainsFunc(possibleNumbers(value), func(n float64) bool { return slices.Contains(possibleNumbers(shown), n) })
}

// HasLeadingZeros reports whether the value is a number with leading zeros, which a sheet omits.
func HasLeadingZeros(value string) bool {
	return len(value) > 1 && value[0] == '0' && strings.Trim(value, "0123456789") == ""
}

// grouped matches a number with grouped thousands, in any country's notation.
var grouped = regexp.MustCompile(`^[+-]?\d{1,3}([,.\x{a0}\x{202f}'’ ]\d{3})+([.,]\d+)?$`)

// possibleNumbers returns the possible meanings of a number: the thousands separator depends on the
// country.
func possibleNumbers(text string) (numbers []float64) {
	for _, point := range []string{".", ","} {
		digits := strings.Map(func(r rune) rune {
			switch {
			case string(r) == point:
				return '.'
			case strings.ContainsRune(",.\u00a0\u202f'’ ", r):
				return -1
			}
			return r
		}, text)
		if n := ParseNumber(digits, math.NaN()); !math.IsNaN(n) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// IsCalculated reports whether a changed value proves that a formula arrived in a cell. A result
// equal to the old value, or an error, which reads as empty, proves nothing.
func IsCalculated(before, now string) bool { return now != "" && now != before }

// IsSheetCell reports whether the element is an editable sheet cell: a click moves the cursor there,
// and typed text goes there. Selecting the cell instead would leave the cursor, and the next key,
// at the old place.
func IsSheetCell(e *desktop.Element) bool {
	return e.Role == desktop.Cell && e.States.Has(desktop.Editable|desktop.Focusable) && len(e.Actions) == 0
}

// Block is a text that fills several cells of a sheet when pasted: one line per row, cells
// separated by tabs. The first cell is the named one, such as B2.
type Block struct {
	column, row int // from 1
	Rows        [][]string
}

// ParseBlock parses the text as a block at the sheet cell; false if it is text for one cell.
func ParseBlock(e *desktop.Element, text string) (b Block, is bool) {
	if !IsSheetCell(e) || !strings.ContainsAny(text, "\t\n") {
		return b, false
	}
	if b.column, b.row, is = desktop.ParseCellName(e.Name); !is {
		return b, false
	}
	for line := range strings.Lines(Normalize(text)) {
		b.Rows = append(b.Rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return b, true
}

// Count returns the number of cells that the block fills.
func (b Block) Count() (n int) {
	for _, row := range b.Rows {
		n += len(row)
	}
	return n
}

// Cells returns the rectangle of cells that the block fills in its sheet.
func (b Block) Cells() desktop.Cells {
	c := desktop.Cells{Row: b.row - 1, Column: b.column - 1, Rows: len(b.Rows)}
	for _, row := range b.Rows {
		c.Columns = max(c.Columns, len(row))
	}
	return c
}

// CellName returns the name of a cell of the block, such as B2; row and column count from 0 in the block.
func (b Block) CellName(row, column int) string {
	text := ""
	for n := b.column + column; n > 0; n = (n - 1) / 26 {
		text = string(rune('A'+(n-1)%26)) + text
	}
	return text + strconv.Itoa(b.row+row)
}

// LastCellName returns the name of the last cell in the last row of the block.
func (b Block) LastCellName() string {
	return b.CellName(len(b.Rows)-1, len(b.Rows[len(b.Rows)-1])-1)
}
