package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

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
