package search

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/lexicon"
)

// A term is the root of a word, or a concept of the glossary.
type term int32

// A vocabulary holds the terms of one index, with its lock as the guard.
type vocabulary struct {
	glossary   *glossary
	ids        map[string]term
	toolCounts []float64 // by term: the tools with it, each by the weight of its place
	words      map[string]knownWord
	counted    float64 // the tools in the counts
	terms      float64 // of these tools
	scratch    map[term]termWeight
}

// knownWord holds the terms of a word.
type knownWord struct {
	root   term
	things []term
}

func newVocabulary(g *glossary) *vocabulary {
	return &vocabulary{glossary: g, ids: make(map[string]term), words: make(map[string]knownWord),
		scratch: make(map[term]termWeight)}
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

// A requestPart is the worth of a term for one aspect of a request.
type requestPart struct {
	aspect int // the part of the request
	worth  float64
}

// particleWeight is the weight of a particle, such as "back" in "cut back", relative to another word.
const particleWeight = 0.4

// A request is a parsed search text: its aspects are its words, each with its concepts in the glossary.
type request struct {
	parts      [][]requestPart // by place
	places     []int16         // by term: the place of its parts; 0: none
	aspects    int
	usualTerms float64   // of a tool
	best       []float64 // by aspect, of the tool that is scored
}

// parseRequest parses a request.
func (v *vocabulary) parseRequest(text string) *request {
	r := &request{parts: make([][]requestPart, 1), places: make([]int16, len(v.toolCounts)), usualTerms: v.terms / max(v.counted, 1)}
	told := make(map[string]bool)
	for _, word := range meaningfulWords(text) {
		weight := 1.0
		if first, _ := utf8.DecodeRuneInString(word); isCJK(first) {
			weight = pairWeight
		} else if lexicon.IsParticle(word) {
			weight = particleWeight
		}
		things := v.glossary.wordConcepts(word)
		for _, thing := range things {
			told[thing] = true
		}
		v.addAspect(r, weight, append(things[:len(things):len(things)], root(word)))
	}
	for _, thing := range v.glossary.concepts(text) {
		if !told[thing] {
			v.addAspect(r, 1, []string{thing})
		}
	}
	r.best = make([]float64, r.aspects)
	return r
}

// addAspect adds an aspect that any of the terms fulfils, the rarest among the tools best.
func (v *vocabulary) addAspect(r *request, weight float64, terms []string) {
	for _, text := range terms {
		t, known := v.ids[text]
		if !known || v.toolCounts[t] == 0 {
			continue
		}
		if r.places[t] == 0 {
			r.places[t] = int16(len(r.parts)) // a request has at most maxWords words
			r.parts = append(r.parts, nil)
		}
		at := &r.parts[r.places[t]]
		*at = append(*at, requestPart{r.aspects, weight * math.Log(1+v.counted/(1+v.toolCounts[t]))})
	}
	r.aspects++
}

// termWeights are the terms of a tool's descriptor, sorted, each with the weight of its place.
type termWeights []termWeight

type termWeight struct {
	term   term
	weight float32
	places float32 // the places with the term, where each of a longer text counts less
}

// Weights of words by their place, and of a concept relative to a word.
const (
	nameWeight           = 1.0  // the tool's name and title
	descriptionWeight    = 0.75 // the tool's description
	appNameWeight        = 0.6  // the names of its app
	appDescriptionWeight = 0.25 // the app's description
	paramWeight          = 0.02 // the names of the tool's parameters
	conceptWeight        = 0.75
	pairWeight           = 0.2 // of a pair of characters in a script without spaces, which need not be a word
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
		v.scratch[c.term] = c
	}
	v.addTexts(nameWeight, usualNameWords, tool.Name, " ", tool.Title)
	v.addTexts(descriptionWeight, usualTextWords, tool.Description)
	v.addTexts(paramWeight, maxWords, strings.Join(tool.Params.Order, " "))
	return v.takeWeights()
}

func (v *vocabulary) takeWeights() termWeights {
	f := make(termWeights, 0, len(v.scratch))
	for _, c := range v.scratch {
		f = append(f, c)
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
	words, place := wordsOf(texts...), float32(1)
	if len(words) > usual {
		place = float32(usual) / float32(len(words))
	}
	worth *= place
	for _, word := range words {
		k := v.word(word)
		v.add(k.root, worth, place)
		for _, thing := range k.things {
			v.add(thing, conceptWeight*worth, place)
		}
	}
	for _, thing := range v.glossary.multiwordConcepts(words, texts) {
		v.add(v.id(thing), conceptWeight*worth, place)
	}
}

// add adds a place of a term.
func (v *vocabulary) add(t term, worth, place float32) {
	c := v.scratch[t]
	v.scratch[t] = termWeight{t, max(c.weight, worth), c.places + place}
}

// minMatchShare is the factor of a tool that matches almost none of the request's parts: a tool
// that matches all parts a little ranks above one that matches one part well.
const minMatchShare = 0.5

// BM25 adds this share for every match, so that tools with the same best matches are ordered by all of them; the
// usual constants are for the saturation by the number of places and for the length of the descriptor.
const (
	bm25Share      = 0.3
	bm25Saturation = 1.2
	bm25Length     = 0.6
)

// score returns how well a tool matches a request. It sums the best term of each aspect, weighted
// by rarity among the tools, and multiplies by the share of matched aspects.
func (r *request) score(f termWeights) float64 {
	sum, shown := 0.0, 0
	clear(r.best)
	halfPlaces := bm25Saturation * (1 - bm25Length + bm25Length*float64(len(f))/r.usualTerms)
	for _, c := range f {
		for _, part := range r.parts[r.places[c.term]] {
			worth := float64(c.weight) * part.worth
			sum += bm25Share * part.worth * (1 + bm25Saturation) * float64(c.places) / (float64(c.places) + halfPlaces)
			r.best[part.aspect] = max(r.best[part.aspect], worth)
		}
	}
	for _, worth := range r.best {
		sum += worth
		if worth > 0 {
			shown++
		}
	}
	return sum * (minMatchShare + (1-minMatchShare)*float64(shown)/float64(max(r.aspects, 1)))
}

// resetCounts sets the counts of all terms to zero.
func (v *vocabulary) resetCounts() {
	clear(v.toolCounts)
	v.counted, v.terms = 0, 0
}

// count adds a tool to the count of each of its terms, by its weight. A word of an app's
// description, which all its tools have, makes the word a little more common only.
func (v *vocabulary) count(f termWeights) {
	v.counted++
	v.terms += float64(len(f))
	for _, c := range f {
		v.toolCounts[c.term] += float64(c.weight)
	}
}
