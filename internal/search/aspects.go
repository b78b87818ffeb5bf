package search

import (
	"unicode/utf8"

	"aai"
)

// An aspect is one thing that a request speaks of: a word, and what the glossary knows it
// for.
type aspect struct {
	root   string // "" where only the glossary knows the word
	things []string
}

// aspectsOf are what a request speaks of, and the words to look for them by.
func (g *glossary) aspectsOf(request string) (aspects []aspect, words []string) {
	told := make(map[string]bool)
	for _, word := range asked(request) {
		words = append(words, word)
		if first, _ := utf8.DecodeRuneInString(word); isCJK(first) {
			continue // a pair of characters is no thing by itself
		}
		a := aspect{root(word), g.ofWord(word)}
		aspects = append(aspects, a)
		for _, thing := range a.things {
			told[thing] = true
		}
	}
	for _, thing := range g.said(request) {
		words = append(words, thing)
		if !told[thing] {
			aspects = append(aspects, aspect{things: []string{thing}})
		}
	}
	return aspects, words
}

// A face is what a tool shows of itself to who looks whether it fits: roots of words, and
// things, each with what it is worth where it stands.
type face map[string]float64

// What a word is worth by where it stands, and a thing of the glossary beside a word.
const (
	inName  = 1.0  // the tool's name and title
	inSays  = 0.6  // what is said of it
	inApp   = 0.6  // the names of its app
	inAbout = 0.25 // what is said of that
	asThing = 0.75
)

func (g *glossary) faceOf(app *aai.App, tool *aai.Tool) face {
	f := make(face)
	for _, part := range []struct {
		worth float64
		texts []string
	}{{inName, []string{tool.Name, " ", tool.Title}}, {inSays, []string{tool.Description}}, {inApp, namesOf(app)}, {inAbout, []string{app.Description}}} {
		for _, word := range wordsOf(part.texts...) {
			f[root(word)] = max(f[root(word)], part.worth)
		}
		for _, thing := range g.said(part.texts...) {
			f[thing] = max(f[thing], asThing*part.worth)
		}
	}
	return f
}

// fits is how well the tool fits what a request speaks of: of each aspect the best that it
// shows, which is worth the more the fewer tools show it, and how much of all it shows.
func (f face) fits(aspects []aspect, rarity func(string) float64) float64 {
	sum, shown := 0.0, 0
	for _, a := range aspects {
		best := 0.0
		if a.root != "" {
			best = f[a.root] * rarity(a.root)
		}
		for _, thing := range a.things {
			best = max(best, f[thing]*rarity(thing))
		}
		sum += best
		if best > 0 {
			shown++
		}
	}
	return sum * (leastShare + (1-leastShare)*float64(shown)/float64(max(len(aspects), 1)))
}

// leastShare is what is left of a tool that shows next to nothing of what is asked for: who
// fits in all is meant before who fits much in one.
const leastShare = 0.5
