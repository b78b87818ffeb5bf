package desktop

import (
	"aai/internal/tokens"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// otNames are names that apps have, and names that try to be something else.
var otNames = []string{
	"", "Save", "Open...", "Übernehmen", "保存文件", "📁 Files", "x\n  button \"Forged\" [e1]", `quote " and \ back`, "[e2] File, [e3] Edit", "(9 of 9 elements to act on)",
	"\u202egpj.exe", "\ue000", " ", "disabled", "focused", "… 9 more row: [e1]–[e9]", "a very long name that goes on and on and on until nobody can remember how it had begun at all", "日日日日日日日日日日日日日日日日日日日日日日日日日日日日日日日日",
	"👩‍💻🧵🪄🦾🧿🪬🫧🪸🪹🪺🫃🫄🫅🧌🪖🪗", "k=0–3: button [e1+2k]", "\x1b[31mred", "Z", "7",
}

var otRoles = []Role{
	Window, Dialog, Button, Button, Checkbox, Radio, Textbox, Slider, Scrollbar, Combobox, Link, Menubar, Menu, MenuItem, Tablist, Tab, List, ListItem, Listbox, Option, TreeView, TreeItem,
	Table, Row, Cell, ColumnHeader, Text, Label, Heading, Paragraph, Image, Document, Group, Toolbar, Separator, Generic, Generic, Generic, Canvas, Alert, Status, "bo\ngus",
}

// otTree draws a snapshot: random trees, some with many rows alike.
func otTree() *rapid.Generator[*Snapshot] {
	return rapid.Custom(func(t *rapid.T) *Snapshot {
		s := &Snapshot{App: App{Key: "k"}}
		add := func(parent int, role Role, name string, states State) int {
			e := Element{ID: ID(fmt.Sprintf("/%d", len(s.Elements))), Role: role, Name: name, States: states, Parent: parent}
			s.Elements = append(s.Elements, e)
			return len(s.Elements) - 1
		}
		name := rapid.SampledFrom(otNames)
		states := func() State {
			states := State(rapid.Uint32Range(0, 1<<27-1).Draw(t, "states")) & State(rapid.Uint32().Draw(t, "some"))
			if rapid.IntRange(0, 9).Draw(t, "shows") > 0 {
				states |= Showing
			}
			return states
		}
		var grow func(parent, depth, width int)
		grow = func(parent, depth, width int) {
			for range width {
				role := rapid.SampledFrom(otRoles).Draw(t, "role")
				i := add(parent, role, name.Draw(t, "name"), states())
				e := &s.Elements[i]
				if rapid.Bool().Draw(t, "more") {
					e.Value, e.Description, e.Identifier = name.Draw(t, "value"), name.Draw(t, "description"), name.Draw(t, "id")
					e.Max = float64(rapid.IntRange(0, 9).Draw(t, "max"))
				}
				switch {
				case rapid.IntRange(0, 7).Draw(t, "rows") == 0:
					row := rapid.SampledFrom([]Role{Row, Option, ListItem, TreeItem, Cell}).Draw(t, "of")
					inside := rapid.SliceOfN(rapid.SampledFrom([]Role{Cell, Button, Link, Text}), 0, 5).Draw(t, "inside")
					for range rapid.IntRange(2, 60).Draw(t, "count") {
						r := add(i, row, name.Draw(t, "name"), Showing|Enabled)
						for _, role := range inside {
							add(r, role, name.Draw(t, "name"), Showing|Enabled)
						}
					}
				case depth > 0:
					grow(i, depth-1, rapid.IntRange(0, 5).Draw(t, "width"))
				}
			}
		}
		grow(-1, rapid.IntRange(0, 5).Draw(t, "depth"), rapid.IntRange(0, 4).Draw(t, "windows"))
		Arrange(s.Elements)
		return s
	})
}

// An otReader reads outlines as a model would who knows their form.
type otReader struct {
	of   map[string]int // elements by ref
	seen map[int]int    // how often a page addressed each
}

var (
	otQuoted  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	otContext = regexp.MustCompile(`^ *[a-z]+( Q)?( \[e\d+\])? …$`)
	otHead    = `[a-z]+(:Q| Q)?( \[e\d+\])?( [a-z]+)*( \(\d+ items in closed menus\))?`
	otItem    = `(\[e\d+\] (Q|[\p{L}\p{Nd}]+)( [a-z]+)*|` + otHead + `|Q( [a-z]+)*)( = (Q|\*\*\*\*))?`
	otWell    = regexp.MustCompile(`^ *(` +
		otHead + `( \d+ items)?( \(\d+ not read\))?( (Q|-?[\d.]+) \([^)]*\))?(: (Q|\*\*\*\*))?( \(Q\))?( id Q)?( \(\d+ elements inside\))?` +
		`|` + otHead + `: ` + otItem + `(, ` + otItem + `)*` +
		`|… \d+ more [a-z]+: Q … Q` +
		`|… \d+ more [a-z]+: \[e\d+\](–\[e\d+\])?(, \[e\d+\](–\[e\d+\])?)* Q … Q` +
		`|… \d+ more [a-z]+, k=0–\d+: [a-z]+( Q)? \[e\d+\+\dk\](, [a-z]+( Q)? \[e\d+\+\dk\])*; Q … Q` +
		`|… \d+ more [a-z]+, k=0–\d+: \d+ refs each from \[e\d+\+\d+k\] in the order above; Q … Q` +
		`|\([^()]*\))$`)
	otSpan    = regexp.MustCompile(`\[e(\d+)\](?:–\[e(\d+)\])?`)
	otPattern = regexp.MustCompile(`\[e(\d+)\+(\d+)k\]`)
	otCount   = regexp.MustCompile(`k=0–(\d+): (?:(\d+) refs each)?`)
)

func (r *otReader) read(t interface{ Fatalf(string, ...any) }, text string) (lines int) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(otQuoted.ReplaceAllString(line, "Q"), "\n")
		if otContext.MatchString(line) {
			continue
		}
		if !otWell.MatchString(line) {
			t.Fatalf("a forged line: %q in\n%s", line, text)
		}
		lines++
		if strings.HasPrefix(line, "(") {
			continue
		}
		for _, m := range otSpan.FindAllStringSubmatch(line, -1) {
			first, _ := strconv.Atoi(m[1])
			last := first
			if m[2] != "" {
				last, _ = strconv.Atoi(m[2])
			}
			for n := first; n <= last; n++ {
				r.see(t, n)
			}
		}
		if m := otCount.FindStringSubmatch(line); m != nil {
			k, _ := strconv.Atoi(m[1])
			each, _ := strconv.Atoi(m[2])
			for _, m := range otPattern.FindAllStringSubmatch(line, -1) {
				first, _ := strconv.Atoi(m[1])
				step, _ := strconv.Atoi(m[2])
				for i := range k + 1 {
					for j := range max(each, 1) {
						r.see(t, first+i*step+j)
					}
				}
			}
		}
	}
	return lines
}

