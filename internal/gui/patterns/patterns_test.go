package patterns_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/gui/patterns"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

// TestRealWindows: windows of real programs, labelled by hand before the rules were written. Nine of ten must be right, and
// no dialog may be missed. TestCapture of the package atspi writes further ones.
func TestRealWindows(t *testing.T) {
	labels, err := os.ReadFile(filepath.Join("testdata", "labels.txt"))
	assert.NilError(t, err)
	right, all := 0, 0
	for line := range strings.Lines(string(labels)) {
		label := strings.Fields(line)
		text, err := os.ReadFile(filepath.Join("testdata", "windows", label[0]+".txt"))
		assert.NilError(t, err)
		s := snapshottest.Read(t, string(text))
		s.App.IsBrowser = strings.HasPrefix(label[0], "chromium") || strings.HasPrefix(label[0], "firefox")
		got, want := patterns.Detect(s), patterns.Finding{Pattern: patterns.Pattern(strings.Trim(label[1], "-")), State: patterns.State(label[2])}
		if want.State != patterns.Idle && got.State == patterns.Idle {
			t.Errorf("%s: the state is idle, want %s", label[0], want.State)
		}
		all++
		if got.Pattern == want.Pattern && got.State == want.State {
			right++
			continue
		}
		t.Logf("%s: %q %s, want %q %s", label[0], got.Pattern, got.State, want.Pattern, want.State)
	}
	t.Logf("%d of %d are right", right, all)
	assert.Check(t, right*10 >= all*9, "%d of %d windows are right", right, all)
}

// TestSuggestions: the next steps name the elements that are there.
func TestSuggestions(t *testing.T) {
	s := snapshottest.Read(t, `
window "Note" active
  textbox "Text" editable multiline
dialog "Save As" modal
  textbox "Name:" editable
  table "Files"
  button "Cancel"
  button "Save"
`)
	var got []string
	for _, one := range patterns.Detect(s).Suggestions {
		got = append(got, one.Tool+" "+one.Query)
	}
	want := "ax_type Name:, ax_click Save, ax_click Cancel"
	assert.Check(t, is.Equal(strings.Join(got, ", "), want), "the suggestions are %q, want %q", got, want)
}
