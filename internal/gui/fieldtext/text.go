// Package values reads what elements hold: numbers, dates and times, ticks, blocks of cells. It
// judges texts and single elements, and knows nothing of what they are in.
package fieldtext

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// MaxLongText is how many bytes of a text a tool that reads one element returns.
const MaxLongText = 100 << 10

// FullText is what an element says or holds, for who asks for it alone.
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

// MaxText is how many bytes of a program's text a field of an answer holds.
const MaxText = 2000

// hiddenValue stands in the place of what a password field holds.
const hiddenValue = "****"

// DisplayValue is what an element holds, for showing.
func DisplayValue(e *desktop.Element) string {
	if e.States.Has(desktop.Protected) {
		return hiddenValue
	}
	return aai.CleanText(Value(e), MaxText)
}

// Value is what an element holds: of what can be ticked, whether it is.
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

// SameChoice compares the name of an option with what a caller calls it.
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

// ReplaceNoBreakSpaces is a text with plain spaces: editors of pages make other ones of those that stand
// beside each other.
func ReplaceNoBreakSpaces(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }

// IsReformatted reports whether a field shows a text in its own way, as an input mask does: with
// all of its characters in their order, in either case, and others between them that are
// neither letters nor digits. A sign or a decimal point would make it another number.
func IsReformatted(shown, text string) bool {
	left, all := []rune(strings.ToLower(text)), []rune(strings.ToLower(shown))
	for i, r := range all {
		point := strings.ContainsRune(".,", r) && !thousands(all[i+1:])
		sign := i == 0 && strings.ContainsRune("-\u2212", r) && text != ""
		switch {
		case len(left) > 0 && r == left[0]:
			left = left[1:]
		case unicode.IsLetter(r), unicode.IsDigit(r), point, sign:
			return false
		}
	}
	return len(left) == 0
}

// thousands reports whether a group of three digits comes next.
func thousands(rest []rune) bool {
	n := slices.IndexFunc(rest, func(r rune) bool { return !unicode.IsDigit(r) })
	return n == 3 || n < 0 && len(rest) == 3
}
