package desktop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A qtNode is an element of an app that the test plays. Its tag is what it really
// is, which nothing but the test can see.
type qtNode struct {
	tag        int
	id         ID
	role       Role
	name, ext  string // ext is the identifier
	virtual    bool
	children   []*qtNode
	usedAsRole map[Role]bool // roles that its ID has had
}

// A qtApp is the app.
type qtApp struct {
	t       *rapid.T
	windows []*qtNode
	tags    int
	ids     int
	born    map[string]int // when what has an ID came to be
	now     int
}

func (a *qtApp) freshID() ID { a.ids++; return ID(fmt.Sprint("id", a.ids)) }

func (a *qtApp) node(role Role, name string) *qtNode {
	a.tags++
	return &qtNode{tag: a.tags, id: a.freshID(), role: role, name: name, usedAsRole: map[Role]bool{role: true}}
}

// person is a row of a table; its own name may be missing.
func (a *qtApp) person() *qtNode {
	name := rapid.SampledFrom([]string{"Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus"}).Draw(a.t, "person")
	row := a.node(Row, rapid.SampledFrom([]string{"", name}).Draw(a.t, "row name"))
	row.children = []*qtNode{a.node(Cell, name), a.node(Button, "Delete"), a.node(Checkbox, "")}
	return row
}

func (a *qtApp) thing() *qtNode {
	role := rapid.SampledFrom([]Role{Button, Textbox, Group, Generic, MenuItem, Text}).Draw(a.t, "role")
	n := a.node(role, rapid.SampledFrom([]string{"", "Save", "Edit", "Close", "Name"}).Draw(a.t, "name"))
	n.ext = rapid.SampledFrom([]string{"", "", "", "x", "y"}).Draw(a.t, "identifier")
	return n
}

func qtPlay(t *rapid.T) *qtApp {
	a := &qtApp{t: t, born: map[string]int{}}
	for range rapid.IntRange(1, 2).Draw(t, "windows") {
		w := a.node(Window, rapid.SampledFrom([]string{"Main", "Other", ""}).Draw(t, "title"))
		around := []*qtNode{w}
		for range rapid.IntRange(0, 8).Draw(t, "things") {
			n := a.thing()
			in := rapid.SampledFrom(around).Draw(t, "in")
			in.children = append(in.children, n)
			around = append(around, n)
		}
		table := a.node(Table, "People")
		table.virtual = rapid.Bool().Draw(t, "virtual")
		for range rapid.IntRange(0, 4).Draw(t, "rows") {
			table.children = append(table.children, a.person())
		}
		w.children = append(w.children, table)
		a.windows = append(a.windows, w)
	}
	return a
}

// all visits all nodes in order, with the slice that each is in.
func (a *qtApp) all() (nodes []*qtNode, parents []*qtNode) {
	var visit func(n, parent *qtNode)
	visit = func(n, parent *qtNode) {
		nodes, parents = append(nodes, n), append(parents, parent)
		for _, child := range n.children {
			visit(child, n)
		}
	}
	for _, w := range a.windows {
		visit(w, nil)
	}
	return nodes, parents
}

// A qtPrint is how an element looks and how those around it look that can be told
// by something, the nearest first, each with its tag.
type qtPrint []string

// twin reports whether two elements look the same and are in elements that look
// the same, or that are the same though they may look otherwise by now.
func (p qtPrint) twin(o qtPrint) bool {
	if len(p) != len(o) || len(p) == 0 {
		return len(p) == len(o)
	}
	look, _, _ := strings.Cut(p[0], "=")
	otherLook, _, _ := strings.Cut(o[0], "=")
	if look != otherLook {
		return false
	}
	for n := 1; n < len(p); n++ {
		look, tag, _ := strings.Cut(p[n], "=")
		otherLook, otherTag, _ := strings.Cut(o[n], "=")
		if look != otherLook && tag != otherTag {
			return false
		}
	}
	return true
}

