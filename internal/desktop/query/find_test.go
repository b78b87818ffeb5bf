package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

func TestLoosen(t *testing.T) {
	for text, want := range map[string]string{
		"Save": "save", "_Save As…": "save as", "Save as...": "save as", "Full name:": "full name", "Full  \t name : ": "full name",
		"E_xit": "exit", "Grüße": "grüße", "ÄRGER": "ärger", "…": "…", "_": "_", ":": ":", "...": "...", "": "", "a\u00a0b": "a b", " x": "x",
		"文件(_F)": "文件(f)", "Label…:": "label", "+": "+", "a:b": "a:b",
	} {
		assert.Check(t, is.Equal(loosen(text), want), "%q", text)
	}
}

func TestBeginsWord(t *testing.T) {
	for _, c := range []struct {
		text, part string
		want       bool
	}{
		{"disagree", "agree", false}, {"i agree", "agree", true}, {"disagree, agree", "agree", true}, {"(agree)", "agree", true},
		{"ööö", "öö", true}, {"aöö", "öö", false}, {"12", "2", false}, {"x", "xy", false}, {"日历 提醒", "提醒", true},
	} {
		assert.Check(t, is.Equal(beginsWord(c.text, c.part), c.want), "%q %q", c.text, c.part)
	}
}

// distance returns the optimal string alignment distance by its definition.
func distance(a, b []rune) int {
	switch {
	case len(a) == 0:
		return len(b)
	case len(b) == 0:
		return len(a)
	}
	cost := 1
	if a[len(a)-1] == b[len(b)-1] {
		cost = 0
	}
	best := min(distance(a[:len(a)-1], b)+1, distance(a, b[:len(b)-1])+1, distance(a[:len(a)-1], b[:len(b)-1])+cost)
	if len(a) > 1 && len(b) > 1 && a[len(a)-1] == b[len(b)-2] && a[len(a)-2] == b[len(b)-1] {
		best = min(best, distance(a[:len(a)-2], b[:len(b)-2])+1)
	}
	return best
}

func TestEditDistance(t *testing.T) {
	letters := rapid.StringOfN(rapid.RuneFrom([]rune("abcö")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := []rune(letters.Draw(t, "a")), []rune(letters.Draw(t, "b"))
		most := rapid.IntRange(0, 4).Draw(t, "most")
		want, got := distance(a, b), editDistance(a, b, most)
		assert.Assert(t, want > most || got == want, "slips(%s, %s, %d) = %d, want %d", string(a), string(b), most, got, want)
		assert.Assert(t, want <= most || got > most, "slips(%s, %s, %d) = %d, want %d", string(a), string(b), most, got, want)
	})
}

func TestEditDistanceIsBounded(t *testing.T) {
	for _, c := range []struct {
		asked, name string
		want        bool
	}{
		{"save", "svae", true}, {"save", "sav", true}, {"save", "saves", true}, {"save", "wave", true}, {"save", "have fun", false},
		{"ok", "on", false}, {"enable", "disable", false}, {"page 12", "page 13", false}, {"page 12", "pgae 12", true},
		{"settings", "setings", true}, {"settings", "sittinge", true}, {"settings", "sortings", true}, {"settings", "sortinge", false},
		{"日历提醒", "日历提示", true},
	} {
		assert.Check(t, is.Equal(newTypoMatcher(c.asked).near(c.name), c.want), "%s %s", c.asked, c.name)
	}
}

// BenchmarkFind searches 10,000 elements with each strategy.
func BenchmarkFind(b *testing.B) {
	s := snapshottest.Many(10_000)
	for _, c := range []struct{ name, query string }{
		{"exact", "Invoice Invoice 64"}, {"loose", "invoice customer 8"}, {"contains", "ustomer Custom"}, {"slip", "Archvie Downlaod"},
		{"nothing", "there is no such thing"}, {"regex", `/^Inv.*99\d$/i`}, {"terms", "role:textbox and (name:Settings or value:x)"},
		{"path", "//window/button[contains(@name,'Archive')][7]"}, {"role", "role:link"}, {"identifier", "item-9999"},
		{"nothing at all like it", "//button[@name='x']"},
	} {
		q, err := Parse(c.query, Auto)
		assert.NilError(b, err)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				q.Find(s, Options{Root: -1})
			}
		})
	}
}

