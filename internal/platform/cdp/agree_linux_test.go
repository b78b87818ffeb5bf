package cdp_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// controls describes the controls of the pages of a snapshot, by all that tools judge.
func controls(s *desktop.Snapshot) (lines []string) {
	within := 0
	for i, e := range s.Elements {
		if e.Role == desktop.Document {
			within = max(within, e.End)
		}
		if i >= within || !e.Role.IsInteractive() && !e.IsPressableDespiteRole() || e.Name == "" {
			continue
		}
		acts := len(e.Actions) > 0 || !e.States.Has(desktop.Showing|desktop.Enabled) // accessibility asks only for those that show
		lines = append(lines, fmt.Sprintf("%s %q value=%q %v %d/%d #%s acts=%v", e.Role, e.Name, e.Value, e.States.Words(), e.Pos, e.Size, e.Identifier, acts))
	}
	slices.Sort(lines)
	return lines
}

// TestBothWaysAgree reads the same page by accessibility and by DevTools.
func TestBothWaysAgree(t *testing.T) {
	page, err := os.ReadFile("testdata/controls.html")
	assert.NilError(t, err)
	w := newWorld(t, string(page), "--force-renderer-accessibility", "--window-size=900,1200")
	var there, here []string
	isSame := func() bool {
		there, here = controls(w.snapshot(t, w.platform)), controls(w.snapshot(t, w.backend))
		return len(there) > 20 && slices.Equal(there, here)
	}
	if !within(isSame) {
		t.Errorf("accessibility alone: %s\nDevTools alone: %s", strings.Join(without(there, here), "\n"), strings.Join(without(here, there), "\n"))
	}
}

func without(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
}
