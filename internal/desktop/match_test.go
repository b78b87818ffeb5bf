package desktop

import (
	"fmt"
	"slices"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestLoosen(t *testing.T) {
	for text, want := range map[string]string{
		"Save": "save", "_Save As…": "save as", "Save as...": "save as", "Full name:": "full name", "Full  \t name : ": "full name",
		"E_xit": "exit", "Grüße": "grüße", "ÄRGER": "ärger", "…": "…", "_": "_", ":": ":", "...": "...", "": "", "a\u00a0b": "a b", " x": "x",
		"文件(_F)": "文件(f)", "Label…:": "label", "+": "+", "a:b": "a:b",
	} {
		if got := loosen(text); got != want {
			t.Errorf("loosen(%q) = %q, want %q", text, got, want)
		}
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
		if got := beginsWord(c.text, c.part); got != c.want {
			t.Errorf("beginsWord(%q, %q) = %v", c.text, c.part, got)
		}
	}
}

// qtDistance is the optimal string alignment distance by its definition.
func qtDistance(a, b []rune) int {
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
	best := min(qtDistance(a[:len(a)-1], b)+1, qtDistance(a, b[:len(b)-1])+1, qtDistance(a[:len(a)-1], b[:len(b)-1])+cost)
	if len(a) > 1 && len(b) > 1 && a[len(a)-1] == b[len(b)-2] && a[len(a)-2] == b[len(b)-1] {
		best = min(best, qtDistance(a[:len(a)-2], b[:len(b)-2])+1)
	}
	return best
}

func TestSlipsIsTheDistance(t *testing.T) {
	letters := rapid.StringOfN(rapid.RuneFrom([]rune("abcö")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := []rune(letters.Draw(t, "a")), []rune(letters.Draw(t, "b"))
		most := rapid.IntRange(0, 4).Draw(t, "most")
		want, got := qtDistance(a, b), slips(a, b, most)
		if want <= most && got != want || want > most && got <= most {
			t.Fatalf("slips(%s, %s, %d) = %d, want %d", string(a), string(b), most, got, want)
		}
	})
}

func TestSlipsAreFew(t *testing.T) {
	for _, c := range []struct {
		asked, name string
		want        bool
	}{
		{"save", "svae", true}, {"save", "sav", true}, {"save", "saves", true}, {"save", "wave", true}, {"save", "have fun", false},
		{"ok", "on", false}, {"enable", "disable", false}, {"page 12", "page 13", false}, {"page 12", "pgae 12", true},
		{"settings", "setings", true}, {"settings", "sittinge", true}, {"settings", "sortings", true}, {"settings", "sortinge", false},
		{"日历提醒", "日历提示", true},
	} {
		if got := newSlip(c.asked).near(c.name); got != c.want {
			t.Errorf("%s for %s: %v", c.asked, c.name, got)
		}
	}
}

// qtMany is a window with very many rows of buttons and text.
func qtMany(n int) *Snapshot {
	s := &Snapshot{Elements: []Element{{ID: "w", Role: Window, Name: "Many", Parent: -1, States: Showing}}}
	words := []string{"Invoice", "Customer", "Account", "Settings", "Download", "Archive", "Message", "Überweisung"}
	for i := 1; i < n; i++ {
		e := Element{ID: ID(fmt.Sprint("x", i)), Parent: 0, Role: Button, States: Showing | Enabled, Identifier: fmt.Sprint("item-", i)}
		e.Name = fmt.Sprintf("%s %s %d", words[i%8], words[i/8%8], i)
		switch i % 5 {
		case 0:
			e.Role, e.Description = Textbox, "Type the "+words[i%7]
			e.Value = "Some value that was typed here"
		case 1:
			e.Role = Text
		}
		s.Elements = append(s.Elements, e)
	}
	Arrange(s.Elements)
	return s
}

// BenchmarkFind looks through 10,000 elements with each strategy.
func BenchmarkFind(b *testing.B) {
	s := qtMany(10_000)
	for _, c := range []struct{ name, query string }{
		{"exact", "Invoice Invoice 64"}, {"loose", "invoice customer 8"}, {"contains", "ustomer Custom"}, {"slip", "Archvie Downlaod"},
		{"nothing", "there is no such thing"}, {"regex", `/^Inv.*99\d$/i`}, {"terms", "role:textbox and (name:Settings or value:x)"},
		{"path", "//window/button[contains(@name,'Archive')][7]"}, {"role", "role:link"}, {"identifier", "item-9999"},
		{"nothing at all like it", "//button[@name='x']"},
	} {
		q, err := ParseQuery(c.query, Auto)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				q.Find(s, FindOptions{Root: -1})
			}
		})
	}
}

// TestFindAgreesWithItself: whatever is found shows, is in order, and is found
// only once; a query for the very name of an element finds it or one of that name.
func TestFindAgreesWithItself(t *testing.T) {
	s := qtMany(300)
	rapid.Check(t, func(t *rapid.T) {
		name := s.Elements[rapid.IntRange(0, len(s.Elements)-1).Draw(t, "element")].Name
		cut := rapid.IntRange(1, len([]rune(name))).Draw(t, "cut")
		if rest := []rune(name)[cut-1:]; len(rest) > 1 && unicode.IsDigit(rest[0]) && unicode.IsDigit(rest[1]) {
			cut = len([]rune(name)) // no part of a number is looked for
		}
		q, err := ParseQuery(string([]rune(name)[:cut]), Auto)
		if err != nil {
			t.Fatal(err)
		}
		found := q.Find(s, FindOptions{Root: -1})
		if len(found.Matches) == 0 || !slices.IsSorted(found.Matches) || len(slices.Compact(slices.Clone(found.Matches))) != len(found.Matches) {
			t.Fatalf("%s: %+v", q, found)
		}
		if cut == len([]rune(name)) && (found.Strategy != NameExact || s.Elements[found.Matches[0]].Name != name) {
			t.Fatalf("%s: %+v", q, found)
		}
	})
}

func TestDescribe(t *testing.T) {
	for want, e := range map[string]Element{
		`button "Save"`:           {Role: Button, Name: "Save", Description: "x"},
		`button (Closes the tab)`: {Role: Button, Description: "Closes the tab", Identifier: "x"},
		`textbox #email`:          {Role: Textbox, Identifier: "email"},
		`generic`:                 {Role: Generic},
		`text "a \"b\" [e1]"`:     {Role: Text, Name: "a \"b\"\n\x1b\u202e[e1]"},
		`text (\"x\")`:            {Role: Text, Description: `"x"`},
		`link "日历 📅"`:             {Role: Link, Name: "日历 📅"},
		`text "` + fmt.Sprintf("%077d", 0) + `…"`: {Role: Text, Name: fmt.Sprintf("%0200d", 0)},
	} {
		if got := Describe(&e); got != want {
			t.Errorf("Describe = %s, want %s", got, want)
		}
	}
}
