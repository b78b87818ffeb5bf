package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
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
		assert.Check(t, is.Equal(strings.Contains(got, "document"), (c.want != "")), name)
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

// links returns a page of distinct links.
func links(n int) string {
	var b strings.Builder
	b.WriteString("window \"Links\"\n")
	for i := range n {
		fmt.Fprintf(&b, "  link \"Link %d\" key=link%d\n  heading \"Heading %d\" key=heading%d\n", i, i, i, i)
	}
	return b.String()
}

func without(s *desktop.Snapshot, ids ...desktop.ID) *desktop.Snapshot {
	t := *s
	t.Elements = nil
	for _, e := range s.Elements {
		if !slices.Contains(ids, e.ID) {
			e.End = 0
			t.Elements = append(t.Elements, e) // all belong to the first window
		}
	}
	desktop.SetEnds(t.Elements)
	return &t
}

// TestCursorSurvivesChanges checks that the next page begins at the end of the first one even if elements
// before it or there were removed.
func TestCursorSurvivesChanges(t *testing.T) {
	s := snapshottest.Read(t, links(200))
	p, err := Text(s, Options{Root: -1})
	assert.NilError(t, err, "%+v", p)
	assert.Assert(t, p.More != "", "%+v", p)
	next := 0
	for strings.Contains(p.Text, fmt.Sprintf("\"Link %d\"", next)) {
		next++
	}
	link, heading := desktop.ID(fmt.Sprintf("link%d", next)), desktop.ID(fmt.Sprintf("heading%d", next-1))
	for name, c := range map[string]struct {
		now  *desktop.Snapshot
		want string
	}{
		"nothing":       {s, fmt.Sprintf(`link "Link %d"`, next)},
		"some before":   {without(s, "link3", "heading4", "link5"), fmt.Sprintf(`link "Link %d"`, next)},
		"the next one":  {without(s, link), fmt.Sprintf(`heading "Heading %d"`, next)},
		"the one told":  {without(s, heading), fmt.Sprintf(`link "Link %d"`, next)},
		"other version": {&desktop.Snapshot{App: s.App, Elements: s.Elements, Version: 99}, fmt.Sprintf(`link "Link %d"`, next)},
	} {
		t.Run(name, func(t *testing.T) {
			text := oneText(t, c.now, Options{Root: -1, After: p.More})
			lines := strings.Split(text, "\n")
			if lines[0] != `window "Links" [e1] …` || !strings.HasPrefix(lines[1], "  "+c.want) && !strings.HasPrefix(lines[1], strings.Replace("  "+c.want, " \"", ": \"", 1)) {
				t.Errorf("want %s:\n%s", c.want, text[:200])
			}
		})
	}
	for name, now := range map[string]*desktop.Snapshot{
		"both gone":   without(s, link, heading),
		"another app": {App: desktop.App{Key: ":1.8"}, Elements: s.Elements},
		"no elements": {App: s.App},
	} {
		_, err := Text(now, Options{Root: -1, After: p.More})
		var e *aai.Error
		assert.Assert(t, errors.As(err, &e), "%s %v", name, err)
		assert.Equal(t, e.Code, aai.InvalidParams, "%s %v", name, err)
		assert.Assert(t, is.Contains(e.Hint, "beginning"), "%s %v", name, err)
	}
}

// TestCursorIsOfItsRoot checks that a cursor outside of the root is invalid.
func TestCursorIsOfItsRoot(t *testing.T) {
	s := snapshottest.Read(t, links(200)+"window \"Other\"\n  button \"B\"\n")
	p, err := Text(s, Options{Root: 0})
	assert.NilError(t, err)
	assert.Assert(t, p.More != "")
	_, err = Text(s, Options{Root: len(s.Elements) - 2, After: p.More})
	assert.Assert(t, aai.AsError(err) != nil, err)
	assert.Equal(t, aai.AsError(err).Code, aai.InvalidParams, err)
}

func FuzzCursor(f *testing.F) {
	s := snapshottest.Read(f, links(200))
	p, err := Text(s, Options{Root: -1})
	assert.NilError(f, err)
	for _, c := range []string{"", "p", p.More, p.More[:len(p.More)-3], p.More + "A", "p////", "q" + p.More[1:], "\xff"} {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		p, err := Text(s, Options{Root: -1, After: cursor})
		if err != nil {
			assert.Check(t, is.Equal(aai.AsError(err).Code, aai.InvalidParams), err)
			assert.Check(t, len(err.Error()) <= 300, err)
			return
		}
		assert.Check(t, p.Tokens <= DefaultBudget, "%+v", p)
		assert.Check(t, p.Text != "", "%+v", p)
	})
}
