// Package fieldtext reads and compares the values of elements: numbers, dates and times, check
// marks, blocks of cells. It works on texts and single elements, without their containers.
package fieldtext

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// MaxLongText is the maximum number of bytes of a value that a tool for one element returns.
const MaxLongText = 100 << 10

// FullText returns the text or value of one element, for a tool that reads only it.
func FullText(e *desktop.Element) string {
	if e.States.Has(desktop.Protected) {
		return hiddenValue
	}
	if words := Value(e); words != "" || !namedByWords(e) {
		return aai.CleanText(words, MaxLongText)
	}
	return aai.CleanText(e.Name, MaxLongText)
}

// namedByWords reports whether the name of an element is the text within it.
func namedByWords(e *desktop.Element) bool {
	switch e.Role {
	case desktop.Generic, desktop.Cell, desktop.ColumnHeader, desktop.RowHeader, desktop.ListItem:
		return !e.States.HasAny(desktop.Editable | desktop.Checkable)
	}
	return e.Role.IsTextual()
}

// MaxText is the maximum number of bytes of a text of the program in one field of a reply.
const MaxText = 2000

// hiddenValue replaces the value of a password field.
const hiddenValue = "****"

// DisplayValue returns the value of an element, cleaned, of at most MaxText bytes; **** for a password field.
func DisplayValue(e *desktop.Element) string {
	if e.States.Has(desktop.Protected) {
		return hiddenValue
	}
	return aai.CleanText(Value(e), MaxText)
}

// Value returns the value of an element; for a checkable one without a value "true", "false" or "mixed".
func Value(e *desktop.Element) string {
	switch {
	case e.Value != "" || !e.States.Has(desktop.Checkable):
		return e.Value
	case e.States.Has(desktop.Mixed):
		return "mixed"
	case e.States.HasAny(desktop.Checked | desktop.Pressed):
		return "true"
	}
	return "false"
}

// SameChoice reports whether an option has the name that the caller used.
func SameChoice(option, name string) bool {
	return strings.EqualFold(strings.TrimSpace(option), strings.TrimSpace(name))
}

// Normalize returns the text in a form that is the same for all toolkits: line ends differ, rich text
// ends with one of its own, and marks of writing direction may be left out.
func Normalize(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\ufeff', r == '\u200e', r == '\u200f', r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
			return -1
		}
		return r
	}, s)
	return strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
}

// ReplaceNoBreakSpaces replaces no-break spaces, which editors in pages use for consecutive spaces.
func ReplaceNoBreakSpaces(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }

// IsReformatted reports whether a field shows the text in its own format, as an input mask does.
// The field has all characters in order, in either case, with only separators between. It may lack space around the
// text, and have more decimals of a number. Another added sign or decimal point is a difference, because it changes a
// number.
func IsReformatted(shown, text string) bool {
	if trimmed := strings.TrimSpace(text); trimmed != "" {
		text = trimmed
	}
	if decimals, more := strings.CutPrefix(shown, text); more && !math.IsNaN(ParseNumber(text, math.NaN())) && zeroDecimals(text, decimals) {
		return true
	}
	left, all := []rune(strings.ToLower(text)), []rune(strings.ToLower(shown))
	for i, r := range all {
		point := strings.ContainsRune(".,", r) && !thousands(all[i+1:])
		sign := text != "" && changesNumber(all, i)
		switch {
		case len(left) > 0 && r == left[0]:
			left = left[1:]
		case unicode.IsLetter(r), unicode.IsDigit(r), point, sign:
			return false
		}
	}
	return len(left) == 0
}

// changesNumber reports whether the i'th character of a text changes the number in it: a minus before or after its
// digits, parentheses around it, or another sign of mathematics than a plus.
func changesNumber(all []rune, i int) bool {
	first, last := slices.IndexFunc(all, unicode.IsDigit), len(all)-1
	for last >= 0 && !unicode.IsDigit(all[last]) {
		last--
	}
	switch r := all[i]; r {
	case '-', '\u2212':
		return first >= 0 && (i < first || i > last)
	case '(', ')':
		return first >= 0 && all[0] == '(' && all[len(all)-1] == ')'
	case '+':
		return false
	default:
		return unicode.In(r, unicode.No, unicode.Sm)
	}
}

// zeroDecimals reports whether the digits after a number add only decimals that are zero, such as ".00" after 7. Three
// may be a group of thousands.
func zeroDecimals(number, after string) bool {
	zeros := after
	if !strings.ContainsAny(number, ".,") {
		if after == "" || !strings.ContainsRune(".,", rune(after[0])) || len(after) == len(".000") {
			return false
		}
		zeros = after[1:]
	}
	return zeros != "" && strings.Trim(zeros, "0") == ""
}

// thousands reports whether exactly three digits follow.
func thousands(rest []rune) bool {
	n := slices.IndexFunc(rest, func(r rune) bool { return !unicode.IsDigit(r) })
	return n == 3 || n < 0 && len(rest) == 3
}

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