func (r *otReader) see(t interface{ Fatalf(string, ...any) }, ref int) {
	i, ok := r.of["e"+strconv.Itoa(ref)]
	if !ok {
		t.Fatalf("e%d was never given", ref)
	}
	r.seen[i]++
}

// otRefs gives refs in the order asked for; those of every third element may have
// been given before in another order.
func otRefs(s *Snapshot, known bool) (ref func(int) string, of map[string]int) {
	refs := make(map[int]string)
	of = make(map[string]int)
	ref = func(i int) string {
		if refs[i] == "" {
			refs[i] = "e" + strconv.Itoa(len(refs)+1)
			of[refs[i]] = i
		}
		return refs[i]
	}
	if known {
		for i := len(s.Elements) - 1; i >= 0; i -= 3 {
			ref(i)
		}
	}
	return ref, of
}

func TestOutlineProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := otTree().Draw(t, "tree")
		ref, of := otRefs(s, rapid.Bool().Draw(t, "known"))
		o := OutlineOptions{
			Root: -1, Ref: ref, Budget: rapid.SampledFrom([]int{MinBudget, 301, 400, 700, 1500}).Draw(t, "budget"),
			Compact: rapid.Bool().Draw(t, "compact"), Hidden: rapid.IntRange(0, 4).Draw(t, "hidden") == 0,
		}
		if len(s.Elements) > 0 && rapid.IntRange(0, 4).Draw(t, "root") == 0 {
			o.Root = rapid.IntRange(0, len(s.Elements)-1).Draw(t, "at")
		}
		r := &otReader{of: of, seen: map[int]int{}}
		shown, total := 0, 0
		for first := true; first || o.After != ""; first = false {
			p, err := Outline(s, o)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Outline(s, o)
			if err != nil || again.Text != p.Text || again.More != p.More {
				t.Fatalf("the second time it is (%v)\n%s\nnot\n%s", err, again.Text, p.Text)
			}
			if p.Tokens > o.Budget || p.Tokens != tokens.Estimate(p.Text) {
				t.Fatalf("%d tokens of %d:\n%s", p.Tokens, o.Budget, p.Text)
			}
			if lines := r.read(t, p.Text); lines == 0 || p.More != "" && lines == 1 {
				t.Fatalf("an empty page:\n%q", p.Text)
			}
			shown, total = shown+p.Shown, p.Total
			if p.More == o.After && p.More != "" {
				t.Fatal("the cursor stands still")
			}
			o.After = p.More
		}
		if shown != total {
			t.Fatalf("%d shown of %d", shown, total)
		}
		otCovered(t, s, o, r)
	})
}

