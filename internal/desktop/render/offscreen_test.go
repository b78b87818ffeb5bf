package render

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

// longPage is a page with mostly off-screen content.
const longPage = `
window "W" active
  generic hidden
    button "Nowhere" hidden
  document "D"
    button "A"
    paragraph "one" hidden offscreen
    list "L"
      listitem "x"
      listitem "y" hidden offscreen
    generic hidden offscreen
      button "Far" hidden offscreen
      button "Shut" hidden
`

// TestOutOfView checks that off-screen elements are counted, and follow all showing ones, under their
// parents.
func TestOutOfView(t *testing.T) {
	pages := allPages(t, snapshottest.Read(t, longPage), Options{Root: -1})
	want := []string{
		"window \"W\" [e1] active\n  document \"D\" [e2]\n    button \"A\" [e3]\n    list \"L\" [e4]\n      listitem \"x\"\n",
		"window \"W\" [e1] …\n  document \"D\" [e2] …\n    \"one\"\n    list \"L\" [e3] …\n      listitem \"y\"\n    button \"Far\" [e4]\n",
	}
	assert.Assert(t, is.Len(pages, 2))
	assert.Equal(t, pages[0].Text, want[0])
	assert.Equal(t, pages[1].Text, want[1])
	p := pages[0]
	assert.Equal(t, p.Offscreen, "1 button, 1 paragraph, 1 listitem", "%+v", p)
	assert.Assert(t, IsOffscreenCursor(p.More), "%+v", p)
	assert.Equal(t, p.Shown, 1, "%+v", p)
	assert.Equal(t, p.Total, 1, "%+v", p)
	p = pages[1]
	assert.Check(t, is.Equal(p.Offscreen, ""), "%+v", p)
	assert.Check(t, is.Equal(p.Shown, 1), "%+v", p)
	assert.Check(t, is.Equal(p.Total, 1), "%+v", p)
}

// TestRootOutOfView checks that an off-screen root is rendered like a showing one.
func TestRootOutOfView(t *testing.T) {
	s := snapshottest.Read(t, longPage)
	for i := range s.Elements {
		if s.Elements[i].Role == desktop.Generic && s.IsOffscreen(i) {
			assert.Check(t, is.Equal(oneText(t, s, Options{Root: i}), "generic\n  button \"Far\" [e1]\n"))
		}
	}
}

// TestOutOfViewOfAHiddenRoot checks that off-screen elements of a hidden root follow it, if requested by
// its ref.
func TestOutOfViewOfAHiddenRoot(t *testing.T) {
	for _, states := range []string{"hidden", "hidden offscreen"} {
		s := snapshottest.Read(t, "window \"W\" hidden\n  group \"G\" "+states+"\n    button \"A\"\n    button \"Far\" hidden offscreen\n")
		pages := allPages(t, s, Options{Root: 1})
		want := []string{"group \"G\" hidden\n  button \"A\" [e1] hidden\n", "group \"G\" …\n  button \"Far\" [e1]\n"}
		assert.Assert(t, is.Len(pages, 2), states)
		assert.Equal(t, pages[0].Text, want[0], states)
		assert.Equal(t, pages[1].Text, want[1], states)
	}
}

// TestMixed checks that words and the actionable elements between them keep their order.
func TestMixed(t *testing.T) {
	const mixed = "paragraph \"See the terms, and go.\"\n  text \"See\"\n  link \"the terms\"\n  text \", and\"\n  text \"go.\"\n"
	got, want := oneText(t, snapshottest.Read(t, mixed), Options{Root: -1}), "paragraph: \"See\", link \"the terms\" [e1], \", and go.\"\n"
	assert.Check(t, is.Equal(got, want))
	const heading = "heading \"News #\"\n  text \"News\"\n  link \"#\"\n"
	got, want = oneText(t, snapshottest.Read(t, heading), Options{Root: -1}), "heading \"News #\": link \"#\" [e1]\n"
	assert.Check(t, is.Equal(got, want))
}

// TestCutText checks that only a truncated text has a ref.
func TestCutText(t *testing.T) {
	s := snapshottest.Read(t, "window \"W\"\n  paragraph \""+strings.Repeat("long ", 80)+"\"\n  paragraph \"short\"\n")
	ref, _ := refs(s, false)
	got := oneText(t, s, Options{Root: -1, Ref: ref})
	assert.Assert(t, is.Contains(got, "…\" [e2]\n"))
	assert.Assert(t, is.Contains(got, "  \"short\"\n"))
}
