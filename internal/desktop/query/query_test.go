package query

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

// editor is a window with many kinds of elements.
const editor = `
window "notes.txt - Pad" active
  menubar
    menuitem "_File"
      menu hidden
        menuitem "Print" hidden
        menuitem "Save" hidden
    menuitem "_Edit"
  toolbar
    button "Open…"
    button "Save draft" id="save-draft"
    button "Autosave"
    button "" desc="Closes the tab"
    button "Don't ask"
  group "Details"
    label "Full name:"
    textbox "Full name:" id="name" value="Ann Lee" editable
    label "Secret"
    textbox "Secret" password editable
    checkbox "Disagree"
    slider "Volume" value="40"
    link "Page 12"
    link "Page 13"
  list "Fruits"
    option "Apple" pos=1 size=3
    option "Apple pie" pos=2 size=3
    option "日历 提醒" pos=3 size=3
  heading "Save your work"
  text "Status: ready"
dialog "Really?"
  button "OK"
    text "OK"
  link "Go on"
  status "ready"
`

func TestPlainWords(t *testing.T) {
	s := snapshottest.Read(t, editor)
	for _, c := range snapshottest.Rows[struct {
		Query    string
		Strategy Strategy
		Want     []string
	}](t, "words.json") {
		expect(t, s, c.Query, Auto, c.Strategy, c.Want...)
	}
}

func TestInteractiveElementsComeFirst(t *testing.T) {
	s := snapshottest.Read(t, `
window "Save"
  heading "Save"
  group "Save"
    button "Save"
      text "Save"
  treeitem "Save" expandable
    cell "Save"
    treeitem "Other"
      treeitem "Save"
  document "Save" editable
`)
	found := find(t, s, "Save", Auto)
	if want := []int{3, 5, 8, 9}[:0]; len(found.Matches) != 3 || !slices.Equal(found.Matches, append(want, 3, 5, 9)) {
		t.Errorf("Save: %s", say(s, found.Matches))
	}
	// A query with a role requires it.
	expect(t, s, "role:heading Save", Auto, TermsExact, `heading "Save"`)
	expect(t, s, "role:window name:Save", Auto, TermsExact, `window "Save"`)
	// A label's text finds the labelled list.
	s = snapshottest.Read(t, "label \"Sizes\"\n  text \"Sizes\"\n  listbox \"Sizes\"\n    option \"Small\"")
	expect(t, s, "Sizes", Auto, NameExact, `listbox "Sizes"`)
	// If none of the matches is interactive, the outermost wins.
	s = snapshottest.Read(t, "row \"Total\"\n  cell \"Total\"\n    text \"Total\"\n  cell \"Total 12\"\ntext \"Total\"")
	if found := find(t, s, "Total", Auto); !slices.Equal(found.Matches, []int{0, 4}) {
		t.Errorf("Total: %s", say(s, found.Matches))
	}
}

// TestNumbers checks that a number never matches a part of another one.
func TestNumbers(t *testing.T) {
	s := snapshottest.Read(t, "listbox\n  option \"Fruit 2\" hidden\n  option \"Fruit 20\"\n  option \"Fruit 12\"\n  option \"Version 2.5\"")
	for _, query := range []string{"Fruit 2", `option "Fruit 2"`, "option Fruit 2", `title:"Fruit 2"`, `role:option title:"Fruit 2"`} {
		found := find(t, s, query, Auto)
		assert.Assert(t, is.Len(found.Matches, 0), "%s %+v", query, found)
		assert.Assert(t, slices.Equal(found.HiddenMatches, []int{1}), "%s %+v", query, found)
	}
	for query, want := range map[string]int{"Fruit 20": 2, "option 12": 3, "ruit 12": 3, "Version 2": 4} {
		found := find(t, s, query, Auto)
		assert.Check(t, slices.Equal(found.Matches, []int{want}), "%s %+v %d", query, found, want)
	}
}

