package imports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aai"
	"aai/internal/catalog"
)

// TestSavedInTheMeantime: what somebody wrote after it was looked at is not overwritten.
func TestSavedInTheMeantime(t *testing.T) {
	r := New(Config{Folder: t.TempDir()})
	doc := &catalog.Document{ID: "org.example.a", Name: "A"}
	c, err := r.plan(doc, []byte("{}\n"), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.planned.Save(t.Context()); aai.AsError(err).Delivery != aai.NotDelivered || !strings.Contains(err.Error(), "is not what was shown") {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(c.Path); err != nil || string(text) != "mine" {
		t.Errorf("the file is %q, %v", text, err)
	}
	if c, err = r.plan(doc, []byte("{}\n"), true); err != nil || len(c.Notes) == 0 {
		t.Fatal(c, err)
	}
	if err := c.planned.Save(t.Context()); err != nil {
		t.Error(err)
	}
}
