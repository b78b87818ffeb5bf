package render

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// allPages returns all pages of an outline.
func allPages(t testing.TB, s *desktop.Snapshot, o Options) []Page {
	t.Helper()
	var pages []Page
	for {
		p, err := Text(s, o)
		if err != nil {
			t.Fatalf("page %d: %v", len(pages)+1, err)
		}
		pages = append(pages, p)
		if p.More == "" {
			return pages
		}
		if len(pages) > 3*len(s.Elements)+3 {
			t.Fatalf("%d pages for %d elements", len(pages), len(s.Elements))
		}
		o.After = p.More
	}
}

func oneText(t testing.TB, s *desktop.Snapshot, o Options) string {
	t.Helper()
	p, err := Text(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return p.Text
}

// golden compares got with a file in testdata; UPDATE_GOLDEN=1 writes the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
