package vision

import (
	"slices"
	"strings"
	"unicode"
)

// Match returns the indexes of the texts that match the description best, or none. A description is the text itself, or
// contains it in quotes or with words such as "the … button". In this order count: an equal text, a text with the words
// in it, and a text that differs by one letter in five.
func Match(texts []string, description string) []int {
	for _, wanted := range wordings(description) {
		for _, matches := range []func(text string) bool{
			func(text string) bool { return text == wanted },
			func(text string) bool { return strings.Contains(" "+text+" ", " "+wanted+" ") },
			func(text string) bool { return distance(text, wanted) <= len([]rune(wanted))/lettersPerError },
		} {
			var found []int
			for i, text := range texts {
				if matches(normalize(text)) {
					found = append(found, i)
				}
			}
			if len(found) > 0 {
				return found
			}
		}
	}
	return nil
}

// lettersPerError is the number of letters for which one may be misread.
const lettersPerError = 5

// wordings returns the texts that a description may mean, the likeliest first.
func wordings(description string) (all []string) {
	for _, quotes := range []string{`""`, "''", "“”", "«»", "„“", "‘’"} {
		pair := []rune(quotes)
		if _, after, is := strings.Cut(description, string(pair[0])); is {
			if inside, _, closed := strings.Cut(after, string(pair[1])); closed {
				all = append(all, normalize(inside))
			}
		}
	}
	whole := normalize(description)
	fewer := slices.DeleteFunc(strings.Fields(whole), func(word string) bool {
		return slices.Contains([]string{"a", "an", "button", "called", "element", "entry", "field", "icon", "item", "label", "labeled", "labelled", "link", "menu", "named", "on", "option", "tab", "text", "that", "says", "the", "with", "word"}, word)
	})
	all = append(all, whole, strings.Join(fewer, " "))
	return slices.DeleteFunc(all, func(text string) bool { return text == "" })
}

// normalize returns the words of a text in lower case, without punctuation at their ends.
func normalize(text string) string {
	words := strings.Fields(strings.ToLower(text))
	for i, word := range words {
		words[i] = strings.TrimFunc(word, func(r rune) bool {
			return unicode.IsPunct(r) && r != '%' || unicode.IsSymbol(r) && !unicode.In(r, unicode.Sc)
		})
	}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

// distance returns the number of letters to insert, delete or replace to get from a to b.
func distance(a, b string) int {
	one, other := []rune(a), []rune(b)
	row := make([]int, len(other)+1)
	for j := range row {
		row[j] = j
	}
	for i := range one {
		diagonal := row[0]
		row[0] = i + 1
		for j := range other {
			cost := diagonal
			if one[i] != other[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(other)]
}
