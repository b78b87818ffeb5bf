package atspi

import "testing"

// TestWhatIsAPress checks that the first of a toolkit's actions is a press, and that actions for moving a
// value or a view, or for a shortcut, are not.
func TestWhatIsAPress(t *testing.T) {
	for _, c := range []struct {
		actions []string
		first   string
		press   bool
	}{
		{[]string{"Increase", "Decrease", "SetFocus"}, "SetFocus", true},
		{[]string{"SetFocus", "ShowMenu", "Press"}, "Press", true},
		{[]string{"clipboard.copy", "activate"}, "activate", true},
		{[]string{"scrollUp", "doDefault"}, "doDefault", true},
		{[]string{"Toggle"}, "Toggle", true},
		{[]string{"increment"}, "increment", false},
		{[]string{"decrementLine", "incrementBlock"}, "decrementLine", false},
		{[]string{"NextPage", "PreviousPage"}, "NextPage", false},
		{[]string{"scroll_up"}, "scroll_up", false},
	} {
		if got := preferred(c.actions)[0]; got != c.first || (actionRank(got) < rankShortcut) != c.press {
			t.Errorf("of %q the first is %s, a press: %t", c.actions, got, actionRank(got) < rankShortcut)
		}
	}
}
