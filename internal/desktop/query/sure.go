package query

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"aai/internal/desktop"
)

// Sure reports whether the query means the snapshot's i'th element so surely that it
// may be acted upon. What acts when it is pressed is meant by its name, whatever the
// case, white space, mnemonic, ellipsis, shortcut or count; by its identifier; or by a
// query that says itself that less will do: a pattern, a path, a role, contains:. Of
// what is filled in, chosen or followed whole words of the name are enough, but not
// where a word more turns the meaning round, nor in a script that does not part words.
func (q *Query) Sure(s *desktop.Snapshot, i int) bool {
	f := newFinder(s, Options{Hidden: true, Root: -1})
	for _, t := range q.tries {
		switch t.strategy {
		case ValueExact, NameContains, ValueContains, TermsContains, Fuzzy:
			if !q.explicit {
				continue
			}
		}
		// A path counts what shows, or where that is nothing, all.
		if slices.Contains(t.find(f, false), i) || t.whole && slices.Contains(t.find(f, true), i) {
			return true
		}
	}
	if q.fits == nil {
		return false
	}
	role := s.Elements[i].Role
	return q.fits(f, i, bare) || !role.Fires() && role.Takes() && q.fits(f, i, wholeWords)
}

// plainFits compares what an element is called with plain words: its name, or what it
// says of itself where it has none.
func plainFits(w *words) func(*finder, int, grade) bool {
	return func(f *finder, i int, g grade) bool {
		e := &f.s.Elements[i]
		if e.Name == "" {
			return f.compare(i, descriptionAttribute, w, g)
		}
		if f.compare(i, nameAttribute, w, g) {
			return true
		}
		first, rest, two := strings.Cut(w.loose, " ")
		if two && calledRole(e, first) && f.compare(i, nameAttribute, newWords(unquoted(rest)), bare) {
			return true // button Save, or button "Save" as outlines say it
		}
		last := strings.LastIndexByte(w.loose, ' ')
		return two && calledRole(e, w.loose[last+1:]) && f.compare(i, nameAttribute, newWords(unquoted(w.loose[:last])), bare) // Save button
	}
}

// unquoted is a text without the quotation marks around all of it.
func unquoted(text string) string {
	if inside, rest, ok := cutQuoted(text); ok && rest == "" && inside != "" {
		return inside
	}
	return text
}

// ends are what may follow a name and is none of it: an ellipsis, a count, a shortcut,
// and in scripts without cases the letter of a mnemonic.
const (
	ends     = `(?:\.\.\.|…|[(（\[]\d+\+?[)）\]]|\s(?:(?:ctrl|control|alt|shift|super|meta|cmd|strg|umschalt)[+-])+\S+|\t\S+)$`
	mnemonic = `[(（][&_]?[a-z0-9][)）]$`
)

// called reports whether an element of the name is called what was asked for, but for
// what may follow or mark a name.
func (f *finder) called(name, asked string) bool {
	if f.ends == nil {
		f.ends, f.mnemonic = regexp.MustCompile(ends), regexp.MustCompile(mnemonic)
	}
	want := loosen(withoutMark(strings.TrimSpace(asked)))
	name = strings.ToLower(strings.TrimSpace(name))
	for {
		if loosen(withoutMark(name)) == want {
			return true
		}
		cut := f.ends.ReplaceAllString(name, "")
		if cut == name && unparted(name) {
			cut = f.mnemonic.ReplaceAllString(name, "")
		}
		cut = strings.TrimSpace(cut)
		if cut == name || cut == "" {
			return false
		}
		name = cut
	}
}

// withoutMark takes the mark of a mnemonic out of a text.
func withoutMark(text string) string {
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '&' && text[i+1] != '&' && text[i+1] != ' ' && (i == 0 || text[i-1] != '&') {
			return text[:i] + text[i+1:]
		}
	}
	return text
}

// saysAll reports whether the asked words are in the text, whole and one after the
// other, and what more it says does not turn them round.
func saysAll(text, asked string) bool {
	if unparted(text) || unparted(asked) {
		return false
	}
	has, want := wordsOf(text), wordsOf(asked)
	if len(want) == 0 || turns(has) != turns(want) {
		return false
	}
	for from := 0; from+len(want) <= len(has); from++ {
		if slices.Equal(has[from:from+len(want)], want) {
			return true
		}
	}
	return false
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !wordRune(r) && !unicode.IsMark(r) })
}

// unparted reports whether a text is, in part, of a script that does not part words.
func unparted(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	})
}

// turns counts the words that turn the meaning of others round.
func turns(words []string) int {
	n := 0
	for _, word := range words {
		if strings.Contains(negations, " "+word+" ") {
			n++
		}
	}
	return n
}

// negations are such words of languages that part them.
const negations = " no not don dont never without except none cancel disable unless un non " + // English
	"nicht ohne kein keine keinen nie außer " + // German
	"ne pas sans jamais aucun aucune n sauf " + // French
	"sin nunca ningún ninguna excepto " + // Spanish
	"senza mai nessuno nessuna " + // Italian
	"não nao sem nenhum nenhuma " + // Portuguese
	"niet zonder geen nooit " + // Dutch
	"inte utan ingen inga ikke uden uten ei ilman " + // Nordic
	"nie bez nigdy ne není bez žádný " + // Polish, Czech
	"не без никогда нет кроме " + // Russian
	"δεν μην χωρίς " + // Greek
	"değil hayır olmadan " + // Turkish
	"לא בלי " + "لا بدون ليس " + // Hebrew, Arabic
	"नहीं बिना " + "않 안 없이 " // Hindi, Korean
