package search

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"aai"
)

// A term is the root of a word, or a thing of the glossary.
type term int32

// none is no term.
const none term = -1

// A vocabulary knows the terms of an index: it belongs to one, whose lock guards it.
type vocabulary struct {
	glossary *glossary
	ids      map[string]term
	shown    []int // by term: how many tools show it
	words    map[string]known
	scratch  map[term]float32
}

// known is what is known of a word.
type known struct {
	root   term
	things []term
}

func newVocabulary(g *glossary) *vocabulary {
	return &vocabulary{glossary: g, ids: make(map[string]term), words: make(map[string]known), scratch: make(map[term]float32)}
}

func (v *vocabulary) id(text string) term {
	id, ok := v.ids[text]
	if !ok {
		id = term(len(v.shown))
		v.ids[strings.Clone(text)] = id
		v.shown = append(v.shown, 0)
	}
	return id
}

// word looks a word up.
func (v *vocabulary) word(word string) known {
	k, ok := v.words[word]
	if !ok {
		k.root = v.id(root(word))
		for _, thing := range v.glossary.ofWord(word) {
			k.things = append(k.things, v.id(thing))
		}
		v.words[word] = k
	}
	return k
}

// An aspect is one thing that a request speaks of: a word, and what the glossary knows it
// for.
type aspect struct {
	root   term // none where only the glossary knows the word
	things []term
}

// A request is what is asked for.
type request struct {
	aspects []aspect
	words   []string // to look for, of which any will do
}

// maxLooked is how many tools a request has SQLite rank, about: the rarest words are looked for
// first, and those that half of all show add next to nothing.
const maxLooked = 500

// read reads a request. Words that no tool shows are no aspects of it.
func (v *vocabulary) read(text string) request {
	var r request
	told := make(map[string]bool)
	shown := make(map[string]int)
	look := func(word string, id term) {
		if n := v.shown[id]; n > 0 {
			shown[word] = n
		}
	}
	for _, word := range asked(text) {
		k := known{root: v.id(root(word))}
		for _, thing := range v.glossary.ofWord(word) {
			k.things = append(k.things, v.id(thing))
			told[thing] = true
		}
		look(word, k.root)
		if first, _ := utf8.DecodeRuneInString(word); !isCJK(first) { // a pair of characters is no thing by itself
			r.aspects = append(r.aspects, aspect(k))
		}
	}
	for _, thing := range v.glossary.said(text) {
		id := v.id(thing)
		look(thing, id)
		if !told[thing] {
			r.aspects = append(r.aspects, aspect{none, []term{id}})
		}
	}
	r.words = slices.SortedFunc(maps.Keys(shown), func(a, b string) int { return cmp.Or(shown[a]-shown[b], strings.Compare(a, b)) })
	left := maxLooked
	for i, word := range r.words {
		if left -= shown[word]; left < 0 && i > 0 {
			r.words = r.words[:i]
			break
		}
	}
	return r
}

// A face is what a tool shows of itself to who looks whether it fits: terms, sorted, each with
// what it is worth where it stands.
type face []cell

type cell struct {
	term  term
	worth float32
}

// What a word is worth by where it stands, and a thing of the glossary beside a word.
const (
	inName  = 1.0  // the tool's name and title
	inSays  = 0.6  // what is said of it
	inApp   = 0.6  // the names of its app
	inAbout = 0.25 // what is said of that
	asThing = 0.75
)

// faceOfApp is what all tools of an app show.
func (v *vocabulary) faceOfApp(app *aai.App) face {
	clear(v.scratch)
	v.show(inApp, usualNames, namesOf(app)...)
	v.show(inAbout, usualText, app.Description)
	return v.drawn()
}

// faceOf is what a tool shows, with what its app does.
func (v *vocabulary) faceOf(app face, tool *aai.Tool) face {
	clear(v.scratch)
	for _, c := range app {
		v.scratch[c.term] = c.worth
	}
	v.show(inName, usualName, tool.Name, " ", tool.Title)
	v.show(inSays, usualText, tool.Description)
	return v.drawn()
}

func (v *vocabulary) drawn() face {
	f := make(face, 0, len(v.scratch))
	for t, worth := range v.scratch {
		f = append(f, cell{t, worth})
	}
	slices.SortFunc(f, func(a, b cell) int { return int(a.term - b.term) })
	return f
}

// How many words are usual where they stand. Where there are more, each is worth less: who
// names everything is about nothing.
const (
	usualName  = 6
	usualNames = 12
	usualText  = 28
)

// show notes what texts show.
func (v *vocabulary) show(worth float32, usual int, texts ...string) {
	words := wordsOf(texts...)
	if len(words) > usual {
		worth *= float32(usual) / float32(len(words))
	}
	for _, word := range words {
		k := v.word(word)
		v.scratch[k.root] = max(v.scratch[k.root], worth)
		for _, thing := range k.things {
			v.scratch[thing] = max(v.scratch[thing], asThing*worth)
		}
	}
	for _, thing := range v.glossary.saidBeside(words, texts) {
		id := v.id(thing)
		v.scratch[id] = max(v.scratch[id], asThing*worth)
	}
}

// worth is what the term is worth where the tool shows it, 0 where it does not.
func (f face) worth(t term) float64 {
	at, ok := slices.BinarySearchFunc(f, t, func(c cell, t term) int { return int(c.term - t) })
	if !ok {
		return 0
	}
	return float64(f[at].worth)
}

// leastShare is what is left of a tool that shows next to nothing of what is asked for: who
// fits in all is meant before who fits much in one.
const leastShare = 0.5

// fits is how well a tool fits what is asked for: of each aspect the best that it shows, which
// is worth the more the fewer of so many tools show it, and how much of all it shows.
func (v *vocabulary) fits(f face, aspects []aspect, tools int) float64 {
	worth := func(t term) float64 {
		return f.worth(t) * math.Log(1+float64(tools)/float64(1+v.shown[t]))
	}
	sum, shown := 0.0, 0
	for _, a := range aspects {
		best := 0.0
		if a.root != none {
			best = worth(a.root)
		}
		for _, thing := range a.things {
			best = max(best, worth(thing))
		}
		sum += best
		if best > 0 {
			shown++
		}
	}
	return sum * (leastShare + (1-leastShare)*float64(shown)/float64(max(len(aspects), 1)))
}

// count notes that tools show a face, or with -1 that one shows it no more.
func (v *vocabulary) count(f face, n int) {
	for _, c := range f {
		v.shown[c.term] += n
	}
}
