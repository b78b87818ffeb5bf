package query

import (
	"strings"

	"github.com/gybob/aai-gateway/internal/lexicon"
)

// countNegations counts the words of a text that negate others.
func countNegations(text string, words []string) int {
	n := 0
	for i, word := range words {
		if lexicon.IsNegation(word) || word == "t" && i > 0 && strings.HasSuffix(words[i-1], "n") { // isn't, won't
			n++
		}
	}
	return n + strings.Count(" "+strings.ToLower(text), " un-")
}
