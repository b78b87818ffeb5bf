package render

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

func TestLine(t *testing.T) {
	long, cut := strings.Repeat("ä", 60), strings.Repeat("ä", 38)
	for _, c := range snapshottest.Rows[struct{ Name, Element, Want string }](t, "lines.json") {
		t.Run(c.Name, func(t *testing.T) {
			assert.Check(t, is.Equal(oneText(t, snapshottest.Read(t, c.Element), Options{Root: -1}), c.Want+"\n"))
		})
	}
	assert.Check(t, is.Equal(oneText(t, snapshottest.Read(t, `button "`+long+`"`), Options{Root: -1}), `button "`+cut+`…" [e1]`+"\n"))
}

func TestLeavesOut(t *testing.T) {
	long := strings.Repeat("Words and ", 9) + "more"
	type screen struct{ Name, Screen, Want string }
	for _, c := range append(snapshottest.Rows[screen](t, "leftout.json"), []screen{
		{"behind the name", "button \"" + long + " end\"\n  text \"" + long + "\"\n  text \"end\"", `button "` + long[:77] + `…" [e1]: "` + long + `", "end"`},
		{"long card", "generic \"" + long + " end\" does=click\n  text \"" + long + "\"\n  text \"end\"", `generic [e1]: "` + long + ` end"`},
		{"long cell", "row \"\"\n  cell value=\"" + long + " end\"\n    text \"" + long + " end\"\n  cell \"b\"", `row: "` + long + ` end", "b"`},
	}...) {
		t.Run(c.Name, func(t *testing.T) {
			want := strings.ReplaceAll(c.Want, "|", "\n") + "\n"
			assert.Check(t, is.Equal(oneText(t, snapshottest.Read(t, c.Screen), Options{Root: -1}), want))
		})
	}
}

// TestKeepsLabels checks that the smallest budget keeps the labels beside fields without a name, and no other
// texts.
func TestKeepsLabels(t *testing.T) {
	var b strings.Builder
	b.WriteString("window \"W\"\n  label \"Before it\"\n  textbox \"\" editable value=\"what is in it\"\n  checkbox \"\"\n  label \"After it\"\n")
	for i := range 40 {
		fmt.Fprintf(&b, "  button \"Button %d\"\n  text \"Some words about it that are somewhat longer %d\"\n", i, i)
	}
	p, err := Text(snapshottest.Read(t, b.String()), Options{Root: -1, Budget: MinBudget})
	assert.NilError(t, err)
	for part, want := range map[string]bool{"Before it": true, "After it": true, "Some words": false, "what is in it": false} {
		assert.Check(t, is.Equal(strings.Contains(p.Text, part), want), "%q %s", part, p.Text)
	}
}

// TestGetsTerse checks that the least useful details go first, and that the page lists them.
func TestGetsTerse(t *testing.T) {
	var b strings.Builder
	b.WriteString("window \"W\"\n")
	for i := range 30 {
		fmt.Fprintf(&b, "  button \"Button %d\" desc=\"What the button does %d\"\n  text \"Some words about it that are somewhat longer %d\"\n  textbox \"Field %d\" editable value=\"what is in it %d\"\n", i, i, i, i, i)
	}
	s := snapshottest.Read(t, b.String())
	has := func(text, what string) bool { return strings.Contains(text, what) }
	order := []string{"What the button does 29", "Some words about it", "what is in it 29", "Field 29"}
	last := 0
	for budget := 4000; budget >= MinBudget; budget -= 50 {
		p, err := Text(s, Options{Root: -1, Budget: budget})
		assert.NilError(t, err)
		gone := 0
		for gone < len(order) && !has(p.Text, order[gone]) {
			gone++
		}
		for _, later := range order[gone:] {
			if !has(p.Text, later) {
				t.Fatalf("%d tokens: %q is gone before %q", budget, later, order[gone])
			}
		}
		assert.Assert(t, gone >= last, "%d tokens show more than a larger budget does", budget)
		last = gone
		assert.Check(t, is.Equal((gone < len(order)), (p.More == "")), "%d %q %q", budget, p.More, p.Warnings)
		assert.Check(t, is.Equal((gone > 1), (len(p.Warnings) == 1)), "%d %q %q", budget, p.More, p.Warnings)
		assert.Check(t, is.Equal((gone > 1), strings.HasSuffix(p.Text, ")\n")), "%d %q %q", budget, p.More, p.Warnings)
	}
	assert.Check(t, is.Equal(last, len(order)), "only %d got terse", last)
}

// TestOfWordsGoesOnInPages checks that an outline with few actionable elements continues its text on
// further pages.
func TestOfWordsGoesOnInPages(t *testing.T) {
	var b strings.Builder
	b.WriteString("window \"Mail\"\n  button \"Reply\"\n  document \"Letter\"\n")
	for i := range 200 {
		fmt.Fprintf(&b, "    paragraph \"Paragraph number %d of a letter that is rather long for a letter\"\n", i)
	}
	whole := ""
	for _, p := range allPages(t, snapshottest.Read(t, b.String()), Options{Root: -1}) {
		whole += p.Text
	}
	for i := range 200 {
		assert.Check(t, is.Equal(strings.Count(whole, fmt.Sprintf("number %d of", i)), 1))
	}
}

