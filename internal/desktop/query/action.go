package query

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/lexicon"
)

// allowsAction reports whether the query identifies the snapshot's i'th element reliably enough to act on
// it. A pressable element is identified by its name, regardless of case, white space, mnemonic, ellipsis,
// shortcut or count; by its identifier; or by an explicitly weaker query: a pattern, a path, a role,
// contains:. For an element that is filled in, chosen or followed, whole words of the name suffice, unless
// another word negates or widens the meaning, or the script does not separate words. An option of a list
// requires its whole name.
func (q *Query) allowsAction(f *finder, i int) bool {
	if q.isLoose() {
		e := &f.s.Elements[i]
		part := !e.Role.IsPressable() && e.Role.IsInputOrItem() && e.Role != desktop.Option && !e.States.Has(desktop.Checkable) // Premium does not mean Premium plus
		return q.matchesWhole(f, i) || part && q.match(f, i, wholeWords)
	}
	for _, t := range q.passes {
		// A path counts the showing elements, or all if none shows.
		if slices.Contains(t.find(f, false), i) || t.definite && slices.Contains(t.find(f, true), i) {
			return true
		}
	}
	return false
}

// matchesWhole reports whether the query is the whole name of the element, apart from suffixes and marks, or
// its identifier.
func (q *Query) matchesWhole(f *finder, i int) bool {
	return q.match(f, i, undecorated) || q.matchesIdentifier(f, i)
}

// isLoose reports whether the query may find more than it identifies reliably.
func (q *Query) isLoose() bool { return q.match != nil && !q.explicit }

// matchesIdentifier reports whether plain words equal the author's identifier of the element. A natural
// word may refer to visible text instead, so the element must then have no name, or must not be pressable.
func (q *Query) matchesIdentifier(f *finder, i int) bool {
	e := &f.s.Elements[i]
	if !q.plain || e.Identifier == "" || e.Identifier != q.words {
		return false
	}
	return !e.Role.IsPressable() || e.Name == "" && e.Description == "" || !isNaturalText(e.Identifier)
}

// isNaturalText reports whether people may say such a text: save, log-off and 2, but not save-btn, save_all
// or saveButton.
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

// FindForAction is Find for a caller that will act: it returns all showing elements that the query
// identifies reliably, in any spelling, and no others. If there are none, HiddenMatches holds the reliable
// matches among hidden elements. An element with the whole name of the query, even a label or a hidden one,
// excludes those with more words, and so does one with that description.
func (q *Query) FindForAction(s *desktop.Snapshot, o Options) Result {
	if !q.isLoose() {
		return q.Find(s, o)
	}
	f := newFinder(s, o)
	t := searchPass{anyRole: q.plain, find: each(q.allowsAction)}
	whole := searchPass{anyRole: q.plain, find: each(q.matchesWhole)}
	if matches := whole.find(f, false); len(matches) > 0 {
		return Result{Strategy: q.best(f, matches), Matches: f.prune(matches, whole)}
	}
	if hidden := f.hiddenMatches([]searchPass{whole}); len(hidden) > 0 {
		return Result{HiddenMatches: hidden}
	}
	if q.plain && len(each(describedBy(q.words))(f, false)) > 0 {
		return Result{}
	}
	if matches := t.find(f, false); len(matches) > 0 {
		return Result{Strategy: q.best(f, matches), Matches: f.prune(matches, t)}
	}
	return Result{HiddenMatches: f.hiddenMatches([]searchPass{t})}
}

// describedBy returns a test for elements whose whole description, such as a tooltip, is the text.
func describedBy(text string) func(*finder, int) bool {
	w := newSearchText(text)
	return func(f *finder, i int) bool { return f.compare(i, descriptionAttribute, w, undecorated) }
}

// ClosestMatches returns those of matches with the closest spelling: exact, else loose, else apart from suffixes such
// as an ellipsis. If none is close, or if the query is explicit, it returns matches unchanged.
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

