package dialog

import (
	"strings"
	"unicode/utf8"

	"aai"
)

// Bounds on what a window shows.
const (
	maxLabel = 48 // of a button, in bytes
	maxLines = 28 // of the text, so that the buttons stay on the screen
	// columns are after which a line is broken. GTK 2 breaks lines by itself at the
	// width of 65 average letters; what it breaks would stand there without its mark.
	columns  = 52
	shortest = 24  // how much is left of a line that is cut, in bytes
	maxTitle = 160 // of a question's title, in bytes
	maxLine  = 16 * columns
	maxText  = 1 << 20
)

// A page is what one window shows. All of it is plain text.
type page struct {
	title   string   // of the window
	text    string   // the first line is in the gateway's own words
	buttons []string // at least the refusal, which is the first, the default, and what Escape means
}

// body is the question in at most room bytes, with lines of at most 52 columns.
// The longest of a stranger's lines are cut first.
func (d *Dialog) body(q aai.Question, room int) string {
	lines := []string{d.words().heading, aai.CleanLabel(q.Title, maxTitle), ""}
	for line := range strings.Lines(aai.CleanText(q.Text, maxText)) {
		lines = append(lines, cutTo(strings.TrimRight(strings.ReplaceAll(line, "\t", " "), "\r\n "), maxLine))
	}
	for {
		shown := wrap(lines)
		if text := strings.Join(shown, "\n"); len(shown) <= maxLines && size(text) <= room {
			return text
		}
		if !cutLongest(lines) {
			return strings.Join(append(fitting(shown, room), "…"), "\n")
		}
	}
}

// size is how many bytes a text takes, with what protocols escape in it.
func size(text string) int { return len(text) + 2*(strings.Count(text, "\n")+strings.Count(text, "%")) }

// fitting returns the first of the lines that fit in, with one more line.
func fitting(lines []string, room int) []string {
	used := len("…")
	for i, line := range lines[:min(len(lines), maxLines-1)] {
		if used += size(line + "\n"); used > room {
			return lines[:i]
		}
	}
	return lines[:min(len(lines), maxLines-1)]
}

// cutLongest cuts the longest line by an eighth, a quoted one if there is any to
// cut. It reports false if there is nothing left to cut.
func cutLongest(lines []string) bool {
	longest := 0 // which is never cut
	for i, line := range lines {
		quoted, than := strings.HasPrefix(line, aai.QuoteMark), strings.HasPrefix(lines[longest], aai.QuoteMark)
		switch {
		case i == 0 || len(line) <= shortest || than && !quoted:
		case longest == 0 || quoted && !than || len(line) > len(lines[longest]):
			longest = i
		}
	}
	if longest == 0 {
		return false
	}
	n := len(lines[longest])
	lines[longest] = cutTo(lines[longest], max(shortest, n-n/8-1))
	return true
}

// cutTo is the line in at most size bytes, with "…" where it was cut.
func cutTo(line string, size int) string {
	const more = "…"
	if len(line) <= size {
		return line
	}
	cut := size - len(more)
	for cut > 0 && !utf8.RuneStart(line[cut]) {
		cut--
	}
	return strings.TrimSuffix(strings.TrimRight(line[:cut], " "), more) + more
}

// wrap breaks long lines. What is quoted stays marked as that.
func wrap(lines []string) []string {
	var out []string
	for _, line := range lines {
		mark := ""
		if strings.HasPrefix(line, aai.QuoteMark) {
			mark = aai.QuoteMark
			line = line[len(mark):]
		}
		for {
			at := breakAt(line, columns-utf8.RuneCountInString(mark))
			out = append(out, mark+strings.TrimRight(line[:at], " "))
			if line = strings.TrimLeft(line[at:], " "); line == "" {
				break
			}
		}
	}
	return out
}

// breakAt returns how many bytes of the line go on one of the width: up to the
// last space, or within a word that is longer than the line.
func breakAt(line string, width int) int {
	space, used := 0, 0
	for i, r := range line {
		used += cells(r)
		if used > width {
			if space > 0 {
				return space
			}
			return max(i, 1)
		}
		if r == ' ' {
			space = i
		}
	}
	return len(line)
}

// cells is about how wide a character is drawn, rather more than less.
func cells(r rune) int {
	if 'A' <= r && r <= 'Z' || strings.ContainsRune("mw@%&#<>=+~_", r) || r > '~' {
		return 2
	}
	return 1
}
