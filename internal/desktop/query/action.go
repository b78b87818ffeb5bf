package query

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// AllowsActionOn reports whether the query means the snapshot's i'th element so surely that it
// may be acted upon. What acts when it is pressed is meant by its name, whatever the
// case, white space, mnemonic, ellipsis, shortcut or count; by its identifier; or by a
// query that says itself that less will do: a pattern, a path, a role, contains:. Of
// what is filled in, chosen or followed whole words of the name are enough, but not
// where a word more turns the meaning round or widens it, nor in a script that does not part
// words. An option of a list is meant by its whole name.
func (q *Query) AllowsActionOn(s *desktop.Snapshot, i int) bool {
	return q.allowsAction(newFinder(s, Options{Hidden: true, Root: -1}), i)
}

func (q *Query) allowsAction(f *finder, i int) bool {
	if q.isLoose() {
		e := &f.s.Elements[i]
		part := !e.Role.IsPressable() && e.Role.IsInputOrItem() && e.Role != desktop.Option && !e.States.Has(desktop.Checkable) // Premium is no Premium plus
		return q.match(f, i, undecorated) || part && q.match(f, i, wholeWords) || q.matchesIdentifier(f, i)
	}
	for _, t := range q.passes {
		// A path counts what shows, or where that is nothing, all.
		if slices.Contains(t.find(f, false), i) || t.definite && slices.Contains(t.find(f, true), i) {
			return true
		}
	}
	return false
}

// isLoose reports whether the query finds more than it surely means.
func (q *Query) isLoose() bool { return q.match != nil && !q.explicit }

// matchesIdentifier reports whether plain words are what the element's author calls it. A word
// that people say may mean what is on the screen, so that it has to be an element
// without a name, or one that does not fire.
func (q *Query) matchesIdentifier(f *finder, i int) bool {
	e := &f.s.Elements[i]
	if !q.plain || e.Identifier == "" || e.Identifier != q.words {
		return false
	}
	return !e.Role.IsPressable() || e.Name == "" && e.Description == "" || !isNaturalText(e.Identifier)
}

