package cli

import (
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/gybob/aai-gateway"
)

const (
	columnGap = 2
	// minColumn is the least width to which a column shrinks for the table to fit.
	minColumn = 8
)

// table writes rows under a header. On a terminal the columns are aligned by the width of
// their characters and cut to the terminal's width. In a pipe cells are complete and
// separated by tabs, below the same header.
func (o *output) table(header []string, rows [][]string) { o.tableWith(header, rows, nil) }

// tableWith is table with complete, indented lines below some rows, by the row's index.
func (o *output) tableWith(header []string, rows [][]string, below map[int][]string) {
	lines := make([][]string, 0, len(rows)+1)
	for _, row := range append([][]string{header}, rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = aai.CleanLabel(cell, maxQuestion)
		}
		lines = append(lines, cells)
	}
	widths := columnWidths(lines, o.terminal.Width)
	for i, cells := range lines {
		if o.terminal.Out {
			o.raw(aligned(cells, widths) + "\n")
		} else {
			o.raw(strings.Join(cells, "\t") + "\n")
		}
		for _, line := range below[i-1] {
			o.raw("    " + aai.CleanLabel(line, maxQuestion) + "\n")
		}
	}
}

// padded returns text with blanks up to a width, by the widths that terminals give to characters.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-displaywidth.String(text)))
}

// columnWidths returns the width of every column's widest cell. If the terminal is narrower, it shrinks columns, beginning with the last: the first ones name the row.
func columnWidths(lines [][]string, terminal int) []int {
	widths := make([]int, len(lines[0]))
	total := columnGap * (len(widths) - 1)
	for i := range widths {
		for _, cells := range lines {
			widths[i] = max(widths[i], displaywidth.String(cells[i]))
		}
		total += widths[i]
	}
	if terminal <= 0 {
		return widths
	}
	for i := len(widths) - 1; i >= 0 && total > terminal; i-- {
		narrow := max(min(minColumn, widths[i]), widths[i]-(total-terminal))
		total -= widths[i] - narrow
		widths[i] = narrow
	}
	return widths
}

func aligned(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		cell = displaywidth.TruncateString(cell, widths[i], "…")
		if i < len(cells)-1 {
			cell = padded(cell, widths[i]+columnGap)
		}
		b.WriteString(cell)
	}
	return strings.TrimRight(b.String(), " ")
}
