package importers_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/importers"
)

// TestGuideOfABigAPI checks a real API with more than 1,000 operations: pages and groups of its
// guide show each tool once, and no page is long.
func TestGuideOfABigAPI(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("../../.cache/openapi", "octokit-openapi-23.0.2/package/generated/api.github.com.json"))
	assert.NilError(t, err, "bring the documents: scripts/need-openapi (make test does): %v", err)
	got := read(t, source, importers.OpenAPIOptions{Source: "github", Server: "https://api.example.com/base", Driver: driver()})
	app := loadDocument(t, got.Text)
	assert.Assert(t, len(app.Tools) > 1000, "%d tools", len(app.Tools))
	pages := 0
	paged := func(group string) (told []string) {
		t.Helper()
		for page := (catalog.Page{Group: group}); ; {
			text, data, err := catalog.GuidePage(app, page)
			assert.NilError(t, err, "%+v %d", page, len(text))
			assert.Assert(t, len(text) <= 16_000, "%+v: %d bytes, %v", page, len(text), err)
			raw, err := json.Marshal(data)
			var guide struct{ Operations []struct{ Name string } }
			assert.NilError(t, err, "%+v %s", page, raw)
			assert.NilError(t, json.Unmarshal(raw, &guide), "%+v %s", page, raw)
			assert.Assert(t, len(guide.Operations) != 0, "%+v %s", page, raw)
			for _, o := range guide.Operations {
				told = append(told, o.Name)
			}
			pages++
			next := regexp.MustCompile(`"after": "([^"]+)"`).FindStringSubmatch(text)
			if next == nil {
				return told
			}
			page.After = next[1]
		}
	}
	var all, whole []string
	for _, tool := range app.Tools {
		all = append(all, tool.Name)
	}
	whole = paged("")
	inAll := pages
	var byGroup []string
	for _, group := range got.Groups {
		told := paged(group.Name)
		assert.Check(t, is.Len(told, group.Tools), "the guide of %s tells of %d tools; the import of %d", group.Name, len(told), group.Tools)
		byGroup = append(byGroup, told...)
	}
	t.Logf("%d tools on %d pages; by %d groups on %d", len(all), inAll, len(got.Groups), pages-inAll)
	slices.Sort(all)
	slices.Sort(whole)
	slices.Sort(byGroup)
	assert.Assert(t, slices.Equal(all, whole), "of %d tools the pages tell of %d, and the groups of %d", len(all), len(whole), len(byGroup))
	assert.Assert(t, slices.Equal(all, byGroup), "of %d tools the pages tell of %d, and the groups of %d", len(all), len(whole), len(byGroup))
}
