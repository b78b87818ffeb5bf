package audit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// Of a call so many words are looked for, and of one that is longer its beginning; of a
// text that is looked for so many.
const (
	maxWords  = 600
	maxWord   = 40 // letters
	maxSought = 20
)

// wordsOf cuts a text into words: letters and digits that follow one another, lower case.
// Of scripts without spaces each letter is one.
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

// words are those of a call that Filter.Text is looked for in.
func (p *CallRecord) words() []string {
	texts := []string{p.App, p.Tool, p.Target, p.On.Name, p.On.Window, p.On.Role, p.On.ID, p.Message, p.Caller, p.Identity, p.Consent}
	texts = append(texts, wordsOfJSON(p.Args)...)
	texts = append(texts, wordsOfJSON(p.Answer)...)
	return wordsOf(strings.Join(texts, "\n"), maxWords)
}

// wordsOfJSON are the names, texts and numbers of a value.
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

// phrases are what is looked for: each part between spaces is words that follow one
// another, of the last of which it may be the beginning.
func (f Filter) phrases() (found [][]string) {
	for part := range strings.FieldsSeq(f.Text) {
		if words := wordsOf(part, maxSought); len(words) > 0 && len(found) < maxSought {
			found = append(found, words)
		}
	}
	return found
}

// containsAll reports whether the words have all of the phrases.
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

// match is the phrases as SQLite's FTS5 is asked for them. Words have no quotes in them.
func match(phrases [][]string) string {
	parts := make([]string, len(phrases))
	for i, phrase := range phrases {
		parts[i] = `"` + strings.Join(phrase, " ") + `" *`
	}
	return "text : (" + strings.Join(parts, " AND ") + ")"
}
