package search

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/lexicon"
)

// A term is the root of a word, or a concept of the glossary.
type term int32

// noTerm stands for a missing term.
const noTerm term = -1

// A vocabulary holds the terms of one index, with its lock as the guard.
type vocabulary struct {
	glossary   *glossary
	ids        map[string]term
	toolCounts []float64 // by term: the tools with it, each by the weight of its place
	words      map[string]knownWord
	scratch    map[term]float32
}

// knownWord holds the terms of a word.
type knownWord struct {
	root   term
	things []term
}

func newVocabulary(g *glossary) *vocabulary {
	return &vocabulary{glossary: g, ids: make(map[string]term), words: make(map[string]knownWord),
		scratch: make(map[term]float32)}
}

func (v *vocabulary) id(text string) term {
	id, ok := v.ids[text]
	if !ok {
		id = term(len(v.toolCounts))
		v.ids[strings.Clone(text)] = id
		v.toolCounts = append(v.toolCounts, 0)
	}
	return id
}

// word returns the terms of a word.
func (v *vocabulary) word(word string) knownWord {
	k, ok := v.words[word]
	if !ok {
		k.root = v.id(root(word))
		for _, thing := range v.glossary.wordConcepts(word) {
			k.things = append(k.things, v.id(thing))
		}
		v.words[word] = k
	}
	return k
}

// A requestTerm is one part of a request: a word and its concepts in the glossary.
type requestTerm struct {
	root   term // noTerm if only the glossary has the word
	things []term
	weight float64
}

// particleWeight is the weight of a particle, such as "back" in "cut back", relative to another word.
const particleWeight = 0.4

// A request is a parsed search text.
type request struct {
	aspects []requestTerm
	words   []string // search words, of which any may match
}

// maxRankedRows is the approximate limit on the tools that SQLite ranks for a request. The rarest
// words come first; words in half of all tools add little.
const maxRankedRows = 500

// parseRequest parses a request. Words that occur in no tool are ignored.
func (v *vocabulary) parseRequest(text string) request {
	var r request
	told := make(map[string]bool)
	shown := make(map[string]float64)
	look := func(word string, id term) {
		if n := v.toolCounts[id]; n > 0 {
			shown[word] = n
		}
	}
	for _, word := range meaningfulWords(text) {
		k := knownWord{root: v.id(root(word))}
		for _, thing := range v.glossary.wordConcepts(word) {
			k.things = append(k.things, v.id(thing))
			told[thing] = true
		}
		look(word, k.root)
		if first, _ := utf8.DecodeRuneInString(word); !isCJK(first) { // a pair of characters is not a concept
			weight := 1.0
			if lexicon.IsParticle(word) {
				weight = particleWeight
			}
			r.aspects = append(r.aspects, requestTerm{k.root, k.things, weight})
		}
	}
	for _, thing := range v.glossary.concepts(text) {
		id := v.id(thing)
		look(thing, id)
		if !told[thing] {
			r.aspects = append(r.aspects, requestTerm{noTerm, []term{id}, 1})
		}
	}
	r.words = slices.SortedFunc(maps.Keys(shown),
		func(a, b string) int { return cmp.Or(cmp.Compare(shown[a], shown[b]), strings.Compare(a, b)) })
	left := float64(maxRankedRows)
	for i, word := range r.words {
		if left -= shown[word]; left < 0 && i > 0 {
			r.words = r.words[:i]
			break
		}
	}
	return r
}

// termWeights are the terms of a tool's descriptor, sorted, each with the weight of its place.
type termWeights []termWeight

type termWeight struct {
	term   term
	weight float32
}

// Weights of words by their place, and of a concept relative to a word.
const (
	nameWeight           = 1.0  // the tool's name and title
	descriptionWeight    = 0.75 // the tool's description
	appNameWeight        = 0.6  // the names of its app
	appDescriptionWeight = 0.25 // the app's description
	conceptWeight        = 0.75
)

// appWeights returns the terms common to all tools of an app.
func (v *vocabulary) appWeights(app *aai.App) termWeights {
	clear(v.scratch)
	v.addTexts(appNameWeight, usualAppNameWords, appNames(app)...)
	v.addTexts(appDescriptionWeight, usualTextWords, app.Description)
	return v.takeWeights()
}

// toolWeights returns the terms of a tool and its app.
func (v *vocabulary) toolWeights(app termWeights, tool *aai.Tool) termWeights {
	clear(v.scratch)
	for _, c := range app {
		v.scratch[c.term] = c.weight
	}
	v.addTexts(nameWeight, usualNameWords, tool.Name, " ", tool.Title)
	v.addTexts(descriptionWeight, usualTextWords, tool.Description)
	return v.takeWeights()
}

func (v *vocabulary) takeWeights() termWeights {
	f := make(termWeights, 0, len(v.scratch))
	for t, worth := range v.scratch {
		f = append(f, termWeight{t, worth})
	}
	slices.SortFunc(f, func(a, b termWeight) int { return int(a.term - b.term) })
	return f
}

// Usual numbers of words by place. In a longer text each word weighs less, because a text that
// names everything is not specific.
const (
	usualNameWords    = 6
	usualAppNameWords = 12
	usualTextWords    = 28
)

// addTexts adds the terms of texts to v.scratch. In a longer text each word weighs less.
func (v *vocabulary) addTexts(worth float32, usual int, texts ...string) {
	words := wordsOf(texts...)
	if len(words) > usual {
		worth *= float32(usual) / float32(len(words))
	}
	for _, word := range words {
		k := v.word(word)
		v.scratch[k.root] = max(v.scratch[k.root], worth)
		for _, thing := range k.things {
			v.scratch[thing] = max(v.scratch[thing], conceptWeight*worth)
		}
	}
	for _, thing := range v.glossary.multiwordConcepts(words, texts) {
		id := v.id(thing)
		v.scratch[id] = max(v.scratch[id], conceptWeight*worth)
	}
}

// weightOf returns the weight of the term, or 0 if it is absent.
func (f termWeights) weightOf(t term) float64 {
	at, ok := slices.BinarySearchFunc(f, t, func(c termWeight, t term) int { return int(c.term - t) })
	if !ok {
		return 0
	}
	return float64(f[at].weight)
}

// minMatchShare is the factor of a tool that matches almost none of the request's parts: a tool
// that matches all parts a little ranks above one that matches one part well.
const minMatchShare = 0.5

// score returns how well a tool matches a request. It sums the best term of each part, weighted
// by rarity among the tools, and multiplies by the share of matched parts.
func (v *vocabulary) score(f termWeights, aspects []requestTerm, tools int) float64 {
	worth := func(t term) float64 {
		return f.weightOf(t) * math.Log(1+float64(tools)/(1+v.toolCounts[t]))
	}
	sum, shown := 0.0, 0
	for _, a := range aspects {
		best := 0.0
		if a.root != noTerm {
			best = worth(a.root)
		}
		for _, thing := range a.things {
			best = max(best, worth(thing))
		}
		sum += a.weight * best
		if best > 0 {
			shown++
		}
	}
	return sum * (minMatchShare + (1-minMatchShare)*float64(shown)/float64(max(len(aspects), 1)))
}

// count adds n to the count of each term, by its weight: 1 for a new tool, -1 for a removed one. A word of an app's
// description, which all its tools have, makes the word a little more common only.
func (v *vocabulary) count(f termWeights, n float64) {
	for _, c := range f {
		v.toolCounts[c.term] += n * float64(c.weight)
	}
}
