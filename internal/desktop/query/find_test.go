package query

import (
	"slices"
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