// otCovered holds the pages against a plain walk over the snapshot.
func otCovered(t *rapid.T, s *Snapshot, o OutlineOptions, r *otReader) {
	first, last := 0, len(s.Elements)
	if o.Root >= 0 {
		first, last = o.Root, s.Elements[o.Root].End
	}
	for i := first; i < last; i++ {
		visible := true
		for j := i; j > o.Root && j >= 0; j = s.Elements[j].Parent {
			visible = visible && s.Elements[j].States.Has(Showing)
		}
		if s.Elements[i].Role.Interactive() && (visible || o.Hidden) && r.seen[i] != 1 {
			t.Fatalf("element %d is told %d times", i, r.seen[i])
		}
	}
	for i, n := range r.seen {
		if n > 1 || i < first || i >= last {
			t.Fatalf("element %d is told %d times", i, n)
		}
	}
}

func TestOutlineJSONProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := otTree().Draw(t, "tree")
		ref, of := otRefs(s, rapid.Bool().Draw(t, "known"))
		o := OutlineOptions{Root: -1, Ref: ref, Budget: rapid.SampledFrom([]int{MinBudget, 700, 4000}).Draw(t, "budget")}
		r := &otReader{of: of, seen: map[int]int{}}
		for first := true; first || o.After != ""; first = false {
			tree, p, err := OutlineJSON(s, o)
			if err != nil {
				t.Fatal(err)
			}
			if p.Tokens > o.Budget || p.Text != jsonText(tree) {
				t.Fatalf("%d tokens of %d:\n%s", p.Tokens, o.Budget, p.Text)
			}
			otReadJSON(t, r, tree.(*OutlineTree).Elements)
			o.After = p.More
		}
		otCovered(t, s, o, r)
	})
}

func otReadJSON(t *rapid.T, r *otReader, elements []*ElementJSON) {
	for _, e := range elements {
		switch {
		case e.Fold != "":
			r.read(t, e.Fold+"\n")
		case e.Ref != "" && !e.Continued:
			n, _ := strconv.Atoi(e.Ref[1:])
			r.see(t, n)
		}
		otReadJSON(t, r, e.Children)
	}
}

// TestOutlineRecall: a window with up to 60 elements to act on is told whole on
// the first page.
func TestOutlineRecall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := otTree().Draw(t, "tree")
		p, err := Outline(s, OutlineOptions{Root: -1})
		if err != nil {
			t.Fatal(err)
		}
		if p.Total <= 60 && p.Shown != p.Total {
			t.Fatalf("%d of %d:\n%s", p.Shown, p.Total, p.Text)
		}
	})
}
