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
	for name, c := range map[string]struct{ element, want string }{
		"button":        {`button "Save"`, `button "Save" [e1]`},
		"unnamed":       {`button id="save-btn"`, `button "" [e1] id "save-btn"`},
		"described":     {`button "B" desc="Bold (Ctrl+B)"`, `button "B" [e1] ("Bold (Ctrl+B)")`},
		"same words":    {`button "Bold" desc="Bold"`, `button "Bold" [e1]`},
		"disabled":      {`button "Save" disabled`, `button "Save" [e1] disabled`},
		"states":        {`checkbox "A" checkable checked required invalid busy`, `checkbox "A" [e1] checked required invalid busy`},
		"mixed":         {`checkbox "A" checkable mixed`, `checkbox "A" [e1] mixed`},
		"toggle":        {`button "Bold" checkable pressed`, `button "Bold" [e1] pressed`},
		"popup":         {`button "More" haspopup default`, `button "More" [e1] default haspopup`},
		"expanded":      {`treeitem "src" expandable expanded`, `treeitem "src" [e1] expanded`},
		"collapsed":     {`treeitem "src" expandable`, `treeitem "src" [e1] collapsed`},
		"closed combo":  {`combobox "Size" expandable value="Big"`, `combobox "Size" [e1]: "Big"`},
		"value is name": {`link "Home" value="Home"`, `link "Home" [e1]`},
		"text box":      {`textbox "Name" editable value="Ann"`, `textbox "Name" [e1]: "Ann"`},
		"own name":      {`textbox "City" editable value="City"`, `textbox "City" [e1]: "City"`},
		"written in":    {`paragraph editable value="Dear Ann"`, `paragraph "" [e1] editable: "Dear Ann"`},
		"read only":     {`textbox "Name" readonly multiline`, `textbox "Name" [e1] readonly multiline`},
		"password":      {`textbox "Pin" editable password value="1234"`, `textbox "Pin" [e1] password: ****`},
		"number":        {`slider "Volume" value="40" range=0..100`, `slider "Volume" [e1] 40 (0..100)`},
		"no number":     {`slider "Volume" value="x (0..1)" range=0..2.5`, `slider "Volume" [e1] "x (0..1)" (0..2.5)`},
		"unread":        {`table "Sheet" unread=7`, `table "Sheet" [e1] (7 not read)`},
		"dialog":        {`dialog "Quit?" modal active`, `dialog "Quit?" [e1] active modal`},
		"text":          {`text "Hello"`, `text "Hello"`},
		"text by value": {`text value="Hello"`, `text "Hello"`},
		"image":         {`image "Logo" desc="Our logo"`, `image "Logo" ("Our logo")`},
		"clickable":     {`generic "Card" does=click`, `generic "Card" [e1]`},
		"focusable":     {`generic "Card" focusable`, `generic "Card" [e1]`},
		"not clickable": {`generic "Card"`, `generic "Card"`},
		"sign":          {`image desc=".trash" does=click`, `image .trash [e1]`},
		"two signs":     {`generic desc="x-2.png .a.b_c" focusable`, `generic x-2.png .a.b_c [e1]`},
		"tag":           {`image desc="<svg>" does=click`, `image <svg> [e1]`},
		"no sign":       {`button desc=". focused"`, `button (". focused") [e1]`},
		"forged sign":   {`button desc=".a [e9]"`, `button (".a [e9]") [e1]`},
		"about":         {`button desc="Closes it"`, `button ("Closes it") [e1]`},
		"odd role":      {`bogusroleofmorethantwenty "X"`, `generic "X"`},
		"cut":           {`button "` + strings.Repeat("ä", 60) + `"`, `button "` + strings.Repeat("ä", 38) + `…" [e1]`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Check(t, is.Equal(oneText(t, snapshottest.Read(t, c.element), Options{Root: -1}), c.want+"\n"), c.want)
		})
	}
}

