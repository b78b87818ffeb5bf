package desktop

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
)

// IsActionable reports whether people operate the element. parent is the role of its parent; it matters
// only for a menu without a name. An actionable element gets a ref, and package render never omits it.
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

// IsPressableDespiteRole reports whether the element has an action although its role is not interactive. Examples are
// a picture or a part of a page that handles clicks.
func (e *Element) IsPressableDespiteRole() bool {
	return len(e.Actions) > 0 && !e.Role.IsInteractive() && !e.Role.IsRefContainer()
}

// IsKeyRelay reports whether the element is a field too narrow to read, through which a page receives keys.
// The page draws their effect elsewhere, such as on a terminal's screen.
func (e *Element) IsKeyRelay() bool {
	const narrow = 16 // pixels; a field for one digit is wider
	return e.States.Has(Editable) && !e.States.Has(Protected) && e.Frame.W > 0 && e.Frame.W <= narrow && e.Frame.W < e.Frame.H
}

// RepeatsParent reports whether the element only repeats the name or value of its parent.
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

// containsWords reports whether text contains words, bounded by word boundaries.
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

// joinsWord reports whether before and after form one word where they meet.
func joinsWord(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	inWord := func(r rune) bool {
		return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
	}
	return inWord(last) && inWord(first)
}

// IsBlank reports whether neither the element's name nor its value has visible characters.
func (e *Element) IsBlank() bool { return IsBlank(e.Name) && IsBlank(e.Value) }

// IsBlank reports whether the text has no visible characters, such as the characters of an icon font.
func IsBlank(text string) bool {
	if text == "" {
		return true
	}
	if ' ' < text[0] && text[0] < 0x7f {
		return false
	}
	return aai.CleanLabel(text, 16) == ""
}

// EqualNames reports whether two names look the same to people, such as "Name:" and "Name".
func EqualNames(a, b string) bool {
	trim := func(s string) string { return strings.TrimRight(strings.TrimSpace(s), " :") }
	return a == b || strings.EqualFold(trim(a), trim(b))
}

// Quote makes foreign text harmless: it returns one quoted line of at most max bytes inside the quotes,
// with quotes and backslashes escaped.
func Quote(text string, max int) string { return strconv.Quote(aai.CleanLabel(text, max)) }
