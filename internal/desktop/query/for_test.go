package query

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

// TestFor checks that the query is natural and minimal.
func TestFor(t *testing.T) {
	s := snapshottest.Read(t, `
window "Mail" active
  toolbar
    button "Reply" id="reply" desc="Answer it"
    button desc="Archive"
    button id="spam"
    textbox value="hello"
    button "Add"
      text "Add"
  list "Inbox"
    listitem "First"
      button "Delete"
      checkbox
      checkbox
    listitem "Second"
      button "Delete"
  list "It's \"quoted\""
    listitem "First"
      button "Delete"
  button "Delete"
  dialog "Sure?" hidden
    button "Delete"
    button "Keep"
  group "Pair"
    button "Twin"
    button "Twin"
    button "That's \"it\"" 
    button "That's \"it\"" 
    button "It's"
    button "It's"
  form
    button "Send"
  button "Send"
`)
	for i, want := range map[int]string{
		0: `role:window name:"Mail"`, 2: `role:button name:"Reply"`, 3: `role:button description:"Archive"`, 4: `role:button identifier:"spam"`,
		5: `role:textbox`, 1: `role:toolbar`, 7: `role:text name:"Add"`,
		9:  `//list[@name='Inbox']//listitem[@name='First']`,
		10: `(//button[@name='Delete'])[1]`,
		11: `(//checkbox)[1]`, 12: `(//checkbox)[2]`,
		14: `//listitem[@name='Second']//button[@name='Delete']`,
		16: `(//listitem[@name='First'])[2]`,
		18: `(//button[@name='Delete'])[4]`,
		20: `//dialog[@name='Sure?']//button[@name='Delete']`,
		21: `role:button name:"Keep"`,
		26: `(//button)[12]`, 28: `(//button[@name="It's"])[2]`, 30: `(//button[@name='Send'])[1]`,
		24: `(//button[@name='Twin'])[2]`,
	} {
		if got := For(s, i); got != want {
			t.Errorf("element %d, %s: %s; want %s", i, desktop.Describe(&s.Elements[i]), got, want)
		}
	}
	for _, i := range []int{-1, len(s.Elements)} {
		got := For(s, i)
		assert.Check(t, is.Equal(got, ""), "there is no element %d, and it is called %s", i, got)
	}
}

// TestForFindsExactlyIt checks that each element of any snapshot has a query that finds only this element
// and permits actions on it.
func TestForFindsExactlyIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := snapshottest.Random().Draw(t, "snapshot")
		if len(s.Elements) == 0 {
			return
		}
		i := rapid.IntRange(0, len(s.Elements)-1).Draw(t, "element")
		text := For(s, i)
		q, err := Parse(text, Auto)
		assert.NilError(t, err, "%q", text)
		found := q.Find(s, Options{Root: -1, Hidden: !s.IsVisible(i)})
		if !slices.Equal(found.Matches, []int{i}) || !allowsAction(q, s, i) {
			t.Fatalf("%s for element %d finds %s, surely: %v", text, i, say(s, found.Matches), allowsAction(q, s, i))
		}
	})
}
