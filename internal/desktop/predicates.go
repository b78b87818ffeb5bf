package desktop

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
)

// IsActionable reports whether people do something with the element, which is in one of the
// given role ("" where that does not matter): it gets a ref, and an outline never
// leaves it out.
func (e *Element) IsActionable(parent Role) bool {
	switch {
	case e.Role == Scrollbar || e.Role == Separator:
		return false
	case e.Role.IsInteractive() || e.States.HasAny(Editable|Checkable|Expandable|Selectable):
		return true
	case e.Role == Menu:
		return e.Name != "" || parent == Menubar || parent == Menu
	case e.Role.IsRefContainer():
		return false
	}
	return e.IsPressableDespiteRole() || e.States.Has(Focusable)
}

// IsPressableDespiteRole reports whether the element, which is of no kind that is pressed, is pressed all
// the same: a picture or a part of a page that waits for a click.
func (e *Element) IsPressableDespiteRole() bool {
	return len(e.Actions) > 0 && !e.Role.IsInteractive() && !e.Role.IsRefContainer()
}

// IsKeyRelay reports whether the element is a field too narrow to read anything in it, by which
// a page takes keys: their effect is drawn elsewhere, as on the screen of a terminal.
func (e *Element) IsKeyRelay() bool {
	const narrow = 16 // pixels; a field for one digit is wider
	return e.States.Has(Editable) && !e.States.Has(Protected) && e.Frame.W > 0 && e.Frame.W <= narrow && e.Frame.W < e.Frame.H
}

// RepeatsParent reports whether the element only says what its parent's name says.
func (e *Element) RepeatsParent(parent *Element) bool {
	if e.Value != "" && e.Value != e.Name {
		return false
	}
	switch {
	case e.Role.IsTextual() || e.Role == Generic:
		if EqualNames(e.Name, parent.Name) && parent.Role != Document && parent.Role != Window {
			return true
		}
		return (parent.Role.namedByContent() || parent.IsPressableDespiteRole()) && containsWords(parent.Name, e.Name) ||
			parent.Value != "" && containsWords(parent.Value, e.Name)
	case e.Role == Group:
		return EqualNames(e.Name, parent.Name)
	}
	return false
}

// containsWords reports whether the words stand in the text as whole words.
func containsWords(text, words string) bool {
	words = strings.TrimSpace(words)
	for from := 0; ; from++ {
		at := strings.Index(text[from:], words)
		if at < 0 {
			return false
		}
		from += at
		if !joinsWord(text[:from], words) && !joinsWord(words, text[from+len(words):]) {
			return true
		}
	}
}

// joinsWord reports whether the end of one text and the beginning of the next make one word.
func joinsWord(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	inWord := func(r rune) bool {
		return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
	}
	return inWord(last) && inWord(first)
}

// IsBlank reports whether nothing can be seen of the element's name and its value.
func (e *Element) IsBlank() bool { return IsBlank(e.Name) && IsBlank(e.Value) }

// IsBlank reports whether nothing of the text can be seen, such as of the
// characters of an icon font.
func IsBlank(text string) bool {
	if text == "" {
		return true
	}
	if ' ' < text[0] && text[0] < 0x7f {
		return false
	}
	return aai.CleanLabel(text, 16) == ""
}

// EqualNames compares names as people do, who see "Name:" and "Name" as one.
func EqualNames(a, b string) bool {
	trim := func(s string) string { return strings.TrimRight(strings.TrimSpace(s), " :") }
	return a == b || strings.EqualFold(trim(a), trim(b))
}

// Quote makes foreign text harmless: one line in quotes of at most max bytes
// inside, with quotes and backslashes escaped.
func Quote(text string, max int) string { return strconv.Quote(aai.CleanLabel(text, max)) }