func TestLeavesOut(t *testing.T) {
	long := strings.Repeat("Words and ", 9) + "more"
	for name, c := range map[string]struct{ screen, want string }{
		"layout":            {"generic\n  group\n    generic\n      button \"A\"\n    separator\n    scrollbar", `button "A" [e1]`},
		"empty containers":  {"window \"W\"\n  group \"\"\n  toolbar\n  list\n  paragraph", `window "W" [e1]`},
		"bare windows":      {"window \"\"\n  generic\nwindow \"W\"\nwindow \"\"", `window "W" [e1]`},
		"one bare window":   {"window \"\"", `window [e1]`},
		"own words":         {"button \"Save\"\n  image \"Save\"\n  text \"Save\"", `button "Save" [e1]`},
		"part of own words": {"link \"Read more about it\"\n  text \"Read more \"\n  code \"about it\"", `link "Read more about it" [e1]`},
		"unseen menu bar":   {"window \"W\"\n  menubar frame=0,0,9,9\n    menuitem \"File\"\n  generic\n    menubar\n      menuitem \"File\"\nwindow \"V\"\n  menubar\n    menuitem \"Edit\"", "window \"W\" [e1]\n  menubar: [e2] File\nwindow \"V\" [e3]\n  menubar: [e4] Edit"},
		"other words":       {"button \"Save\"\n  text \"3 files\"", `button "Save" [e1]: "3 files"`},
		"label before":      {"window \"W\"\n  label \"Name:\"\n  textbox \"Name\"", `window "W" [e1]|  textbox "Name" [e2]`},
		"label after":       {"window \"W\"\n  checkbox \"Agree\"\n  text \"agree\"", `window "W" [e1]|  checkbox "Agree" [e2]`},
		"label of another":  {"window \"W\"\n  label \"Name\"\n  textbox \"City\"", `window "W" [e1]|  label "Name"|  textbox "City" [e2]`},
		"words around":      {"window \"W\"\n  heading \"News\"\n    link \"News\"", `window "W" [e1]|  link "News" [e2]`},
		"title twice":       {"dialog \"Really?\"\n  label \"Really?\"\n  label \"Yes, really\"", `dialog "Really?" [e1]|  label "Yes, really"`},
		"icon font":         {"button \"Cut\"\n  text \"\ue001\"", `button "Cut" [e1]`},
		"hidden":            {"window \"W\"\n  group hidden\n    button \"A\"\n  button \"B\" hidden", `window "W" [e1]`},
		"empty cells stay":  {"table \"T\"\n  row\n    cell \"a\"\n    cell\n    cell \"c\"", `table "T" [e1]|  row: "a", "", "c"`},
		"deep cells":        {"row \"\"\n  cell\n    text \"a\"\n  cell\n    generic\n      link \"b\"", `row: "a", link "b" [e1]`},
		"icon in a field":   {"textbox \"Name\" editable value=\"Ann\"\n  image \"Clear\" does=click", `textbox "Name" [e1] = "Ann": image "Clear" [e2]`},
		"buttons of number": {"spinbutton \"Age\" editable value=\"7\" range=0..9\n  button \"More\"", `spinbutton "Age" [e1] 7 (0..9): button "More" [e2]`},
		"part of a word":    {"button \"Item 12\"\n  text \"1\"", `button "Item 12" [e1]: "1"`},
		"behind the name":   {"button \"" + long + " end\"\n  text \"" + long + "\"\n  text \"end\"", `button "` + long[:77] + `…" [e1]: "` + long + `", "end"`},
		"long card":         {"generic \"" + long + " end\" does=click\n  text \"" + long + "\"\n  text \"end\"", `generic [e1]: "` + long + ` end"`},
		"words of a card":   {"generic \"Room 12 EUR\" does=click\n  text \"Room\"\n  text \"12 EUR\"", `generic "Room 12 EUR" [e1]`},
		"long cell":         {"row \"\"\n  cell value=\"" + long + " end\"\n    text \"" + long + " end\"\n  cell \"b\"", `row: "` + long + ` end", "b"`},
		"value twice":       {"textbox \"Name\" editable value=\"Ann\"\n  text \"Ann\"", `textbox "Name" [e1]: "Ann"`},
		"alerts":            {"alert\n  text \"Saved\"", `alert|  text "Saved"`},
	} {
		t.Run(name, func(t *testing.T) {
			want := strings.ReplaceAll(c.want, "|", "\n") + "\n"
			assert.Check(t, is.Equal(oneText(t, snapshottest.Read(t, c.screen), Options{Root: -1}), want))
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
		n := strings.Count(whole, fmt.Sprintf("number %d of", i))
		assert.Check(t, is.Equal(n, 1), "paragraph %d is there %d times", i, n)
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
