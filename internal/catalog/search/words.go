package search

import (
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway/internal/lexicon"
)

// Limits on the text of a descriptor. Each word counts once in each field, so that repetition has
// no effect; text beyond the limits is ignored.
const (
	maxField = 2000 // bytes of one field
	maxWords = 64   // words of one field
	maxWord  = 40   // bytes of a word
)

// isCJK reports whether a character is of a script without spaces between words.
func isCJK(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// wordsOf splits texts into lower-case words, in order, without duplicates: runs of letters or
// digits, also within names such as setVolume or set_volume. Scripts without spaces are split
// into each pair of adjacent characters. It reads at most maxField bytes.
func wordsOf(texts ...string) []string {
	var c tokenizer
	left := maxField
	for _, text := range texts {
		if len(text) > left {
			text = strings.ToValidUTF8(text[:left], "")
		}
		left -= len(text)
		c.cut(text)
	}
	return c.words
}

// A tokenizer collects words.
type tokenizer struct {
	words       []string
	seen        map[string]bool
	run         []rune
	unspaced    bool // run is of a script without spaces
	keepRepeats bool // keep duplicates and praise
}

func (c *tokenizer) cut(text string) {
	last := ' '
	for _, r := range text {
		switch wide := isCJK(r); {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			c.end()
		case wide != c.unspaced,
			unicode.IsUpper(r) && unicode.IsLower(last),
			unicode.IsDigit(r) != unicode.IsDigit(last) && len(c.run) > 0 && !wide:
			c.end()
			c.unspaced = wide
			c.run = append(c.run, r)
		default:
			c.run = append(c.run, r)
		}
		last = r
	}
	c.end()
}

// end adds the words of the run that has ended.
func (c *tokenizer) end() {
	run := c.run
	c.run = c.run[:0]
	switch {
	case len(run) == 0:
	case c.unspaced && len(run) > 1:
		for i := range len(run) - 1 {
			c.add(string(run[i : i+2]))
		}
	default:
		c.add(strings.ToLower(string(run)))
	}
}

func (c *tokenizer) add(word string) {
	if len(c.words) == maxWords || len(word) > maxWord || !c.keepRepeats && (c.seen[word] || isPraise(word)) {
		return
	}
	if c.seen == nil {
		c.seen = make(map[string]bool)
	}
	c.seen[word] = true
	c.words = append(c.words, word)
}

// isPraise reports whether a word is typical of self-praise. Such words are neither indexed nor
// searched.
func isPraise(word string) bool {
	switch word {
	case "best", "official", "popular", "trusted", "recommended", "leading", "ultimate", "preferred", "premium", "favorite", "favourite", "number1":
		return true
	}
	return false
}

// isNumber reports whether a word is a number. Numbers are usually arguments of the task and not
// its name.
func isNumber(word string) bool { return strings.Trim(word, "0123456789") == "" }

// meaningfulWords returns the words of a request without fillers and numbers, or all if none remain.
func meaningfulWords(request string) []string {
	all := wordsOf(request)
	var said []string
	for _, w := range all {
		if !lexicon.IsFiller(w) && !isNumber(w) {
			said = append(said, w)
		}
	}
	if len(said) == 0 {
		return all
	}
	return said
}
