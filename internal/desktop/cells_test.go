package desktop_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
)

func TestParseCellName(t *testing.T) {
	for name, want := range map[string][2]int{"A1": {1, 1}, "Z2": {26, 2}, "AA10": {27, 10}, "XFD1048576": {16384, 1048576}} {
		column, row, is := desktop.ParseCellName(name)
		if got := [2]int{column, row}; !is || got != want {
			t.Errorf("%s is at %v, %v; want %v", name, got, is, want)
		}
	}
	for _, name := range []string{"", "A", "1", "A0", "a1", "A1B", "ABCD1", "A1048577", "A-1", "Ä1"} {
		if column, row, is := desktop.ParseCellName(name); is {
			t.Errorf("%q is taken for the cell at %d, %d", name, column, row)
		}
	}
}

// TestRepeats checks that a text that repeats its surroundings is redundant, except for the name of a
// window or a page.
func TestRepeats(t *testing.T) {
	text := desktop.Element{Role: desktop.Text, Name: "Save"}
	for role, repeats := range map[desktop.Role]bool{
		desktop.Group: true, desktop.Button: true, desktop.Label: true, desktop.Window: false, desktop.Document: false,
	} {
		assert.Check(t, is.Equal(text.RepeatsParent(&desktop.Element{Role: role, Name: "Save"}), repeats))
	}
}
