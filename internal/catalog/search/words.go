package search

import (
	"strings"
	"unicode"
)

// How much of what a descriptor says is looked at. Each word counts once in each field, so
// that to say it again is worth nothing, and what stands behind the bounds is not read.
const (
	maxField = 2000 // bytes of one field
	maxWords = 64   // words of one field
	maxWord  = 40   // bytes of a word
)

// isCJK reports whether a character is of a script that puts no spaces between words.
func isCJK(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// wordsOf cuts a text into words in lower case, in their order, each once: runs of letters or
// digits, those of names such as setVolume or set_volume too; of scripts without spaces each
// pair of characters that stand together. It reads no more than the bounds allow.
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

// A cutter gathers words.
type tokenizer struct {
	words       []string
	seen        map[string]bool
	run         []rune
	unspaced    bool // run is of a script without spaces
	keepRepeats bool // each word as often as it stands there, praise too
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

// end takes the run that has ended.
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

// isPraise reports whether a word is one by which whoever offers something praises it. It is
// neither looked for nor found.
func isPraise(word string) bool {
	switch word {
	case "best", "official", "popular", "trusted", "recommended", "leading", "ultimate", "preferred", "premium", "favorite", "favourite", "number1":
		return true
	}
	return false
}

// isNumber reports whether a word is a number: one says with what something is to be done,
// and not what.
func isNumber(word string) bool { return strings.Trim(word, "0123456789") == "" }

// isFiller reports whether a word of a request says nothing of what is wanted.
func isFiller(word string) bool {
	switch word {
	case "a", "an", "the", "of", "to", "in", "on", "at", "by", "for", "from", "with", "into", "and", "or", "as", "so", "than", "then",
		"is", "are", "am", "be", "been", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would", "should", "may",
		"i", "me", "my", "mine", "we", "us", "our", "you", "your", "it", "its", "this", "that", "these", "those", "there", "here", "they", "their",
		"what", "which", "who", "whose", "how", "why", "where", "when", "please", "some", "any", "if", "not", "no", "s", "t", "m", "let", "lets", "want", "need", "about",
		"der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "ist", "sind", "und", "oder", "mit", "von", "vom", "zu", "zum", "zur",
		"im", "auf", "aus", "für", "bitte", "mir", "mich", "ich", "wie", "wer", "welche", "welcher", "welches", "diese", "dieser", "dieses", "mein", "meine", "es":
		return true
	}
	return false
}

// meaningfulWords are the words of a request that say what is wanted; all of them, if none does.
func meaningfulWords(request string) []string {
	all := wordsOf(request)
	var said []string
	for _, w := range all {
		if !isFiller(w) && !isNumber(w) {
			said = append(said, w)
		}
	}
	if len(said) == 0 {
		return all
	}
	return said
}
