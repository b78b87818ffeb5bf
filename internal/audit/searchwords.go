package audit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway/internal/answer"
)

// Limits for the indexed words of a call, for the length of an indexed word, and for the
// words in a search.
const (
	maxWords  = 600
	maxWord   = 40 // letters
	maxSought = 20
)

// wordsOf splits a text into words: runs of letters and digits, in lower case. In scripts
// without spaces each letter is a word.
func wordsOf(text string, most int) (words []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, string(word[:min(len(word), maxWord)]))
			word = word[:0]
		}
	}
	for _, r := range text {
		switch {
		case len(words) >= most:
			return words[:most]
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			end()
			words = append(words, string(r))
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			word = append(word, unicode.ToLower(r))
		default:
			end()
		}
	}
	end()
	return words[:min(len(words), most)]
}

// recordWords returns the words of a call that Filter.Text is searched in.
func recordWords(p *answer.CallRecord) []string {
	texts := []string{p.App, p.Tool, p.Target, p.On.Name, p.On.Window, p.On.Role, p.On.ID, p.Message, p.Caller, p.Identity, p.Consent}
	texts = append(texts, wordsOfJSON(p.Args)...)
	texts = append(texts, wordsOfJSON(p.Answer)...)
	return wordsOf(strings.Join(texts, "\n"), maxWords)
}

// wordsOfJSON returns the names, texts and numbers of a value.
func wordsOfJSON(raw json.RawMessage) (found []string) {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for len(found) < maxWords {
		token, err := d.Token()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case string:
			found = append(found, t)
		case json.Number:
			found = append(found, t.String())
		}
	}
	return found
}

// phrases returns the search phrases of Text. Each part between spaces is a sequence of
// words, the last of which may be a prefix.
func (f Filter) phrases() (found [][]string) {
	for part := range strings.FieldsSeq(f.Text) {
		if words := wordsOf(part, maxSought); len(words) > 0 && len(found) < maxSought {
			found = append(found, words)
		}
	}
	return found
}

// containsAll reports whether the words contain all phrases.
func containsAll(words []string, phrases [][]string) bool {
	if len(phrases) == 0 {
		return false
	}
	for _, phrase := range phrases {
		if !containsPhrase(words, phrase) {
			return false
		}
	}
	return true
}

func containsPhrase(words, phrase []string) bool {
	last := len(phrase) - 1
	for i := range len(words) - last {
		if slices.Equal(words[i:i+last], phrase[:last]) && strings.HasPrefix(words[i+last], phrase[last]) {
			return true
		}
	}
	return false
}

// match returns the phrases as an FTS5 query. Words contain no quotes.
func match(phrases [][]string) string {
	parts := make([]string, len(phrases))
	for i, phrase := range phrases {
		parts[i] = `"` + strings.Join(phrase, " ") + `" *`
	}
	return "text : (" + strings.Join(parts, " AND ") + ")"
}
