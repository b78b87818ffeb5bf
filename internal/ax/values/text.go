// Package values reads what elements hold: numbers, dates and times, ticks, blocks of cells. It
// judges texts and single elements, and knows nothing of what they are in.
package values

import (
	"strings"

	"aai"
	"aai/internal/desktop"
)

// MaxLongText is how many bytes of a text a tool that reads one element returns.
const MaxLongText = 100 << 10

// Long is what an element says or holds, for who asks for it alone.
func Long(e *desktop.Element) string {
	if e.States.Has(desktop.Protected) {
		return hiddenValue
	}
	if words := Held(e); words != "" || !e.Role.Wordy() {
		return aai.CleanText(words, MaxLongText)
	}
	return aai.CleanText(e.Name, MaxLongText)
}

// MaxText is how many bytes of a program's text a field of an answer holds.
const MaxText = 2000

// hiddenValue stands in the place of what a password field holds.
const hiddenValue = "****"

// Shown is what an element holds, for showing.
func Shown(e *desktop.Element) string {
	if e.States.Has(desktop.Protected) {
		return hiddenValue
	}
	return aai.CleanText(Held(e), MaxText)
}

// Held is what an element holds: of what can be ticked, whether it is.
func Held(e *desktop.Element) string {
	switch {
	case e.Value != "" || !e.States.Has(desktop.Checkable):
		return e.Value
	case e.States.Has(desktop.Mixed):
		return "mixed"
	case e.States.Any(desktop.Checked | desktop.Pressed):
		return "true"
	}
	return "false"
}

// SameChoice compares the name of an option with what a caller calls it.
func SameChoice(option, name string) bool {
	return strings.EqualFold(strings.TrimSpace(option), strings.TrimSpace(name))
}

// Normalized is a text as different toolkits give it back: line ends differ, and
// rich text ends with one of its own.
func Normalized(s string) string {
	return strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
}

// Spaced is a text with plain spaces: editors of pages make other ones of those that stand
// beside each other.
func Spaced(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }
