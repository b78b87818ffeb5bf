package search

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway"
)

// Levels of a name match: a request with the name of a tool or an app means that one.
const (
	appNamed  = 1
	toolNamed = 2
)

// spacedWords returns the words of a text with spaces around each, including repeated words,
// praise and numbers.
func spacedWords(text string) string {
	c := tokenizer{keepRepeats: true}
	c.cut(text[:min(len(text), maxField)])
	return " " + strings.Join(c.words, " ") + " "
}

// A nameMatcher finds names in a request.
type nameMatcher struct {
	words    string
	literals []string // in lower case, names that are not plain words
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

// matches reports whether the request contains the name: exactly, or, for a trusted name, its
// words in sequence. A single plain word must be the whole request.
func (n nameMatcher) matches(name, words string, trusted bool) bool {
	if len(n.literals) > 0 && slices.Contains(n.literals, strings.ToLower(name)) {
		return true
	}
	plain := strings.TrimSpace(words)
	return trusted && plain != "" && (n.words == words || strings.Contains(plain, " ") && strings.Contains(n.words, words))
}

// matchLevel returns the level of the match with the names of the tool and its app.
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
	return trusted && slices.ContainsFunc(names,
		func(name string) bool { return n.matches(name, spacedWords(name), true) })
}
