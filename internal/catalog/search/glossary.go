package search

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

//go:embed glossary.txt
var files embed.FS

// defaultGlossary returns the glossary that is part of the gateway.
func defaultGlossary() *glossary {
	text, err := files.ReadFile("glossary.txt")
	if err != nil {
		panic(err) // it is embedded
	}
	return newGlossary(string(text))
}

// A glossary maps words of several languages to concepts. In the index, a concept is one word
// that stands for all its synonyms.
type glossary struct {
	things         map[string][]string // by a word's root; in scripts without spaces by the word
	phrases        map[string][]string // of several words
	maxPhraseWords int                 // words of a phrase
	longest        int                 // characters of a word in a script without spaces
}

// newGlossary parses the glossary.
func newGlossary(text string) *glossary {
	g := &glossary{things: make(map[string][]string), phrases: make(map[string][]string)}
	n := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		n++
		thing := fmt.Sprintf("zq%dzq", n)
		for word := range strings.FieldsSeq(strings.ReplaceAll(line, "|", " ")) {
			g.add(word, thing)
		}
	}
	return g
}

func (g *glossary) add(word, thing string) {
	first, _ := utf8.DecodeRuneInString(word)
	switch {
	case isCJK(first):
		g.longest = max(g.longest, utf8.RuneCountInString(word))
		g.things[word] = append(g.things[word], thing)
	case strings.Contains(word, "_"):
		phrase := strings.ReplaceAll(word, "_", " ")
		g.maxPhraseWords = max(g.maxPhraseWords, 1+strings.Count(phrase, " "))
		g.phrases[phrase] = append(g.phrases[phrase], thing)
	default:
		g.things[root(word)] = append(g.things[root(word)], thing)
	}
}

// root returns an approximate common stem of a word's forms, in English and German. It need not
// be a word, because both sides of a comparison are stemmed alike.
func root(word string) string {
	for _, end := range []string{"ings", "ing", "ern", "ers", "ies", "er", "ed", "es", "en", "em", "e", "s", "n", "y"} {
		if cut, ok := strings.CutSuffix(word, end); ok && len(cut) >= 4 {
			return cut
		}
	}
	return word
}

// concepts returns the concepts in a text, without duplicates.
func (g *glossary) concepts(texts ...string) []string {
	words := wordsOf(texts...)
	var all []string
	take := func(things []string) {
		for _, thing := range things {
			if !slices.Contains(all, thing) {
				all = append(all, thing)
			}
		}
	}
	for _, word := range words {
		take(g.wordConcepts(word))
	}
	take(g.multiwordConcepts(words, texts))
	return all
}

// multiwordConcepts returns the concepts that texts express other than by single words between
// spaces. words are all their words.
func (g *glossary) multiwordConcepts(words, texts []string) (all []string) {
	take := func(things []string) { all = append(all, things...) }
	for i := range words {
		for n := 2; n <= g.maxPhraseWords && i+n <= len(words); n++ {
			take(g.phrases[strings.Join(words[i:i+n], " ")])
		}
	}
	left := maxField
	for _, text := range texts {
		text = text[:min(len(text), left)]
		left -= len(text)
		if strings.IndexFunc(text, isCJK) >= 0 {
			g.eachRunWord(text, take)
		}
	}
	return all
}

// minPart is the minimum length of a word within a compound, in bytes.
const minPart = 4

// wordConcepts returns the concepts of a word. For a German compound they are those of its end
// and of the part before it, or of its beginning.
func (g *glossary) wordConcepts(word string) []string {
	if first, _ := utf8.DecodeRuneInString(word); isCJK(first) {
		return nil
	}
	if things := g.things[root(word)]; things != nil {
		return things
	}
	for at := 1; len(word) >= 2*minPart && at <= len(word)-minPart; at++ {
		if things := g.things[root(word[at:])]; things != nil && at >= minPart {
			return slices.Concat(things, g.things[root(strings.TrimSuffix(word[:at], "s"))])
		}
	}
	for at := len(word) - 1; at >= minPart+1 && len(word) >= 2*minPart; at-- {
		if things := g.things[root(word[:at])]; things != nil {
			return things
		}
	}
	return nil
}

// eachRunWord finds words in scripts without spaces, the longest at each place.
func (g *glossary) eachRunWord(text string, take func([]string)) {
	runes := []rune(strings.ToValidUTF8(text, " "))
	for at := 0; at < len(runes); at++ {
		if !isCJK(runes[at]) {
			continue
		}
		for n := min(g.longest, len(runes)-at); n > 0; n-- {
			if things := g.things[string(runes[at:at+n])]; things != nil {
				take(things)
				at += n - 1
				break
			}
		}
	}
}
