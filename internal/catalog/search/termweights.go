package search

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
)

// A term is the root of a word, or a thing of the glossary.
type term int32

// noTerm is no term.
const noTerm term = -1

// A vocabulary knows the terms of an index: it belongs to one, whose lock guards it.
type vocabulary struct {
	glossary   *glossary
	ids        map[string]term
	toolCounts []int // by term: how many tools show it
	words      map[string]knownWord
	scratch    map[term]float32
}

// knownWord is what is known of a word.
type knownWord struct {
	root   term
	things []term
}

func newVocabulary(g *glossary) *vocabulary {
	return &vocabulary{glossary: g, ids: make(map[string]term), words: make(map[string]knownWord), scratch: make(map[term]float32)}
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

// word looks a word up.
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

// An aspect is one thing that a request speaks of: a word, and what the glossary knows it
// for.
type requestTerm struct {
	root   term // none where only the glossary knows the word
	things []term
}

// A request is what is asked for.
type request struct {
	aspects []requestTerm
	words   []string // to look for, of which any will do
}

// maxRankedRows is how many tools a request has SQLite rank, about: the rarest words are looked for
// first, and those that half of all show add next to nothing.
const maxRankedRows = 500

// parseRequest reads a request. Words that no tool shows are no aspects of it.
func (v *vocabulary) parseRequest(text string) request {
	var r request
	told := make(map[string]bool)
	shown := make(map[string]int)
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
		if first, _ := utf8.DecodeRuneInString(word); !isCJK(first) { // a pair of characters is no thing by itself
			r.aspects = append(r.aspects, requestTerm(k))
		}
	}
	for _, thing := range v.glossary.concepts(text) {
		id := v.id(thing)
		look(thing, id)
		if !told[thing] {
			r.aspects = append(r.aspects, requestTerm{noTerm, []term{id}})
		}
	}
	r.words = slices.SortedFunc(maps.Keys(shown), func(a, b string) int { return cmp.Or(shown[a]-shown[b], strings.Compare(a, b)) })
	left := maxRankedRows
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
type termWeights []termWeight

type termWeight struct {
	term   term
	weight float32
}

// What a word is worth by where it stands, and a thing of the glossary beside a word.
const (
	nameWeight           = 1.0  // the tool's name and title
	descriptionWeight    = 0.6  // what is said of it
	appNameWeight        = 0.6  // the names of its app
	appDescriptionWeight = 0.25 // what is said of that
	conceptWeight        = 0.75
)

// appWeights is what all tools of an app show.
func (v *vocabulary) appWeights(app *aai.App) termWeights {
	clear(v.scratch)
	v.addTexts(appNameWeight, usualAppNameWords, appNames(app)...)
	v.addTexts(appDescriptionWeight, usualTextWords, app.Description)
	return v.takeWeights()
}

// toolWeights is what a tool shows, with what its app does.
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

// How many words are usual where they stand. Where there are more, each is worth less: who
// names everything is about nothing.
const (
	usualNameWords    = 6
	usualAppNameWords = 12
	usualTextWords    = 28
)

// addTexts notes what texts show.
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

// weightOf is what the term is worth where the tool shows it, 0 where it does not.
func (f termWeights) weightOf(t term) float64 {
	at, ok := slices.BinarySearchFunc(f, t, func(c termWeight, t term) int { return int(c.term - t) })
	if !ok {
		return 0
	}
	return float64(f[at].weight)
}

// minMatchShare is what is left of a tool that shows next to nothing of what is asked for: who
// fits in all is meant before who fits much in one.
const minMatchShare = 0.5

// score is how well a tool fits what is asked for: of each aspect the best that it shows, which
// is worth the more the fewer of so many tools show it, and how much of all it shows.
func (v *vocabulary) score(f termWeights, aspects []requestTerm, tools int) float64 {
	worth := func(t term) float64 {
		return f.weightOf(t) * math.Log(1+float64(tools)/float64(1+v.toolCounts[t]))
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
		sum += best
		if best > 0 {
			shown++
		}
	}
	return sum * (minMatchShare + (1-minMatchShare)*float64(shown)/float64(max(len(aspects), 1)))
}

// count notes that tools show a face, or with -1 that one shows it no more.
func (v *vocabulary) count(f termWeights, n int) {
	for _, c := range f {
		v.toolCounts[c.term] += n
	}
}