// being names what has the ID. Where toolkits use an element again, it begins to be
// another one when it looks otherwise.
func (p qtPrint) being(id ID) string {
	reused := slices.ContainsFunc(p, func(look string) bool {
		role, _, _ := strings.Cut(look, " ")
		return Role(role).InSet()
	})
	if reused {
		return fmt.Sprint(id, " ", []string(p))
	}
	return fmt.Sprint(id, " ", p[0][strings.LastIndex(p[0], "="):])
}

// look takes a snapshot, and says what each element really is and how it looks.
func (a *qtApp) look() (s *Snapshot, tags []int, prints []qtPrint) {
	a.now++
	s = &Snapshot{}
	var visit func(n *qtNode, parent int, path qtPrint)
	visit = func(n *qtNode, parent int, path qtPrint) {
		e := Element{ID: n.id, Role: n.role, Name: n.name, Identifier: n.ext, States: Showing, Parent: parent}
		if n.virtual {
			e.States |= Virtual
		}
		i := len(s.Elements)
		looks := fmt.Sprintf("%s %q %s", n.role, n.name, n.ext)
		if n.role == Row && n.name == "" {
			looks += fmt.Sprintf(" of %q", n.children[0].name)
		}
		print := append(qtPrint{fmt.Sprint(looks, "=", n.tag)}, path...)
		s.Elements, tags, prints = append(s.Elements, e), append(tags, n.tag), append(prints, print)
		if key := print.being(n.id); a.born[key] == 0 {
			a.born[key] = a.now
		}
		if n.name != "" || n.ext != "" || n.role == Row || n.role == MenuItem || n.role == Window {
			path = print
		}
		for _, child := range n.children {
			visit(child, i, path)
		}
	}
	for _, w := range a.windows {
		visit(w, -1, nil)
	}
	Arrange(s.Elements)
	return s, tags, prints
}

// redraw gives new IDs to a node and all in it.
func (a *qtApp) redraw(n *qtNode) {
	n.id, n.usedAsRole = a.freshID(), map[Role]bool{n.role: true}
	for _, child := range n.children {
		a.redraw(child)
	}
}

// change does one of the things that apps do.
func (a *qtApp) change() {
	nodes, parents := a.all()
	pick := rapid.IntRange(0, len(nodes)-1).Draw(a.t, "which")
	n, parent := nodes[pick], parents[pick]
	siblings := &a.windows
	if parent != nil {
		siblings = &parent.children
	}
	inRow := slices.ContainsFunc(nodes, func(o *qtNode) bool { return o.role == Row && slices.Contains(o.children, n) })
	switch what := rapid.SampledFrom([]string{"redraw", "rename", "delete", "reorder", "add", "recycle", "recycle", "takeover"}).Draw(a.t, "change"); {
	case what == "redraw":
		a.redraw(n)
	case what == "rename":
		n.name = rapid.SampledFrom([]string{"Save", "Edit", "Stop", "Ann", "Bob"}).Draw(a.t, "new name")
	case inRow || len(nodes) < 3:
	case what == "delete":
		*siblings = slices.DeleteFunc(slices.Clone(*siblings), func(o *qtNode) bool { return o == n })
		if len(a.windows) == 0 {
			a.windows = []*qtNode{a.node(Window, "New")}
		}
	case what == "reorder":
		*siblings = rapid.Permutation(*siblings).Draw(a.t, "order")
	case what == "add" && n.role != Row && n.role != Table:
		n.children = append(n.children, a.thing())
	case what == "add" && n.role == Table:
		n.children = slices.Insert(n.children, rapid.IntRange(0, len(n.children)).Draw(a.t, "at"), a.person())
	case what == "recycle" && n.role == Table && len(n.children) > 0:
		a.scroll(n)
	case what == "takeover":
		// The ID of what goes is given to a thing of a kind that never had it.
		other := a.thing()
		if len(n.children) == 0 && !n.usedAsRole[other.role] {
			other.id, other.usedAsRole = n.id, n.usedAsRole
			other.usedAsRole[other.role] = true
			*siblings = slices.Clone(*siblings)
			(*siblings)[slices.Index(*siblings, n)] = other
		}
	}
}

