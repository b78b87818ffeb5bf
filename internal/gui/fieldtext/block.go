package fieldtext

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// SameCell reports whether a cell shows the value: a number may look otherwise there, but for
// zeros before it, and an apostrophe before a text says that it is none.
func SameCell(shown, value string) bool {
	if shown == value || len(value) > 1 && value[0] == '\'' && shown == value[1:] {
		return true
	}
	if HasLeadingZeros(value) {
		return false
	}
	if number := ParseNumber(value, math.NaN()); !math.IsNaN(number) {
		return number != 0 && near(shown, number, 1e-9) // it shows ten digits
	}
	return grouped.MatchString(value) && slices.ContainsFunc(possibleNumbers(value), func(n float64) bool { return slices.Contains(possibleNumbers(shown), n) })
}

// HasLeadingZeros reports whether the value is a number after zeros, which a sheet leaves out.
func HasLeadingZeros(value string) bool {
	return len(value) > 1 && value[0] == '0' && strings.Trim(value, "0123456789") == ""
}

// grouped is a number whose thousands are parted, in any country's way.
var grouped = regexp.MustCompile(`^[+-]?\d{1,3}([,.\x{a0}\x{202f}'’ ]\d{3})+([.,]\d+)?$`)

// possibleNumbers are the numbers that a text may be: which of its signs parts the thousands depends on
// the country.
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

// Calculated reports whether a formula is known to have come into a cell by what it showed before
// and shows now: it may show the same, and an error shows as nothing.
func Calculated(before, now string) bool { return now != "" && now != before }

// SheetCell reports whether the element is a cell that one writes in: a click puts the
// cursor there, and what is typed next goes to it. To select it leaves the cursor, and the
// next key, where they were.
func SheetCell(e *desktop.Element) bool {
	return e.Role == desktop.Cell && e.States.Has(desktop.Editable|desktop.Focusable) && len(e.Actions) == 0
}

// A Block is a text as a sheet takes it that is pasted: a line for each row, its cells parted
// by tabs. It begins in the cell of the name, such as B2.
type Block struct {
	column, row int // from 1
	Rows        [][]string
}

// ParseBlock is the block that the text is in a cell of a sheet; false for the text of one cell.
func ParseBlock(e *desktop.Element, text string) (b Block, is bool) {
	if !SheetCell(e) || !strings.ContainsAny(text, "\t\n") {
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

// Count is how many cells it has.
func (b Block) Count() (n int) {
	for _, row := range b.Rows {
		n += len(row)
	}
	return n
}

// Cells is where the block is in its sheet.
func (b Block) Cells() desktop.Cells {
	c := desktop.Cells{Row: b.row - 1, Column: b.column - 1, Rows: len(b.Rows)}
	for _, row := range b.Rows {
		c.Columns = max(c.Columns, len(row))
	}
	return c
}

// CellName is what a cell of the block is called.
func (b Block) CellName(row, column int) string {
	text := ""
	for n := b.column + column; n > 0; n = (n - 1) / 26 {
		text = string(rune('A'+(n-1)%26)) + text
	}
	return text + strconv.Itoa(b.row+row)
}

// LastCellName is the name of its last cell.
func (b Block) LastCellName() string {
	return b.CellName(len(b.Rows)-1, len(b.Rows[len(b.Rows)-1])-1)
}
