package search

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway"
)

// What a request names: who says the name of a tool, or of an app, means just that.
const (
	appNamed  = 1
	toolNamed = 2
)

// spacedWords is a text as words with a blank around each, as they stand: also those that are
// there already, praise and numbers.
func spacedWords(text string) string {
	c := tokenizer{keepRepeats: true}
	c.cut(text[:min(len(text), maxField)])
	return " " + strings.Join(c.words, " ") + " "
}

// A naming is a request, to look for names in.
type nameMatcher struct {
	words    string
	literals []string // in lower case, names that no plain word is
}

func newNameMatcher(request string) nameMatcher {
	request = request[:min(len(request), maxField)]
	part := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
	}
	n := nameMatcher{words: spacedWords(request)}
	for _, word := range strings.FieldsFunc(strings.ToLower(request), part) {
		if word = strings.Trim(word, ".-"); strings.ContainsAny(word, "_-.") {
			n.literals = append(n.literals, word)
		}
	}
	return n
}

// matches reports whether the request has the name: spelled as it is, or, where nobody chose it to
// be found, its words one after the other. One plain word names something only alone.
func (n nameMatcher) matches(name, words string, trusted bool) bool {
	if slices.Contains(n.literals, strings.ToLower(name)) {
		return true
	}
	plain := strings.TrimSpace(words)
	return trusted && plain != "" && (n.words == words || strings.Contains(plain, " ") && strings.Contains(n.words, words))
}

// matchLevel is how much of the tool's and its app's names the request has.
func (n nameMatcher) matchLevel(e *entry, trusted bool) int {
	named := 0
	if n.matches(e.tool.Name, e.name, trusted) {
		named |= toolNamed
	}
	if n.matchesApp(e.app, trusted) {
		named |= appNamed
	}
	return named
}

func (n nameMatcher) matchesApp(app *aai.App, trusted bool) bool {
	if n.matches(app.ID, "", false) {
		return true
	}
	names := append(strings.Split(app.Name, "|"), app.Aliases[:min(len(app.Aliases), maxAliases)]...)
	return trusted && slices.ContainsFunc(names, func(name string) bool { return n.matches(name, spacedWords(name), true) })
}
