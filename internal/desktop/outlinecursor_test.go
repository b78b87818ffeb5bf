package desktop

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aai"
)

// otLinks is a page of links that are all different.
func otLinks(n int) string {
	var b strings.Builder
	b.WriteString("window \"Links\"\n")
	for i := range n {
		fmt.Fprintf(&b, "  link \"Link %d\" key=link%d\n  heading \"Heading %d\" key=heading%d\n", i, i, i, i)
	}
	return b.String()
}

func otWithout(s *Snapshot, ids ...ID) *Snapshot {
	t := *s
	t.Elements = nil
	for _, e := range s.Elements {
		if !slices.Contains(ids, e.ID) {
			e.End = 0
			t.Elements = append(t.Elements, e) // all are in the first window
		}
	}
	Arrange(t.Elements)
	return &t
}

// TestCursorSurvivesChanges: the next page begins where the first one ended, also
// when elements before it or right there went away.
func TestCursorSurvivesChanges(t *testing.T) {
	s := otSnapshot(t, otLinks(200))
	p, err := Outline(s, OutlineOptions{Root: -1})
	if err != nil || p.More == "" {
		t.Fatalf("%v %+v", err, p)
	}
	next := 0
	for strings.Contains(p.Text, fmt.Sprintf("\"Link %d\"", next)) {
		next++
	}
	link, heading := ID(fmt.Sprintf("link%d", next)), ID(fmt.Sprintf("heading%d", next-1))
	for name, c := range map[string]struct {
		now  *Snapshot
		want string
	}{
		"nothing":       {s, fmt.Sprintf(`link "Link %d"`, next)},
		"some before":   {otWithout(s, "link3", "heading4", "link5"), fmt.Sprintf(`link "Link %d"`, next)},
		"the next one":  {otWithout(s, link), fmt.Sprintf(`heading "Heading %d"`, next)},
		"the one told":  {otWithout(s, heading), fmt.Sprintf(`link "Link %d"`, next)},
		"other version": {&Snapshot{App: s.App, Elements: s.Elements, Version: 99}, fmt.Sprintf(`link "Link %d"`, next)},
	} {
		t.Run(name, func(t *testing.T) {
			text := otText(t, c.now, OutlineOptions{Root: -1, After: p.More})
			lines := strings.Split(text, "\n")
			if lines[0] != `window "Links" [e1] …` || !strings.HasPrefix(lines[1], "  "+c.want) && !strings.HasPrefix(lines[1], strings.Replace("  "+c.want, " \"", ": \"", 1)) {
				t.Errorf("want %s:\n%s", c.want, text[:200])
			}
		})
	}
	for name, now := range map[string]*Snapshot{
		"both gone":   otWithout(s, link, heading),
		"another app": {App: App{Key: ":1.8"}, Elements: s.Elements},
		"no elements": {App: s.App},
	} {
		_, err := Outline(now, OutlineOptions{Root: -1, After: p.More})
		var e *aai.Error
		if !errors.As(err, &e) || e.Code != aai.InvalidParams || !strings.Contains(e.Hint, "beginning") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCursorIsOfItsRoot: a place outside of the root is none.
func TestCursorIsOfItsRoot(t *testing.T) {
	s := otSnapshot(t, otLinks(200)+"window \"Other\"\n  button \"B\"\n")
	p, err := Outline(s, OutlineOptions{Root: 0})
	if err != nil || p.More == "" {
		t.Fatal(err)
	}
	if _, err := Outline(s, OutlineOptions{Root: len(s.Elements) - 2, After: p.More}); aai.AsError(err) == nil || aai.AsError(err).Code != aai.InvalidParams {
		t.Errorf("%v", err)
	}
}

func FuzzCursor(f *testing.F) {
	s := otSnapshot(f, otLinks(200))
	p, err := Outline(s, OutlineOptions{Root: -1})
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range []string{"", "p", p.More, p.More[:len(p.More)-3], p.More + "A", "p////", "q" + p.More[1:], "\xff"} {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		p, err := Outline(s, OutlineOptions{Root: -1, After: cursor})
		if err != nil {
			if aai.AsError(err).Code != aai.InvalidParams || len(err.Error()) > 300 {
				t.Errorf("%v", err)
			}
			return
		}
		if p.Tokens > DefaultBudget || p.Text == "" {
			t.Errorf("%+v", p)
		}
	})
}
