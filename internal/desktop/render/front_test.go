package render

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

// TestDialogFirst checks that the frontmost dialog comes first, at any place in the tree, with unchanged
// refs.
func TestDialogFirst(t *testing.T) {
	s := snapshottest.Read(t, `
window "Notes"
  button "New"
  document "Page"
    heading "Long"
    group "Body"
      button "Pay"
      dialog "Sure?" modal
        text "It cannot be undone"
        button "Yes"
  button "End"
window "Other"
  button "Idle"
`)
	refs := map[int]string{}
	ref := func(i int) string {
		refs[i] = s.Elements[i].Name
		return "e" + string(rune('a'+i))
	}
	const want = `window "Notes" [ea]
  document "Page" [ec]
    group "Body"
      dialog "Sure?" [eg] modal
        text "It cannot be undone"
        button "Yes" [ei]
      button "Pay" [ef]
    heading "Long"
  button "New" [eb]
  button "End" [ej]
window "Other" [ek]: button "Idle" [el]
`
	page, err := Text(s, Options{Root: -1, Ref: ref})
	assert.NilError(t, err, page.Text)
	assert.Equal(t, strings.ReplaceAll(page.Text, "[ek]\n  button", "[ek]: button"), want, page.Text)
	assert.Check(t, is.Equal(refs[8], "Yes"), "refs were asked for of %v", refs)
	for text, want := range map[string]int{
		"window \"A\"\ndialog \"B\" active\n": 1, "window \"A\" active\ndialog \"B\"\n": -1, "dialog \"A\" modal\ndialog \"B\" modal\n": 1,
		"window \"A\"\ndialog \"B\" modal hidden\n": -1, "window \"A\"\n  dialog \"B\"\n": -1,
	} {
		assert.Check(t, is.Equal(inFront(snapshottest.Read(t, text)), want), "%q", text)
	}
}

// TestDialogFirstLosesNothing checks that each element appears once, under its parent, for any frontmost
// dialog.
func TestDialogFirstLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := snapshottest.Random().Draw(t, "snapshot")
		was := map[int]int{}
		first, o := dialogFirst(s, Options{Root: -1, Ref: func(i int) string { was[len(was)] = i; return "" }})
		assert.Assert(t, is.Len(first.Elements, len(s.Elements)), "%d", len(s.Elements))
		for i := range first.Elements {
			o.Ref(i)
			now, then := first.Elements[i], s.Elements[was[i]]
			assert.Equal(t, now.ID, then.ID, "%d %d %+v %+v", i, was[i], now, then)
			assert.Equal(t, now.End-i, then.End-was[i], "%d %d %+v %+v", i, was[i], now, then)
			assert.Equal(t, (now.Parent < 0), (then.Parent < 0), "%d %d %+v %+v", i, was[i], now, then)
			assert.Assert(t, now.Parent < 0 || first.Elements[now.Parent].ID == s.Elements[then.Parent].ID, "%d %d %+v %+v", i, was[i], now, then)
		}
		if dialog := inFront(s); dialog >= 0 {
			at := first.Index(s.Elements[dialog].ID)
			for p := first.Elements[at].Parent; p >= 0; p = first.Elements[p].Parent {
				at--
				assert.Equal(t, at, p, "something stands before the dialog")
			}
			assert.Equal(t, at, 0, "something stands before the dialog's window")
		}
	})
}
