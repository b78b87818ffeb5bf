package render

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// allPages returns all pages of an outline.
func allPages(t testing.TB, s *desktop.Snapshot, o Options) []Page {
	t.Helper()
	var pages []Page
	for {
		p, err := Text(s, o)
		assert.NilError(t, err, "%d", len(pages)+1)
		pages = append(pages, p)
		if p.More == "" {
			return pages
		}
		assert.Assert(t, len(pages) <= 3*len(s.Elements)+3, "%d pages for %d elements", len(pages), len(s.Elements))
		o.After = p.More
	}
}

func oneText(t testing.TB, s *desktop.Snapshot, o Options) string {
	t.Helper()
	p, err := Text(s, o)
	assert.NilError(t, err)
	return p.Text
}

// golden compares got with a file in testdata; UPDATE_GOLDEN=1 writes the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		assert.NilError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(string(want), got), "%s", path)
}
