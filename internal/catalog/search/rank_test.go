package search_test

import (
	"context"
	"database/sql"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/database"
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

// TestTheRightToolIsFound checks that the expected tool is among the first five, more often than
// with SQLite alone, for requests written before and after the ranking.
func TestTheRightToolIsFound(t *testing.T) {
	apps := append(realApps(t), distractorApps(487)...)
	s := newSearch(t, &apps, nil)
	plain := plainIndex(t, apps)
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
		t.Log("SQLite's FTS5 alone:")
		before, _ := score(t, all, plain)
		for language, least := range leasts {
			t.Logf("%s, %s: %d of %d; SQLite alone %d", file, language, right[language], of[language], before[language])
			assert.Check(t, right[language] >= least, "%s, %s: %d of %d, expected %d; SQLite alone %d", file, language, right[language], of[language], least, before[language])
			assert.Check(t, right[language] >= before[language]+before[language]/6, "%s, %s: %d of %d, expected %d; SQLite alone %d", file, language, right[language], of[language], least, before[language])
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

// plainIndex is SQLite's own search: all words of a tool in one text, any word of the request.
func plainIndex(t *testing.T, apps []*aai.App) func(words string) []string {
	t.Helper()
	db, err := database.OpenMemory(context.Background(), database.Schema{Version: 1, Tables: `CREATE VIRTUAL TABLE plain USING fts5(tool UNINDEXED, text);`})
	assert.NilError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	for _, app := range apps {
		for _, tool := range app.Tools {
			text := strings.Join([]string{app.Name, app.Description, strings.Join(app.Aliases, " "), tool.Name, tool.Title, tool.Description, strings.Join(tool.Params.Order, " ")}, " ")
			_, err := db.Exec("INSERT INTO plain VALUES (?, ?)", app.ID+":"+tool.Name, text)
			assert.NilError(t, err)
		}
	}
	return func(words string) []string { return ask(t, db, words) }
}

func ask(t *testing.T, db *sql.DB, words string) []string {
	t.Helper()
	terms := regexp.MustCompile(`[\p{L}\p{N}]+`).FindAllString(words, -1)
	rows, err := db.Query("SELECT tool FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT 5", `"`+strings.Join(terms, `" OR "`)+`"`)
	assert.NilError(t, err)
	defer rows.Close() //nolint:errcheck // Err reports errors
	var found []string
	for rows.Next() {
		var name string
		assert.NilError(t, rows.Scan(&name))
		found = append(found, name)
	}
	assert.NilError(t, rows.Err())
	return found
}
