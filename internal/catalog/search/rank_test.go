package search_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// firstFive is the number of results that must contain the expected tool.
const firstFive = 5

// score counts, by language, the requests with the expected tool among the first five.
func score(t *testing.T, all []searchCase, find func(words string) []string) (right, of map[string]int) {
	t.Helper()
	right, of = make(map[string]int), make(map[string]int)
	for _, w := range all {
		of[w.language]++
		found := find(w.words)
		good := false
		for _, tool := range found[:min(len(found), firstFive)] {
			good = good || w.tools[tool]
		}
		if good {
			right[w.language]++
		} else {
			t.Logf("not found: %s: %s: %q", w.language, w.words, found[:min(len(found), firstFive)])
		}
	}
	return right, of
}

// TestTheRightToolIsFound checks that the expected tool is among the first five, for requests
// written before and after the ranking.
func TestTheRightToolIsFound(t *testing.T) {
	apps := append(realApps(t), distractorApps(487)...)
	s := newSearch(t, &apps, nil)
	for file, leasts := range map[string]map[string]int{
		"requests.txt": {"en": 59, "de": 10, "zh": 10}, "later.txt": {"en": 22, "de": 3, "zh": 4}, "german.txt": {"de": 30},
	} {
		all := searchCasesIn(t, file)
		for _, w := range all { // the list itself is valid
			for name := range w.tools {
				id, tool, _ := strings.Cut(name, ":")
				assert.Assert(t, has(apps, id, tool), "%s: there is no %s", w.words, name)
			}
		}
		right, of := score(t, all, func(words string) []string { return find(t, s, agent(), words, "") })
		for language, least := range leasts {
			t.Logf("%s, %s: %d of %d", file, language, right[language], of[language])
			assert.Check(t, right[language] >= least, "%s, %s: %d of %d, expected %d", file, language, right[language], of[language], least)
		}
	}
}

func has(apps []*aai.App, id, tool string) bool {
	for _, app := range apps {
		if app.ID == id {
			return app.Tool(tool) != nil
		}
	}
	return false
}