func TestRoot(t *testing.T) {
	s := snapshottest.Read(t, snapshottest.Form)
	form := 0
	for i := range s.Elements {
		if s.Elements[i].Role == desktop.Radio && form == 0 {
			form = s.Elements[i].Parent
		}
	}
	got, want := oneText(t, s, Options{Root: form}), "group \"Plan\"\n  radio \"Free\" [e1] checked\n  radio \"Pro\" [e2]\n"
	assert.Check(t, is.Equal(got, want))
	s = snapshottest.Read(t, "window \"W\"\n  menu \"File\" hidden\n    menuitem \"New\" hidden\n    menuitem \"Open\"")
	got, want = oneText(t, s, Options{Root: 1}), "menu \"File\" [e1] hidden\n  menuitem \"Open\" [e2] hidden\n"
	assert.Check(t, is.Equal(got, want), "a root that is hidden: %s", got)
}

func TestMaxDepth(t *testing.T) {
	s := snapshottest.Read(t, "window \"W\"\n  form\n    group \"G\"\n      button \"A\"\n    button \"B\"\n  button \"C\"")
	p, err := Text(s, Options{Root: -1, MaxDepth: 1})
	assert.NilError(t, err)
	want := "window \"W\" [e1]\n  form [e2] (2 elements inside)\n  button \"C\" [e5]\n"
	assert.Check(t, is.Equal(p.Text, want), "%+v", p)
	assert.Check(t, is.Equal(p.Shown, 1), "%+v", p)
	assert.Check(t, is.Equal(p.Total, 3), "%+v", p)
	assert.Check(t, is.Equal(p.More, ""), "%+v", p)
}

func TestRefuses(t *testing.T) {
	s := snapshottest.Read(t, snapshottest.Form)
	for name, o := range map[string]Options{
		"budget":      {Root: -1, Budget: MinBudget - 1},
		"no budget":   {Root: -1, Budget: -1},
		"root":        {Root: len(s.Elements)},
		"root -2":     {Root: -2},
		"cursor":      {Root: -1, After: "nonsense"},
		"cursor p":    {Root: -1, After: "p"},
		"cursor long": {Root: -1, After: "p" + strings.Repeat("A", 90)},
		"other app's": {Root: -1, After: "pAAAAAAAAAAAAAAA"},
	} {
		for form, tell := range map[string]func() error{
			"text": func() error { _, err := Text(s, o); return err },
			"JSON": func() error { tree, _, err := JSON(s, o); noTree(t, tree); return err },
		} {
			var e *aai.Error
			err := tell()
			assert.Assert(t, errors.As(err, &e), "%s %s %v", name, form, err)
			assert.Equal(t, e.Code, aai.InvalidParams, "%s %s %v", name, form, err)
			assert.Assert(t, e.Hint != "", "%s %s %v", name, form, err)
			assert.Assert(t, e.Message != "", "%s %s %v", name, form, err)
		}
	}
}

// TestOfTheLongest checks that elements with the most tokens, nested deeply, fit into pages of the smallest
// budget.
func TestOfTheLongest(t *testing.T) {
	const none desktop.State = 0
	s := &desktop.Snapshot{}
	for i := range 12 {
		long := strings.Repeat("\U0001f9ff", 200) + fmt.Sprint(i)
		s.Elements = append(s.Elements, desktop.Element{
			ID: desktop.ID(long), Role: desktop.Textbox, Name: long, Value: long, Description: long, Identifier: long, Actions: []string{long, long, long}, States: ^none &^ desktop.Protected,
			Min: -1.23456e-100, Max: 1.23456e100, UnreadChildren: 1 << 40, Parent: i - 1, Frame: desktop.Rect{X: 1e9, Y: 1e9, W: 1e9, H: 1e9},
		})
	}
	desktop.SetEnds(s.Elements)
	for form, tell := range map[string]func(Options) (Page, error){
		"text": func(o Options) (Page, error) { return Text(s, o) },
		"JSON": func(o Options) (Page, error) { _, p, err := JSON(s, o); return p, err },
	} {
		shown := 0
		o := Options{Root: -1, Budget: MinBudget, Ref: func(int) string { return "e123456789" }}
		for first := true; first || o.After != ""; first = false {
			p, err := tell(o)
			assert.NilError(t, err, "%s %+v", form, p)
			assert.Assert(t, p.Shown != 0, "%s %+v", form, p)
			assert.Assert(t, p.Tokens <= MinBudget, "%s %+v", form, p)
			shown += p.Shown
			o.After = p.More
		}
		assert.Check(t, is.Equal(shown, len(s.Elements)), form)
	}
}

func noTree(t *testing.T, tree any) {
	assert.Check(t, tree == nil, "a tree in spite of an error: %v", tree)
}

func TestOfNothing(t *testing.T) {
	for _, screen := range []string{"", "window \"W\" hidden"} {
		assert.Check(t, is.Equal(oneText(t, snapshottest.Read(t, screen), Options{Root: -1}), "(nothing is showing)\n"))
	}
}

func TestPassesWarningsOn(t *testing.T) {
	s := snapshottest.Read(t, snapshottest.Form)
	s.Warnings = []string{"the sheet was not read"}
	p, err := Text(s, Options{Root: -1})
	assert.NilError(t, err)
	assert.Assert(t, is.Len(p.Warnings, 1))
	assert.Equal(t, p.Warnings[0], s.Warnings[0])
}
