package dialog

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestGolden compares every kind of question, in both languages, page by page, in a window
// with three buttons and as a list. UPDATE_GOLDEN=1 writes the files.
func TestGolden(t *testing.T) {
	day := regexp.MustCompile(`\b20\d\d-\d\d-\d\d\b`)
	for name, k := range kinds() {
		for _, language := range []string{"en", "zh"} {
			t.Run(name+"/"+language, func(t *testing.T) {
				d := New(Config{Language: func() string { return language }})
				q := ofKind(t, k, language)
				q.Text = day.ReplaceAllString(q.Text, "2026-05-04")
				var b strings.Builder
				for _, way := range slices.Sorted(maps.Keys(testPresenters())) {
					if way == "zenity" || way == "list" {
						continue // between the two, and as a list with the same text
					}
					pages, err := d.layOut(q, testPresenters()[way])
					assert.NilError(t, err)
					for i, p := range pages {
						fmt.Fprintf(&b, "== %s, page %d\n%s\n", way, i+1, strings.TrimRight(p.text, "\n"+blank))
						for _, label := range p.buttons {
							fmt.Fprintf(&b, "[%s] ", label)
						}
						b.WriteString("\n")
					}
				}
				got := strings.TrimSpace(strings.ReplaceAll(b.String(), blank, "")) + "\n"
				file := filepath.Join("testdata", "questions", name+"."+language+".txt")
				if os.Getenv("UPDATE_GOLDEN") != "" {
					assert.NilError(t, os.WriteFile(file, []byte(got), 0o600))
				}
				want, err := os.ReadFile(file)
				assert.NilError(t, err)
				assert.Check(t, is.DeepEqual(string(want), got))
			})
		}
	}
}