// TestFindAgreesWithItself checks that results show, are in order, and are unique, and that a query for the
// exact name of an element finds it or another of that name.
func TestFindAgreesWithItself(t *testing.T) {
	s := snapshottest.Many(300)
	rapid.Check(t, func(t *rapid.T) {
		name := s.Elements[rapid.IntRange(0, len(s.Elements)-1).Draw(t, "element")].Name
		cut := rapid.IntRange(1, len([]rune(name))).Draw(t, "cut")
		if rest := []rune(name)[cut-1:]; len(rest) > 1 && unicode.IsDigit(rest[0]) && unicode.IsDigit(rest[1]) {
			cut = len([]rune(name)) // never search for a part of a number
		}
		q, err := Parse(string([]rune(name)[:cut]), Auto)
		assert.NilError(t, err)
		found := q.Find(s, Options{Root: -1})
		assert.Assert(t, len(found.Matches) != 0, "%s %+v", q, found)
		assert.Assert(t, slices.IsSorted(found.Matches), "%s %+v", q, found)
		assert.Assert(t, is.Len(slices.Compact(slices.Clone(found.Matches)), len(found.Matches)), "%s %+v", q, found)
		assert.Assert(t, cut != len([]rune(name)) || found.Strategy == NameExact && s.Elements[found.Matches[0]].Name == name, "%s %+v", q, found)
	})
}

// TestWrappersAreNotMeant checks that among nested elements of one name the query finds the control, not
// its wrappers.
func TestWrappersAreNotMeant(t *testing.T) {
	for tree, want := range map[string]int{
		"generic \"City\" does=click\n  generic \"City\" does=click\n  generic does=click\n    textbox \"City\"": 3,
		"generic \"City\" does=click\n  link \"City\"\n    button \"City\"":                                      2,
		"listitem \"City\"\n  button \"City\"":                                                                   1,
		"combobox \"City\"\n  textbox \"City\"":                                                                  0,
		"button \"City\"\n  generic \"City\" does=click":                                                         0,
		"generic \"City\" does=click\n  text \"City\"":                                                           0,
		"generic \"City Graz\" does=click\n  button \"City\"":                                                    1,
		"option \"City\"\n  checkbox \"City\"\n  button \"Go\"":                                                  1,
		"generic \"City\" does=click\n  treeitem \"City\"":                                                       1,
		"generic \"City\" does=click\n  document \"City\"":                                                       0,
		"treeitem \"City\"\n  treeitem \"City\"":                                                                 0,
		"row \"City\"\n  cell \"City\"\n    link \"City\"\n      button \"Other\"":                               2,
	} {
		s := snapshottest.Read(t, tree)
		s.App.IsBrowser = true
		if found := find(t, s, "City", Auto); !slices.Equal(found.Matches, []int{want}) {
			t.Errorf("%s\n%s", tree, say(s, found.Matches))
		}
		if s.Elements[0].Name == "City" && s.Elements[0].Role == desktop.Generic && WrappedControl(s, 0) != want {
			t.Errorf("%s\nits control is %d", tree, WrappedControl(s, 0))
		}
	}
}

// say formats elements for messages.
func say(s *desktop.Snapshot, indexes []int) string {
	var out []string
	for _, i := range indexes {
		out = append(out, fmt.Sprintf("%d %s", i, desktop.Describe(&s.Elements[i])))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// find runs a query that must be valid.
func find(t testing.TB, s *desktop.Snapshot, query string, strategy Strategy) Result {
	t.Helper()
	q, err := Parse(query, strategy)
	assert.NilError(t, err, "%q %s", query, strategy)
	return q.Find(s, Options{Root: -1})
}

// expect checks the result of a query: the strategy, and the elements as formatted by Describe.
func expect(t *testing.T, s *desktop.Snapshot, query string, asked, strategy Strategy, want ...string) {
	t.Helper()
	found := find(t, s, query, asked)
	var got []string
	for _, i := range found.Matches {
		got = append(got, desktop.Describe(&s.Elements[i]))
	}
	assert.Check(t, is.Equal(found.Strategy, strategy), "%q %s %q %q", query, asked, got, want)
	assert.Check(t, slices.Equal(got, want), "%q by %s: %s %q, want %s %q", query, asked, found.Strategy, got, strategy, want)
}

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
		assert.Check(t, is.Equal(For(s, i), want))
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