// scroll shows other people in the same rows: each row's ID, and those in it, stay
// where they are.
func (a *qtApp) scroll(table *qtNode) {
	var ids []ID
	var used []map[Role]bool
	for _, row := range table.children {
		for _, n := range append([]*qtNode{row}, row.children...) {
			ids, used = append(ids, n.id), append(used, n.usedAsRole)
		}
	}
	table.children = append(slices.Clone(table.children[1:]), a.person())
	if rapid.Bool().Draw(a.t, "by two") {
		table.children = rapid.Permutation(table.children).Draw(a.t, "sorted")
	}
	next := 0
	for _, row := range table.children {
		for _, n := range append([]*qtNode{row}, row.children...) {
			n.id, n.usedAsRole = ids[next], used[next]
			next++
		}
	}
}

// A qtGiven is a ref and what is known of its element.
type qtGiven struct {
	tag   int
	print qtPrint
	seen  int
	alive bool // it was found in the last snapshot
}

// TestARefNeverMeansAnotherElement plays an app that redraws, renames, deletes,
// sorts and scrolls, and knows what each element really is. Now and then the refs
// are written down and read by another.
func TestARefNeverMeansAnotherElement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := qtPlay(t)
		r := NewRefs()
		given := map[string]*qtGiven{}
		calm := true // nothing has happened but that things were drawn anew
		for range rapid.IntRange(2, 6).Draw(t, "snapshots") {
			s, tags, prints := a.look()
			qtCheckRefs(t, a, r, given, s, tags, prints, calm)
			for i := range s.Elements {
				if rapid.IntRange(0, 3).Draw(t, "ask") == 0 {
					continue
				}
				ref := r.Ref(s, i)
				if g := given[ref]; g == nil {
					given[ref] = &qtGiven{tag: tags[i], print: prints[i], seen: a.now, alive: true}
				} else if got, err := r.Resolve(s, ref); err != nil || got != i {
					t.Fatalf("%s was given to %d but is %d, %v", ref, i, got, err)
				}
			}
			if rapid.IntRange(0, 3).Draw(t, "keep") == 0 {
				r = qtKept(t, r)
			}
			if calm = rapid.Bool().Draw(t, "calm"); calm {
				nodes, _ := a.all()
				a.redraw(rapid.SampledFrom(nodes).Draw(t, "redrawn"))
				continue
			}
			for range rapid.IntRange(1, 3).Draw(t, "changes") {
				a.change()
			}
		}
	})
}

// qtKept writes the refs down and reads them again.
func qtKept(t *rapid.T, r *Refs) *Refs {
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	again := NewRefs()
	if err := json.Unmarshal(data, again); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return again
}

func qtCheckRefs(t *rapid.T, a *qtApp, r *Refs, given map[string]*qtGiven, s *Snapshot, tags []int, prints []qtPrint, calm bool) {
	means := map[int]string{}
	for ref, g := range given {
		i, err := r.Resolve(s, ref)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "STALE_REF") {
				t.Fatalf("%s: %v", ref, err)
			}
			if calm && g.alive {
				t.Fatalf("%s (%v) was only drawn anew: %v", ref, g.print, err)
			}
			g.alive = false
			continue
		}
		if other := means[i]; other != "" {
			t.Fatalf("%s and %s both are %v", ref, other, prints[i])
		}
		means[i] = ref
		if tags[i] != g.tag {
			// Nothing tells them apart, and it was not there before.
			twin := prints[i].twin(g.print) && a.born[prints[i].being(s.Elements[i].ID)] > g.seen
			if !twin || calm && g.alive {
				t.Fatalf("%s was given for %v, tag %d, and is %v, tag %d", ref, g.print, g.tag, prints[i], tags[i])
			}
		}
		if got := r.Ref(s, i); got != ref {
			t.Fatalf("%s is %d, whose ref is %s", ref, i, got)
		}
		g.tag, g.print, g.seen, g.alive = tags[i], prints[i], a.now, true
	}
}