func TestHidden(t *testing.T) {
	s := snapshottest.Read(t, editor)
	found := find(t, s, "Print", Auto)
	assert.Assert(t, is.Len(found.Matches, 0), "%+v", found)
	assert.Assert(t, found.Strategy == "", "Print: %+v", found)
	assert.Assert(t, is.Len(found.HiddenMatches, 1), "%+v", found)
	assert.Equal(t, s.Elements[found.HiddenMatches[0]].Name, "Print", "%+v", found)
	// A misspelled match does not count if a hidden element fits exactly.
	s2 := snapshottest.Read(t, "window\n  button \"Prins\"\n  menu hidden\n    menuitem \"Print\"")
	found = find(t, s2, "Print", Auto)
	assert.Assert(t, is.Len(found.Matches, 0), "%+v", found)
	assert.Assert(t, slices.Equal(found.HiddenMatches, []int{3}), "Print: %+v", found)
	assert.Assert(t, slices.Contains(found.Suggestions, 1), "Print: %+v", found)
	// It does not suggest a hidden element either, but words with the role do.
	found = find(t, s2, "menuitem Print", Auto)
	assert.Assert(t, is.Len(found.Matches, 0), "%+v", found)
	assert.Assert(t, slices.Equal(found.HiddenMatches, []int{3}), "menuitem Print: %+v", found)
	found = find(t, s2, "Pritn", Auto)
	assert.Check(t, is.Len(found.HiddenMatches, 0), "%+v", found)
	q, _ := Parse("Print", Auto)
	found = q.Find(s2, Options{Root: -1, Hidden: true})
	assert.Check(t, is.Equal(found.Strategy, NameExact), "%+v", found)
	assert.Check(t, slices.Equal(found.Matches, []int{3}), "hidden too: %+v", found)
	q, _ = Parse("//menuitem", Auto)
	found = q.Find(s2, Options{Root: -1})
	assert.Assert(t, slices.Equal(found.HiddenMatches, []int{3}), "path: %+v", found)
	assert.Assert(t, is.Len(found.Matches, 0), "%+v", found)
}

func TestRoot(t *testing.T) {
	s := snapshottest.Read(t, "window \"A\"\n  button \"OK\"\nwindow \"B\"\n  group \"B\"\n    button \"OK\"\n  button \"OK\"")
	for root, want := range map[int][]int{-1: {1, 4, 5}, 0: {1}, 2: {4, 5}, 3: {4}, 5: {5}, 6: nil, 99: nil} {
		for _, query := range []string{"OK", "role:button", "//button", "/OK/"} {
			q, err := Parse(query, Auto)
			assert.NilError(t, err)
			found := q.Find(s, Options{Root: root})
			assert.Check(t, slices.Equal(found.Matches, want), "%s %d %v %v", query, root, found.Matches, want)
		}
	}
	q, _ := Parse("/window/button", XPath)
	found := q.Find(s, Options{Root: 2})
	assert.Check(t, slices.Equal(found.Matches, []int{5}), "the root is the path's first step: %v", found.Matches)
}

func TestNearestShow(t *testing.T) {
	s := snapshottest.Read(t, editor)
	for query, want := range map[string]string{
		"Saved my drafts":       `button "Save draft"`,
		"role:button Volumme":   `slider "Volume"`,
		"//link[@name='Goo n']": `link "Go on"`,
		"Page 14":               `link "Page 12"`,
		"/^Page 9+$/":           `link "Page 12"`,
	} {
		found := find(t, s, query, Auto)
		if len(found.Matches) > 0 || len(found.Suggestions) == 0 || len(found.Suggestions) > 5 || desktop.Describe(&s.Elements[found.Suggestions[0]]) != want {
			t.Errorf("%s: %s, near are %s; want %s first", query, say(s, found.Matches), say(s, found.Suggestions), want)
		}
		for _, i := range found.Suggestions {
			if !s.IsVisible(i) {
				t.Errorf("%s: %s is near but hidden", query, desktop.Describe(&s.Elements[i]))
			}
		}
	}
	s2 := snapshottest.Read(t, "window\n  button \"Save draft\"\n    text \"Save draft\"\n  group \"Save drafts\"")
	if found := find(t, s2, "Saved my draft", Auto); !slices.Equal(found.Suggestions, []int{1, 3}) {
		t.Errorf("near are %s", say(s2, found.Suggestions))
	}
	s3 := snapshottest.Read(t, "window \"W\"\n  button \"Don't remove\"\n  button \"Remove all\"\n  button \"Removed\"")
	if found := find(t, s3, "button title:Remove", Auto); len(found.Suggestions) == 0 || found.Suggestions[0] == 1 {
		t.Errorf("near are %s", say(s3, found.Suggestions))
	}
	if found := find(t, s, "role:tree", Auto); len(found.Suggestions) > 0 {
		t.Errorf("near to a role: %s", say(s, found.Suggestions))
	}
}

