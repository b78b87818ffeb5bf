package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A matchLevel says how closely two texts must match.
type matchLevel int

const (
	exact       matchLevel = iota // letter for letter
	loose                         // equal when loosened
	wordStart                     // loosened, the attribute contains the words at the beginning of a word
	inside                        // loosened, the attribute contains the words anywhere, without splitting a number
	undecorated                   // equal apart from suffixes and marks of a name
	wholeWords                    // a name contains the words whole and in order; see Query.AllowsActionOn
)

// searchText is text that a query looks for.
type searchText struct {
	text  string
	loose string
	plain string // normalized, for comparisons before an action
	first string // the first word
}

func newSearchText(text string) *searchText {
	w := &searchText{text: text, loose: loosen(text), plain: normalizeName(text)}
	if all := wordsOf(text); len(all) > 0 {
		w.first = all[0]
	}
	return w
}

// compare compares an attribute of an element. An empty attribute never matches.
func (f *finder) compare(i int, a attribute, w *searchText, g matchLevel) bool {
	if g == exact {
		got := a.of(&f.s.Elements[i])
		return got != "" && got == w.text
	}
	got := f.loosened(i, a)
	if got == "" {
		return false
	}
	switch g {
	case undecorated, wholeWords:
		text := a.of(&f.s.Elements[i])
		if mayMatchName(got, w) && f.nameMatches(text, w) {
			return true
		}
		return g == wholeWords && a != valueAttribute && strings.Contains(got, w.first) && containsAllWords(text, w.text)
	case loose:
		return got == w.loose
	case wordStart:
		return beginsWord(got, w.loose)
	}
	return finds(got, w.loose, func(rune) bool { return true })
}

// loosen converts a text to the form for loose comparison: lower case, single spaces, without the
// underscores of mnemonics, and without an ellipsis or a colon at the end. It returns the text unchanged if
// nothing would remain.
func loosen(text string) string {
	t := strings.ToLower(text)
	if strings.IndexByte(t, '_') >= 0 {
		t = strings.ReplaceAll(t, "_", "")
	}
	if !singleSpaced(t) {
		t = strings.Join(strings.Fields(t), " ")
	}
	t = strings.TrimRight(t, ": ")
	t = strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(t, "..."), "…"), ": ")
	if t == "" {
		return text
	}
	return t
}

// singleSpaced reports whether the text's only white space is single spaces inside it.
func singleSpaced(text string) bool {
	last := ' '
	for _, r := range text {
		if r != ' ' && unicode.IsSpace(r) || r == ' ' && last == ' ' {
			return false
		}
		last = r
	}
	return last != ' '
}

// beginsWord reports whether the text contains the part at the beginning of a word.
func beginsWord(text, part string) bool {
	return finds(text, part, func(before rune) bool { return !wordRune(before) })
}

// finds reports whether the text contains the part, after such a rune or at the beginning, without
// splitting a number: Fruit 20 does not contain Fruit 2.
func finds(text, part string, after func(before rune) bool) bool {
	first, _ := utf8.DecodeRuneInString(part)
	last, _ := utf8.DecodeLastRuneInString(part)
	for from := 0; ; {
		n := strings.Index(text[from:], part)
		if n < 0 {
			return false
		}
		at := from + n
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		next, _ := utf8.DecodeRuneInString(text[at+len(part):])
		cuts := unicode.IsDigit(first) && unicode.IsDigit(before) || unicode.IsDigit(last) && unicode.IsDigit(next)
		if !cuts && (at == 0 || after(before)) {
			return true
		}
		_, width := utf8.DecodeRuneInString(text[at:])
		from = at + max(width, 1)
		if from > len(text) {
			return false
		}
	}
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
