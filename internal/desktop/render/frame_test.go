package render

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/sanitize"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

// browser returns a browser's window with the tabs, the content of the page, and its overlays.
func browser(t *testing.T, tabs, page, over string) *desktop.Snapshot {
	s := snapshottest.Read(t, `
window "Press - Chromium" active
  button "Minimize"
  button "Close"
  toolbar
    button "Back" disabled desc="Press to go back"
    button "Reload"
    textbox "Address and search bar" editable value="127.0.0.1:33059"
    button "Chromium" haspopup
`+over+`  document "Press"
`+page+`  button "Tab search"
  tablist
`+tabs+`  button "New Tab"
`)
	s.App.IsBrowser, s.App.Name = true, "Chromium"
	return s
}

const (
	oneTab   = "    tab \"Press\" selected\n      button \"Close\"\n"
	pressing = "    heading \"Hello\"\n    button \"Press\"\n"
)

// TestFrame checks that a browser's frame is one line, complete on request, and that overlays of the page
// are shown.
func TestFrame(t *testing.T) {
	for name, c := range map[string]struct {
		s    *desktop.Snapshot
		o    Options
		want string
	}{
		"minimal": {browser(t, oneTab, strings.Replace(pressing, "    button", "    paragraph \"A page.\"\n    button", 1), ""), Options{Root: -1}, `
window "Press" active
  url [e2]: "127.0.0.1:33059"; 9 more: root e1
  heading "Hello"
  "A page."
  button "Press" [e3]
`},
		"tabs and a dialog": {browser(t, oneTab+"    tab \"Mail, with a very long name that nobody needs\"\n", pressing, "  dialog \"Save password?\"\n    button \"Save\"\n"), Options{Root: -1}, `
window "Press" active
  url [e2]: "127.0.0.1:33059"; tabs: [e3] "Press" selected, [e4] "Mail, with a very long name…"; 8 more: root e1
  dialog "Save password?" [e5]
    button "Save" [e6]
  document [e7]
    heading "Hello"
    button "Press" [e8]
`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Check(t, is.Equal(oneText(t, c.s, c.o), strings.TrimPrefix(c.want, "\n")), c.want)
		})
	}
	s := browser(t, oneTab, pressing, "")
	for _, o := range []Options{{Root: 0}, {Root: -1, Hidden: true}} {
		got := oneText(t, s, o)
		assert.Check(t, is.Contains(got, `"Reload"`), "%+v leaves the frame out:\n%s", o, got)
	}
	if tree, _, err := JSON(s, Options{Root: -1}); err != nil || !strings.Contains(jsonText(tree), `"document"`) {
		t.Errorf("as JSON it has no document, %v", err)
	}
	page, err := Text(s, Options{Root: -1})
	assert.NilError(t, err)
	assert.Equal(t, page.Shown, 2)
	assert.Equal(t, page.Total, 2)
	got := sanitize.EstimateTokens(page.Text)
	assert.Check(t, got <= 54, "the page is %d tokens", got)
}

// TestFrameWhosePageHasALine checks that an editable, incomplete or empty page has its own line, even if
// the window shows nothing else.
func TestFrameWhosePageHasALine(t *testing.T) {
	for name, c := range map[string]struct {
		page   string
		change func(*desktop.Element)
		want   string
	}{
		"like any":   {pressing, func(*desktop.Element) {}, ""},
		"written in": {pressing, func(e *desktop.Element) { e.States |= desktop.Editable }, "  document \"\" [e3] editable: "},
		"unread":     {pressing, func(e *desktop.Element) { e.UnreadChildren = 7 }, "  document [e3] (7 not read)\n"},
		"empty":      {"", func(*desktop.Element) {}, "  document [e3]\n"},
	} {
		s := browser(t, oneTab, c.page, "")
		for i := range s.Elements {
			if s.Elements[i].Role == desktop.Document {
				c.change(&s.Elements[i])
			}
		}
		got := oneText(t, s, Options{Root: -1})
		told := strings.Contains(got, "document")
		assert.Check(t, is.Equal(told, (c.want != "")), name)
		assert.Check(t, is.Contains(got, "9 more: root e1\n"+c.want), name)
	}
}

// TestFrameInPages checks that the second page of a long outline omits the frame.
func TestFrameInPages(t *testing.T) {
	var b strings.Builder
	for range 60 {
		b.WriteString("    heading \"A heading that takes its place on the page\"\n    button \"Press this very button\"\n")
	}
	pages := allPages(t, browser(t, oneTab, b.String(), ""), Options{Root: -1, Budget: MinBudget})
	assert.Assert(t, len(pages) >= 2, "it is one page")
	shown := 0
	for i, p := range pages {
		if shown += p.Shown; strings.Contains(p.Text, "9 more: root") != (i == 0) || strings.Contains(p.Text, "New Tab") {
			t.Errorf("page %d:\n%s", i, p.Text)
		}
	}
	assert.Check(t, is.Equal(shown, 61), "the pages show %d of 61", shown)
}

// TestFrameKeepsTheFocus checks that the focused element is always shown.
func TestFrameKeepsTheFocus(t *testing.T) {
	s := browser(t, oneTab, pressing, "")
	for i := range s.Elements {
		if s.Elements[i].Name == "Reload" {
			s.Elements[i].States |= desktop.Focused
		}
	}
	got := oneText(t, s, Options{Root: -1})
	assert.Assert(t, is.Contains(got, `button "Reload" [e2] focused`))
	assert.Assert(t, is.Contains(got, "8 more: root"))
}
