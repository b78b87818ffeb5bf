package query

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/lexicon"
)

// A matchLevel says how closely two texts must match.
type matchLevel int

const (
	exact       matchLevel = iota // letter for letter
	loose                         // equal when loosened
	wordStart                     // loosened, the attribute contains the words at the beginning of a word
	inside                        // loosened, the attribute contains the words anywhere, without splitting a number
	undecorated                   // equal apart from suffixes and marks of a name
	wholeWords                    // a name contains the words whole and in order; see Query.allowsAction
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

// zeroWidth are characters that no outline shows. Component libraries fill empty values with them.
const zeroWidth = "\u200b\u2060\ufeff"

// loosen converts a text to the form for loose comparison: lower case, single spaces, without the
// underscores of mnemonics and characters of no width, and without an ellipsis or a colon at the end. It returns the text unchanged if
// nothing would remain.
func loosen(text string) string {
	t := strings.ToLower(text)
	if strings.IndexByte(t, '_') >= 0 {
		t = strings.ReplaceAll(t, "_", "")
	}
	if strings.ContainsAny(t, zeroWidth) {
		t = strings.Map(func(r rune) rune {
			if strings.ContainsRune(zeroWidth, r) {
				return -1
			}
			return r
		}, t)
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

// fuzzyPasses return passes that find the words in any order: first in names with exactly these words, then
// with others; and last a misspelled name.
func fuzzyPasses(w *searchText) []searchPass {
	asked := strings.FieldsFunc(w.loose, notInWord)
	if len(asked) == 0 {
		return nil
	}
	slip := newTypoMatcher(w.loose)
	on := func(slips bool, test func(f *finder, i int) bool) searchPass {
		return searchPass{strategy: Fuzzy, fuzzy: slips, anyRole: true, find: each(test)}
	}
	return []searchPass{
		on(false, func(f *finder, i int) bool { return allWords(f, i, asked) && hasOnlyWords(f.looseName(i), asked) }),
		on(false, func(f *finder, i int) bool { return allWords(f, i, asked) }),
		on(true, func(f *finder, i int) bool { return slip.near(f.looseName(i)) }),
	}
}

func notInWord(r rune) bool { return !wordRune(r) }

// allWords reports whether each word is a prefix of a word that describes the element. At least one must be
// a prefix of a word of its name or description: a role alone is not enough.
func allWords(f *finder, i int, asked []string) bool {
	own := false
	for _, word := range asked {
		switch {
		case beginsWord(f.looseName(i), word), beginsWord(f.loosened(i, descriptionAttribute), word),
			beginsWord(f.loosened(i, identifierAttribute), word):
			own = true
		case !isRoleName(&f.s.Elements[i], word):
			return false
		}
	}
	return own
}

// isRoleName reports whether a word is a common name of the element's role, such as button or box.
func isRoleName(e *desktop.Element, word string) bool {
	if string(e.Role) == word {
		return true
	}
	switch word {
	case "field", "input", "entry", "box":
		return e.Role == desktop.Textbox || e.Role == desktop.Searchbox || word == "box" && (e.Role == desktop.Checkbox || e.Role == desktop.Combobox)
	case "dropdown":
		return e.Role == desktop.Combobox
	case "menu", "item", string(desktop.MenuItem):
		return e.Role.IsMenuItem()
	}
	return false
}

// hasOnlyWords reports whether the name has no words other than the asked ones.
func hasOnlyWords(name string, asked []string) bool {
	for word := range strings.FieldsFuncSeq(name, notInWord) {
		if !slices.Contains(asked, word) {
			return false
		}
	}
	return name != ""
}

// A typoMatcher matches a text with a few letters wrong, missing, extra or swapped. Digits must be correct:
// Page 12 is not a misspelling of Page 13.
type typoMatcher struct {
	runes    []rune
	digits   string
	maxEdits int // maximum number of edits
}

func newTypoMatcher(text string) *typoMatcher {
	s := &typoMatcher{runes: []rune(text), digits: digits(text)}
	switch n := len(s.runes); {
	case n >= 16:
		s.maxEdits = 3
	case n >= 8:
		s.maxEdits = 2
	case n >= 4:
		s.maxEdits = 1
	}
	return s
}

func digits(text string) string {
	if strings.IndexFunc(text, unicode.IsDigit) < 0 {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

func (s *typoMatcher) near(name string) bool {
	// A rune has at most four bytes.
	if s.maxEdits == 0 || len(name) < len(s.runes)-s.maxEdits || len(name) > 4*(len(s.runes)+s.maxEdits) || digits(name) != s.digits {
		return false
	}
	other := []rune(name)
	return editDistance(s.runes, other, s.maxEdits) <= s.maxEdits
}

func abs(n int) int { return max(n, -n) }

// editDistance returns the optimal string alignment distance: insertions, deletions, substitutions and
// swaps of neighbours. Beyond most it may return any larger number.
func editDistance(a, b []rune, most int) int {
	if abs(len(a)-len(b)) > most {
		return most + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		best := i
		from, to := max(1, i-most), min(len(b), i+most)
		if from > 1 {
			row[from-1] = most + 1
		}
		for j := from; j <= to; j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j-1]+cost, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			best = min(best, row[j])
		}
		if to < len(b) {
			row[to+1] = most + 1
		}
		if best > most {
			return most + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// countNegations counts the words of a text that negate others.
func countNegations(text string, words []string) int {
	n := 0
	for i, word := range words {
		if lexicon.IsNegation(word) || word == "t" && i > 0 && strings.HasSuffix(words[i-1], "n") { // isn't, won't
			n++
		}
	}
	return n + strings.Count(" "+strings.ToLower(text), " un-")
}
