// Package fieldtext reads and compares the values of elements: numbers, dates and times, check
// marks, blocks of cells. It works on texts and single elements, without their containers.
package fieldtext

import (
	"slices"
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
// The field has all characters in order, in either case, with only separators between. An added
// sign or decimal point is a difference, because it changes a number.
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

// thousands reports whether exactly three digits follow.
func thousands(rest []rune) bool {
	n := slices.IndexFunc(rest, func(r rune) bool { return !unicode.IsDigit(r) })
	return n == 3 || n < 0 && len(rest) == 3
}