// isNaturalText reports whether a text may be such as people say it: save, log-off and 2, and
// not save-btn, save_all or saveButton.
func isNaturalText(text string) bool {
	const things = " btn button link id item menuitem checkbox radio tab icon action "
	last := ' '
	for i, r := range text {
		if r == '_' || unicode.IsUpper(r) && unicode.IsLower(last) || last == '.' && unicode.IsLetter(r) && i > 1 {
			return false
		}
		last = r
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	return strings.Contains(text, " ") || len(words) < 2 || !slices.ContainsFunc(words, func(word string) bool {
		return strings.Contains(things, " "+word+" ")
	})
}

// FindForAction is Find for who will act: of all that shows the query finds what it surely
// means, however it is spelled there, and nothing else. Where that is nothing,
// HiddenMatches are what it surely means of the rest.
func (q *Query) FindForAction(s *desktop.Snapshot, o Options) Result {
	if !q.isLoose() {
		return q.Find(s, o)
	}
	f := newFinder(s, o)
	t := searchPass{anyRole: q.plain, find: each(q.allowsAction)}
	if matches := t.find(f, false); len(matches) > 0 {
		return Result{Strategy: q.best(f, matches), Matches: f.prune(matches, t)}
	}
	return Result{HiddenMatches: f.hiddenMatches([]searchPass{t})}
}

// ClosestMatches leaves of what the query surely means what is spelled as it is, or else what
// is the nearest to that.
func (q *Query) ClosestMatches(s *desktop.Snapshot, matches []int) []int {
	if !q.isLoose() || len(matches) < 2 {
		return matches
	}
	f := newFinder(s, Options{Hidden: true, Root: -1})
	for _, g := range []matchLevel{exact, loose, undecorated} {
		if fit := slices.DeleteFunc(slices.Clone(matches), func(i int) bool { return !q.match(f, i, g) }); len(fit) > 0 {
			return fit
		}
	}
	return matches
}

// MatchWhole leaves of what the query surely means what is called so and no more, if anything is.
func (q *Query) MatchWhole(s *desktop.Snapshot, matches []int) []int {
	if !q.isLoose() || len(matches) < 2 {
		return matches
	}
	f := newFinder(s, Options{Hidden: true, Root: -1})
	whole := slices.DeleteFunc(slices.Clone(matches), func(i int) bool {
		return !slices.ContainsFunc([]matchLevel{exact, loose, undecorated}, func(g matchLevel) bool { return q.match(f, i, g) })
	})
	if len(whole) == 0 {
		return matches
	}
	return whole
}

// best is the surest way in which one of the elements is found.
func (q *Query) best(f *finder, matches []int) Strategy {
	all := *f
	all.all = true
	for _, t := range q.passes {
		if found := t.find(&all, false); slices.ContainsFunc(matches, func(i int) bool { return slices.Contains(found, i) }) {
			return t.strategy
		}
	}
	return NameLoose
}

// plainMatcher compares what an element is called with plain words: its name, or what it
// says of itself where it has none.
func plainMatcher(w *searchText) func(*finder, int, matchLevel) bool {
	return func(f *finder, i int, g matchLevel) bool {
		e := &f.s.Elements[i]
		if e.Name == "" {
			return f.compare(i, descriptionAttribute, w, g)
		}
		if f.compare(i, nameAttribute, w, g) {
			return true
		}
		first, rest, two := strings.Cut(w.loose, " ")
		if two && f.matchesWithRole(i, first) && f.compare(i, nameAttribute, newSearchText(unquoted(rest)), undecorated) {
			return true // button Save, or button "Save" as outlines say it
		}
		last := strings.LastIndexByte(w.loose, ' ')
		return two && f.matchesWithRole(i, w.loose[last+1:]) && f.compare(i, nameAttribute, newSearchText(unquoted(w.loose[:last])), undecorated) // Save button
	}
}

// matchesWithRole reports whether a word beside an element's name may be what the element is. Of what
// fires it is the role itself: "New menu" is no item New, but "File menu" the menu File.
func (f *finder) matchesWithRole(i int, word string) bool {
	e := &f.s.Elements[i]
	opens := word == "menu" && (e.States.Has(desktop.HasPopup) || e.Parent >= 0 && f.s.Elements[e.Parent].Role == desktop.Menubar)
	return isRoleName(e, word) && (!e.Role.IsPressable() || string(e.Role) == word || opens)
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
	suffixPattern   = `(?:\.\.\.|…|[(（\[]\d+\+?[)）\]]|\s` + modifierPattern + `+` + keyPattern + `|\t` + modifierPattern + `*` + keyPattern + `)$`
	modifierPattern = `(?:(?:ctrl|control|alt|shift|super|meta|cmd|strg|umschalt)[+-]|[⌘⌥⇧⌃])`
	keyPattern      = `(?:\S|f\d{1,2}|del|delete|ins|insert|home|end|pg ?up|pg ?dn|pgdown|page[ _-]?up|page[ _-]?down|prior|next|return|enter|esc|escape|tab|space|backspace|` +
		`left|right|up|down|plus|minus|comma|period|print|pause|break|entf|einfg|pos1|ende|bild ?auf|bild ?ab|leertaste|eingabe|rücktaste)`
	mnemonicPattern = `[(（][&_]?[a-z0-9][)）]$`
)

// nameMatches reports whether an element of the name is called what was asked for, but for
// what may follow or mark a name.
func (f *finder) nameMatches(name string, w *searchText) bool {
	if f.ends == nil {
		f.ends, f.mnemonic = regexp.MustCompile(suffixPattern), regexp.MustCompile(mnemonicPattern)
	}
	name = strings.ToLower(strings.TrimSpace(name))
	for {
		if normalizeName(name) == w.plain {
			return true
		}
		cut := name
		if !strings.HasSuffix(strings.ReplaceAll(name, "+", "-"), "ctrl-alt-del") { // which is sent, and never a shortcut
			cut = f.ends.ReplaceAllString(name, "")
		}
		if cut == name && lacksWordBreaks(name) {
			cut = f.mnemonic.ReplaceAllString(name, "")
		}
		cut = strings.TrimSpace(cut)
		if cut == name || cut == "" {
			return false
		}
		name = cut
	}
}

// mayMatchName reports whether it is worth asking called, of a name that is loosened.
func mayMatchName(name string, w *searchText) bool {
	return strings.HasPrefix(name, w.plain) || strings.ContainsAny(name, "&’ʼ") || strings.ContainsAny(w.plain, "&")
}

// normalizeName is a text as names are compared: loosened, without the mark of a mnemonic, and
// with one kind of apostrophe.
func normalizeName(text string) string {
	return strings.NewReplacer("’", "'", "ʼ", "'").Replace(loosen(stripMnemonic(strings.TrimSpace(text))))
}

// stripMnemonic takes the mark of a mnemonic out of a text.
func stripMnemonic(text string) string {
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '&' && text[i+1] != '&' && text[i+1] != ' ' && (i == 0 || text[i-1] != '&') {
			return text[:i] + text[i+1:]
		}
	}
	return text
}

// containsAllWords reports whether the asked words are in the text, whole and one after the
// other, and what more it says does not turn them round.
func containsAllWords(text, asked string) bool {
	if lacksWordBreaks(text) || lacksWordBreaks(asked) {
		return false
	}
	has, want := wordsOf(text), wordsOf(asked)
	if len(want) == 0 || countNegations(text, has) != countNegations(asked, want) || widens(has, want) {
		return false
	}
	for from := 0; from+len(want) <= len(has); from++ {
		if slices.Equal(has[from:from+len(want)], want) {
			return true
		}
	}
	return false
}

// wordsOf are the words of a text; a file's name is one, with its ending.
func wordsOf(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !wordRune(r) && !unicode.IsMark(r) && r != '.' })
	for i := range words {
		words[i] = strings.Trim(words[i], ".")
	}
	return slices.DeleteFunc(words, func(word string) bool { return word == "" })
}

// widens reports whether a text says of more than is asked that it is meant: all, for ever.
func widens(has, want []string) bool {
	const words = " all every everything everyone everybody everywhere always forever permanently entire whole" +
		" alle alles allen aller überall immer endgültig ganze ganzen tout tous toute toutes partout toujours définitivement" +
		" todo todos toda todas siempre tutti tutte tutto sempre "
	return slices.ContainsFunc(has, func(word string) bool {
		return strings.Contains(words, " "+word+" ") && !slices.Contains(want, word)
	})
}

// lacksWordBreaks reports whether a text is, in part, of a script that does not part words.
func lacksWordBreaks(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
	})
}
