package render

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/sanitize"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

func TestGolden(t *testing.T) {
	for name, c := range map[string]struct {
		screen string
		o      Options
	}{
		"editor":         {snapshottest.Editor, Options{Root: -1}},
		"editor-hidden":  {snapshottest.Editor, Options{Root: -1, Hidden: true}},
		"editor-compact": {snapshottest.Editor, Options{Root: -1, Compact: true}},
		"calculator":     {snapshottest.Calculator, Options{Root: -1}},
		"form":           {snapshottest.Form, Options{Root: -1}},
		"form-small":     {snapshottest.Form, Options{Root: -1, Budget: MinBudget}},
		"form-depth":     {snapshottest.Form, Options{Root: -1, MaxDepth: 2}},
		"table":          {snapshottest.Table(200), Options{Root: -1}},
		"files":          {snapshottest.Files(), Options{Root: -1}},
		"docs":           {snapshottest.Docs(60), Options{Root: -1}},
		"docs-short":     {snapshottest.Docs(4), Options{Root: -1, Budget: 600}},
		"sheet":          {snapshottest.Sheet(), Options{Root: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for i, p := range allPages(t, snapshottest.Read(t, c.screen), c.o) {
				fmt.Fprintf(&b, "== page %d: %d tokens, %d of %d, %q\n%s", i+1, p.Tokens, p.Shown, p.Total, p.Warnings, p.Text)
			}
			golden(t, name, b.String())
		})
	}
}

func TestJSONGolden(t *testing.T) {
	for name, screen := range map[string]string{"form.json": snapshottest.Form, "table.json": snapshottest.Table(200)} {
		t.Run(name, func(t *testing.T) {
			s := snapshottest.Read(t, screen)
			s.Elements[1].Frame = desktop.Rect{X: 1, Y: 2, W: 30, H: 40}
			tree, _, err := JSON(s, Options{Root: -1, Budget: 4000})
			assert.NilError(t, err)
			text, err := json.MarshalIndent(tree, "", " ")
			assert.NilError(t, err)
			golden(t, name, string(text)+"\n")
		})
	}
}

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

// allPages returns all pages of an outline.
func allPages(t testing.TB, s *desktop.Snapshot, o Options) []Page {
	t.Helper()
	var pages []Page
	for {
		p, err := Text(s, o)
		assert.NilError(t, err, "%d", len(pages)+1)
		pages = append(pages, p)
		if p.More == "" {
			return pages
		}
		assert.Assert(t, len(pages) <= 3*len(s.Elements)+3, "%d pages for %d elements", len(pages), len(s.Elements))
		o.After = p.More
	}
}

func oneText(t testing.TB, s *desktop.Snapshot, o Options) string {
	t.Helper()
	p, err := Text(s, o)
	assert.NilError(t, err)
	return p.Text
}

// golden compares got with a file in testdata; UPDATE_GOLDEN=1 writes the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		assert.NilError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(string(want), got), "%s", path)
}

// windowOf returns a window with the given texts.
func windowOf(t testing.TB, words string) *desktop.Snapshot {
	roles := []string{"button", "menuitem", "checkbox checkable", "text", "link", "label", "tab selectable", "heading", "radio checkable checked", "button", "textbox editable"}
	var b strings.Builder
	b.WriteString("window \"Test\" active\n")
	for i, name := range strings.Split(words, "|") {
		role, states, _ := strings.Cut(roles[i%len(roles)], " ")
		value := ""
		if role == "textbox" {
			value = fmt.Sprintf(" value=%q", name)
		}
		fmt.Fprintf(&b, "  %s %q %s%s\n", role, name, states, value)
	}
	return snapshottest.Read(t, b.String())
}

// TestTokensOfOutlines compares the estimate for whole outlines with the real vocabulary.
func TestTokensOfOutlines(t *testing.T) {
	outlines := map[string]string{}
	for language, words := range tokencount.SampleTexts() {
		s := windowOf(t, words)
		outlines[language] = oneText(t, s, Options{Root: -1})
		outlines[language+", compact"] = oneText(t, s, Options{Root: -1, Compact: true})
		_, page, err := JSON(s, Options{Root: -1, Budget: 9000})
		assert.NilError(t, err)
		outlines[language+", JSON"] = page.Text
	}
	for name, screen := range map[string]string{
		"editor": snapshottest.Editor, "calculator": snapshottest.Calculator, "form": snapshottest.Form, "table": snapshottest.Table(200), "files": snapshottest.Files(), "docs": snapshottest.Docs(60), "sheet": snapshottest.Sheet(),
	} {
		for i, p := range allPages(t, snapshottest.Read(t, screen), Options{Root: -1}) {
			outlines[fmt.Sprintf("%s, page %d", name, i+1)] = p.Text
		}
	}
	for name, text := range outlines {
		estimate, real := sanitize.EstimateTokens(text), tokencount.Count(t, text)
		t.Logf("%-20s %5d of %5d: %+.1f %%", name, estimate, real, 100*float64(estimate-real)/float64(real))
		assert.Check(t, !(float64(estimate) < 0.97*float64(real)), "%s: estimated %d, it is %d tokens", name, estimate, real)
		assert.Check(t, !(float64(estimate) > 1.15*float64(real)+1), "%s: estimated %d, it is %d tokens", name, estimate, real)
	}
}

func BenchmarkOutline(b *testing.B) {
	for _, c := range []struct {
		name   string
		screen string
	}{{"form", snapshottest.Form}, {"docs-1300", snapshottest.Docs(78)}, {"table-1200", snapshottest.Table(200)}, {"docs-10000", snapshottest.Docs(590)}, {"table-10000", snapshottest.Table(1670)}} {
		s := snapshottest.Read(b, c.screen)
		b.Run(fmt.Sprintf("%s=%d", c.name, len(s.Elements)), func(b *testing.B) {
			for b.Loop() {
				_, err := Text(s, Options{Root: -1})
				assert.NilError(b, err)
			}
		})
	}
}