// FilterWholeNames returns those of matches whose whole name equals the query, regardless of case, white
// space, mnemonic, ellipsis, shortcut or count. If none does, or if the query is explicit, such as a path,
// it returns matches unchanged.
func (q *Query) FilterWholeNames(s *desktop.Snapshot, matches []int) []int {
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

// best returns the most reliable strategy that finds one of the elements.
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

// plainMatcher returns a function that compares an element's name, or its description if it has no name or
// one by place, with plain words.
func plainMatcher(w *searchText) func(*finder, int, matchLevel) bool {
	return func(f *finder, i int, g matchLevel) bool {
		e := &f.s.Elements[i]
		if e.Name == "" {
			return f.compare(i, descriptionAttribute, w, g)
		}
		if f.compare(i, nameAttribute, w, g) || e.States.Has(desktop.Placed) && f.compare(i, descriptionAttribute, w, g) {
			return true
		}
		first, rest, two := strings.Cut(w.loose, " ")
		if two && f.matchesWithRole(i, first) && f.compare(i, nameAttribute, newSearchText(unquoted(rest)), undecorated) {
			return true // button Save, or button "Save" as in outlines
		}
		last := strings.LastIndexByte(w.loose, ' ')
		return two && f.matchesWithRole(i, w.loose[last+1:]) && f.compare(i, nameAttribute, newSearchText(unquoted(w.loose[:last])), undecorated) // Save button
	}
}

// matchesWithRole reports whether a word beside an element's name may mean its role. For a pressable
// element it must be the role itself: "New menu" is not the item New, but "File menu" is the menu File.
func (f *finder) matchesWithRole(i int, word string) bool {
	e := &f.s.Elements[i]
	opens := word == "menu" && (e.States.Has(desktop.HasPopup) || e.Parent >= 0 && f.s.Elements[e.Parent].Role == desktop.Menubar)
	return isRoleName(e, word) && (!e.Role.IsPressable() || string(e.Role) == word || opens || word == string(desktop.MenuItem))
}

// unquoted returns a text without the quotation marks around it.
func unquoted(text string) string {
	if inside, rest, ok := cutQuoted(text); ok && rest == "" && inside != "" {
		return inside
	}
	return text
}

// ends match suffixes that do not belong to a name: an ellipsis, a count, a shortcut, and in scripts
// without cases the letter of a mnemonic.
const (
	suffixPattern   = `(?:\.\.\.|…|[(（\[]\d+\+?[)）\]]|\s` + modifierPattern + `+` + keyPattern + `|\t` + modifierPattern + `*` + keyPattern + `)$`
	modifierPattern = `(?:(?:ctrl|control|alt|shift|super|meta|cmd|strg|umschalt)[+-]|[⌘⌥⇧⌃])`
	keyPattern      = `(?:\S|f\d{1,2}|del|delete|ins|insert|home|end|pg ?up|pg ?dn|pgdown|page[ _-]?up|page[ _-]?down|prior|next|return|enter|esc|escape|tab|space|backspace|` +
		`left|right|up|down|plus|minus|comma|period|print|pause|break|entf|einfg|pos1|ende|bild ?auf|bild ?ab|leertaste|eingabe|rücktaste)`
	mnemonicPattern = `[(（][&_]?[a-z0-9][)）]$`
)

// nameMatches reports whether the name equals the search text, apart from suffixes and marks.
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
		if !strings.HasSuffix(strings.ReplaceAll(name, "+", "-"), "ctrl-alt-del") { // a key combination that is sent and never a shortcut
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

// mayMatchName is a cheap precheck for nameMatches on a loosened name.
func mayMatchName(name string, w *searchText) bool {
	return strings.HasPrefix(name, w.plain) || strings.ContainsAny(name, "&’ʼ"+zeroWidth) || strings.ContainsAny(w.plain, "&")
}

// normalizeName returns a text in the form in which names are compared: loosened, without the mnemonic
// mark, and with one kind of apostrophe.
func normalizeName(text string) string {
	return strings.NewReplacer("’", "'", "ʼ", "'").Replace(loosen(stripMnemonic(strings.TrimSpace(text))))
}

// stripMnemonic removes the mnemonic mark from a text.
func stripMnemonic(text string) string {
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '&' && text[i+1] != '&' && text[i+1] != ' ' && (i == 0 || text[i-1] != '&') {
			return text[:i] + text[i+1:]
		}
	}
	return text
}

// containsAllWords reports whether the text contains the asked words, whole and consecutive, and no other
// word that negates them.
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

// wordsOf returns the words of a text; a file name with its extension is one word.
func wordsOf(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !wordRune(r) && !unicode.IsMark(r) && r != '.' })
	for i := range words {
		words[i] = strings.Trim(words[i], ".")
	}
	return slices.DeleteFunc(words, func(word string) bool { return word == "" })
}

// widens reports whether a text has a widening word that the query lacks.
func widens(has, want []string) bool {
	return slices.ContainsFunc(has, func(word string) bool { return lexicon.IsWidening(word) && !slices.Contains(want, word) })
}

// lacksWordBreaks reports whether a text contains a script that does not separate words.
func lacksWordBreaks(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
	})
}
