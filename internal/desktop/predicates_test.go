package desktop_test

import (
	"testing"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestRepeats checks that a text that repeats its surroundings is redundant, except for the name of a
// window or a page.
func TestRepeats(t *testing.T) {
	text := desktop.Element{Role: desktop.Text, Name: "Save"}
	for role, repeats := range map[desktop.Role]bool{
		desktop.Group: true, desktop.Button: true, desktop.Label: true, desktop.Window: false, desktop.Document: false,
	} {
		if is := text.RepeatsParent(&desktop.Element{Role: role, Name: "Save"}); is != repeats {
			t.Errorf("in a %s: %v", role, is)
		}
	}
}
