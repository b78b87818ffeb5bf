package gui_test

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestRealPassedItems: arrow keys make each item on their way current, so the gates judge these too.
func TestRealPassedItems(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(w.Home, "items")
	app := w.python("currentitems.py", "option Alpha", file)
	w.ok("ax_click", params{"app": app, "query": "Beta"})
	w.eventually("Beta is current", func() bool { said, _ := os.ReadFile(file); return string(said) == "Beta\n" })
	w.ok("ax_click", params{"app": app, "query": "Gamma"})
	w.eventually("Gamma is current", func() bool { said, _ := os.ReadFile(file); return string(said) == "Beta\nDelete all\nGamma\n" })
	on := w.record.last(aai.Outcome).Element
	assert.Check(t, is.Contains(on.Name, "Delete all"), "the record names %q", on.Name)
}
