package query

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aai/internal/desktop"
	"aai/internal/desktop/shottest"
)

// one is a window with one element.
func one(role desktop.Role, name string) *desktop.Snapshot {
	states := desktop.Showing | desktop.Enabled
	return &desktop.Snapshot{Elements: []desktop.Element{
		{Role: desktop.Window, Name: "w", Parent: -1, End: 2, States: states},
		{Role: role, Name: name, Parent: 0, End: 2, States: states},
	}}
}

// What acts is acted upon by its name; what is filled in or chosen by whole words of it.
func TestSure(t *testing.T) {
	for _, c := range []struct {
		role        desktop.Role
		name, query string
		want        bool
	}{
		{desktop.Button, "OK", "OK", true},
		{desktop.Button, "OK", "ok", true},
		{desktop.Button, "_Save As…", "save as", true},
		{desktop.Button, "&Save", "Save", true},
		{desktop.Button, "Save  as", "Save as", true},
		{desktop.Button, "Save", "save button", true},
		{desktop.Button, "Save", "button Save", true},
		{desktop.Button, "Open dialog", `button "Open dialog"`, true},
		{desktop.Textbox, "Full name", `textbox "Full name"`, true},
		{desktop.Button, "Don't Save", "button Save", false},
		{desktop.Button, "Don't Save", `button "Save"`, false},
		{desktop.Button, "Save", "tab Save", false},
		{desktop.MenuItem, "Save\tCtrl+S", "Save", true},
		{desktop.MenuItem, "Save As... Ctrl+Shift+S", "save as", true},
		{desktop.Tab, "Inbox (12)", "Inbox", true},
		{desktop.Button, "保存(S)", "保存", true},
		{desktop.Button, "Bookmark this tab", "OK", false},
		{desktop.Button, "Don't Save", "Save", false},
		{desktop.Button, "Close without saving", "Close", false},
		{desktop.Button, "Delete all data", "Delete", false},
		{desktop.Button, "Delete All Data", "Delete Al Dat", false},
		{desktop.Button, "不保存", "保存", false},
		{desktop.Button, "Unlock", "Lock", false},
		{desktop.Button, "Plan (b)", "Plan (a)", false},
		{desktop.Button, "Save", "Savee", false},
		{desktop.Checkbox, "Do not ask again", "ask again", false},
		{desktop.Tab, "Page 20", "Page 2", false},
		{desktop.Button, "Don't Save", "contains:Save", true},
		{desktop.Button, "Don't Save", "/save/i", true},
		{desktop.Button, "Don't Save", "//button[contains(@name,'Save')]", true},
		{desktop.Button, "Don't Save", "role:button", true},
		{desktop.Button, "Don't Save", "role:button name:Save", false},
		{desktop.Button, "Save", "role:button name:save", true},
		{desktop.Textbox, "First name (required)", "first name", true},
		{desktop.Textbox, "First name", "name first", false},
		{desktop.Textbox, "First name", "irst name", false},
		{desktop.Link, "Read the whole story", "whole story", true},
		{desktop.Row, "report.pdf 12 KB", "report.pdf", true},
		{desktop.ListItem, "Do not disturb", "disturb", false},
		{desktop.ListItem, "Ohne Anhang senden", "senden", false},
		{desktop.ListItem, "Ne pas envoyer", "envoyer", false},
		{desktop.Link, "不保存", "保存", false},
		{desktop.Link, "保存", "保存", true},
		{desktop.Label, "Save the file", "Save", false},
		{desktop.Label, "Save", "Save", true},
	} {
		q, err := Parse(c.query, Auto)
		if err != nil {
			t.Fatal(c.query, err)
		}
		if got := q.Sure(one(c.role, c.name), 1); got != c.want {
			t.Errorf("%s %q for %q: sure is %t", c.role, c.name, c.query, got)
		}
	}
}

// Where the element has no name, what it says of itself is its name.
func TestSureOfADescription(t *testing.T) {
	s := one(desktop.Button, "")
	s.Elements[1].Description = "Bold text"
	for asked, want := range map[string]bool{"bold text": true, "bold": false} {
		if q, err := Parse(asked, Auto); err != nil || q.Sure(s, 1) != want {
			t.Errorf("%q: %v, sure is %t", asked, err, !want)
		}
	}
	s.Elements[1].Name = "B"
	if q, err := Parse("bold text", Auto); err != nil || q.Sure(s, 1) {
		t.Error("a tooltip is another's name", err)
	}
}

// Whatever the screen and the words: what fires is called what was asked for, in the
// letters and digits of it, or the query said that less will do.
func TestSureIsTheName(t *testing.T) {
	letters := func(text string) string {
		return strings.Map(func(r rune) rune {
			if wordRune(r) {
				return r
			}
			return -1
		}, strings.ToLower(text))
	}
	rapid.Check(t, func(t *rapid.T) {
		s := shottest.Any().Draw(t, "screen")
		words := rapid.SampledFrom(shottest.Names()).Draw(t, "words")
		if from := rapid.IntRange(0, 3).Draw(t, "cut"); from < len([]rune(words)) {
			words = string([]rune(words)[from:])
		}
		q, err := Parse(quote(words), Auto)
		if err != nil {
			return // nothing but spaces
		}
		for i := range s.Elements {
			e := &s.Elements[i]
			if !e.Role.Fires() || !q.Sure(s, i) || e.Identifier == words {
				continue
			}
			name := e.Name
			if name == "" {
				name = e.Description
			}
			asked := []string{letters(words)}
			if !slices.ContainsFunc(asked, func(a string) bool { return strings.HasPrefix(letters(name), a) }) || len(letters(name)) > len(letters(words))+20 {
				t.Errorf("%s %q is surely meant by %q", e.Role, name, words)
			}
		}
	})
}