func TestOtherStrategies(t *testing.T) {
	s := snapshottest.Read(t, editor)
	expect(t, s, "apple", Exact, "")
	expect(t, s, "Apple", Exact, NameExact, `option "Apple"`)
	expect(t, s, "Ann Lee", Exact, ValueExact, `textbox "Full name:"`)
	expect(t, s, "name:apple", Exact, "")
	expect(t, s, "name:Apple", Exact, TermsExact, `option "Apple"`)
	expect(t, s, "apple", Contains, NameContains, `option "Apple"`, `option "Apple pie"`)
	expect(t, s, "name:apple", Contains, TermsContains, `option "Apple"`, `option "Apple pie"`)
	expect(t, s, "//button", Contains, "")
	expect(t, s, `^page \d+$`, Regex, "")
	expect(t, s, `^Page \d+$`, Regex, Regex, `link "Page 12"`, `link "Page 13"`)
	expect(t, s, `/^page \d+$/i`, Regex, Regex, `link "Page 12"`, `link "Page 13"`)
	expect(t, s, `^Ann`, Regex, Regex, `textbox "Full name:"`)
	expect(t, s, "Slider", ByRole, ByRole, `slider "Volume"`)
	expect(t, s, "role:AXSlider", ByRole, ByRole, `slider "Volume"`)
	expect(t, s, "name", Identifier, IdentifierExact, `textbox "Full name:"`)
	expect(t, s, "Name", Identifier, "")
	expect(t, s, "slider", XPath, XPath, `slider "Volume"`)
	expect(t, s, "Apple", "", NameExact, `option "Apple"`)
}

func TestBadQueries(t *testing.T) {
	deep := strings.Repeat("(", 30) + "role:button" + strings.Repeat(")", 30)
	type badQuery struct {
		Query    string
		Strategy Strategy
		Want     string // part of the message
		Near     string // a candidate
	}
	for _, c := range append(snapshottest.Rows[badQuery](t, "bad.json"), []badQuery{
		{"a\xff", Auto, "not UTF-8", ""},
		{strings.Repeat("x", MaxLength+1), Auto, "2001 bytes", ""},
		{deep, Auto, "more than 20", ""},
		{"//*[" + strings.Repeat("not(", 25) + "@name" + strings.Repeat(")", 25) + "]", Auto, "more than 20", ""},
		{strings.Repeat("x", MaxPattern+1), Regex, "1001 bytes", ""},
		{strings.Repeat("(x{900}){1}", 40), Regex, "too large", ""},
	}...) {
		_, err := Parse(c.Query, c.Strategy)
		var e *aai.Error
		if !errors.As(err, &e) || e.Code != aai.InvalidParams {
			t.Errorf("Parse(%.60q): %v", c.Query, err)
			continue
		}
		fits := slices.ContainsFunc(strings.Split(c.Want, "|"), func(w string) bool { return strings.Contains(e.Message, w) })
		if !fits || !strings.HasPrefix(e.Message, "query, character ") || e.Hint == "" || len(e.Message) > 500 {
			t.Errorf("Parse(%.60q): %s (%s), want %s", c.Query, e.Message, e.Hint, c.Want)
		}
		if c.Near != "" && !slices.Contains(e.Candidates, c.Near) {
			t.Errorf("Parse(%.60q): candidates %q, want %s", c.Query, e.Candidates, c.Near)
		}
	}
}
