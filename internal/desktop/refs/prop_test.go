package refs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A node is an element of a simulated app. Its tag is its real identity, which only the test knows.
type node struct {
	tag        int
	id         desktop.ID
	role       desktop.Role
	name, ext  string // ext is the identifier
	virtual    bool
	children   []*node
	usedAsRole map[desktop.Role]bool // roles of its ID so far
}

// An app simulates an app.
type app struct {
	t       *rapid.T
	windows []*node
	tags    int
	ids     int
	born    map[string]int // creation time of the element with an ID
	now     int
}

func (a *app) freshID() desktop.ID { a.ids++; return desktop.ID(fmt.Sprint("id", a.ids)) }

func (a *app) node(role desktop.Role, name string) *node {
	a.tags++
	return &node{tag: a.tags, id: a.freshID(), role: role, name: name, usedAsRole: map[desktop.Role]bool{role: true}}
}

// person returns a row of a table; its name may be missing.
func (a *app) person() *node {
	name := rapid.SampledFrom([]string{"Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus"}).Draw(a.t, "person")
	row := a.node(desktop.Row, rapid.SampledFrom([]string{"", name}).Draw(a.t, "row name"))
	row.children = []*node{a.node(desktop.Cell, name), a.node(desktop.Button, "Delete"), a.node(desktop.Checkbox, "")}
	return row
}

func (a *app) thing() *node {
	role := rapid.SampledFrom([]desktop.Role{desktop.Button, desktop.Textbox, desktop.Group, desktop.Generic, desktop.MenuItem, desktop.Text}).Draw(a.t, "role")
	n := a.node(role, rapid.SampledFrom([]string{"", "Save", "Edit", "Close", "Name"}).Draw(a.t, "name"))
	n.ext = rapid.SampledFrom([]string{"", "", "", "x", "y"}).Draw(a.t, "identifier")
	return n
}

func play(t *rapid.T) *app {
	a := &app{t: t, born: map[string]int{}}
	for range rapid.IntRange(1, 2).Draw(t, "windows") {
		w := a.node(desktop.Window, rapid.SampledFrom([]string{"Main", "Other", ""}).Draw(t, "title"))
		around := []*node{w}
		for range rapid.IntRange(0, 8).Draw(t, "things") {
			n := a.thing()
			in := rapid.SampledFrom(around).Draw(t, "in")
			in.children = append(in.children, n)
			around = append(around, n)
		}
		table := a.node(desktop.Table, "People")
		table.virtual = rapid.Bool().Draw(t, "virtual")
		for range rapid.IntRange(0, 4).Draw(t, "rows") {
			table.children = append(table.children, a.person())
		}
		w.children = append(w.children, table)
		a.windows = append(a.windows, w)
	}
	return a
}

// all returns all nodes in order, each with its parent.
func (a *app) all() (nodes []*node, parents []*node) {
	var visit func(n, parent *node)
	visit = func(n, parent *node) {
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

// A print is the appearance of an element and of its distinguishable ancestors, the nearest first, each
// with its tag.
type print []string

// twin reports whether two elements look the same and their ancestors look the same or are the same.
func (p print) twin(o print) bool {
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

// being returns the identity of the element with the ID. A reused element gets a new identity when its
// appearance changes.
func (p print) being(id desktop.ID) string {
	reused := slices.ContainsFunc(p, func(look string) bool {
		role, _, _ := strings.Cut(look, " ")
		return desktop.Role(role).IsSetMember()
	})
	if reused {
		return fmt.Sprint(id, " ", []string(p))
	}
	return fmt.Sprint(id, " ", p[0][strings.LastIndex(p[0], "="):])
}

// look takes a snapshot, and returns the identity and appearance of each element.
func (a *app) look() (s *desktop.Snapshot, tags []int, prints []print) {
	a.now++
	s = &desktop.Snapshot{}
	var visit func(n *node, parent int, path print)
	visit = func(n *node, parent int, path print) {
		e := desktop.Element{ID: n.id, Role: n.role, Name: n.name, Identifier: n.ext, States: desktop.Showing, Parent: parent}
		if n.virtual {
			e.States |= desktop.Virtual
		}
		i := len(s.Elements)
		looks := fmt.Sprintf("%s %q %s", n.role, n.name, n.ext)
		if n.role == desktop.Row && n.name == "" {
			looks += fmt.Sprintf(" of %q", n.children[0].name)
		}
		print := append(print{fmt.Sprint(looks, "=", n.tag)}, path...)
		s.Elements, tags, prints = append(s.Elements, e), append(tags, n.tag), append(prints, print)
		if key := print.being(n.id); a.born[key] == 0 {
			a.born[key] = a.now
		}
		if n.name != "" || n.ext != "" || n.role == desktop.Row || n.role == desktop.MenuItem || n.role == desktop.Window {
			path = print
		}
		for _, child := range n.children {
			visit(child, i, path)
		}
	}
	for _, w := range a.windows {
		visit(w, -1, nil)
	}
	desktop.SetEnds(s.Elements)
	return s, tags, prints
}

// redraw gives new IDs to a node and its descendants.
func (a *app) redraw(n *node) {
	n.id, n.usedAsRole = a.freshID(), map[desktop.Role]bool{n.role: true}
	for _, child := range n.children {
		a.redraw(child)
	}
}

// change applies one of the usual changes of apps.
func (a *app) change() {
	nodes, parents := a.all()
	pick := rapid.IntRange(0, len(nodes)-1).Draw(a.t, "which")
	n, parent := nodes[pick], parents[pick]
	siblings := &a.windows
	if parent != nil {
		siblings = &parent.children
	}
	inRow := slices.ContainsFunc(nodes, func(o *node) bool { return o.role == desktop.Row && slices.Contains(o.children, n) })
	switch what := rapid.SampledFrom([]string{"redraw", "rename", "delete", "reorder", "add", "recycle", "recycle", "takeover"}).Draw(a.t, "change"); {
	case what == "redraw":
		a.redraw(n)
	case what == "rename":
		n.name = rapid.SampledFrom([]string{"Save", "Edit", "Stop", "Ann", "Bob"}).Draw(a.t, "new name")
	case inRow || len(nodes) < 3:
	case what == "delete":
		*siblings = slices.DeleteFunc(slices.Clone(*siblings), func(o *node) bool { return o == n })
		if len(a.windows) == 0 {
			a.windows = []*node{a.node(desktop.Window, "New")}
		}
	case what == "reorder":
		*siblings = rapid.Permutation(*siblings).Draw(a.t, "order")
	case what == "add" && n.role != desktop.Row && n.role != desktop.Table:
		n.children = append(n.children, a.thing())
	case what == "add" && n.role == desktop.Table:
		n.children = slices.Insert(n.children, rapid.IntRange(0, len(n.children)).Draw(a.t, "at"), a.person())
	case what == "recycle" && n.role == desktop.Table && len(n.children) > 0:
		a.scroll(n)
	case what == "takeover":
		// The ID of a removed node is reused by a kind of element that never had it.
		other := a.thing()
		if len(n.children) == 0 && !n.usedAsRole[other.role] {
			other.id, other.usedAsRole = n.id, n.usedAsRole
			other.usedAsRole[other.role] = true
			*siblings = slices.Clone(*siblings)
			(*siblings)[slices.Index(*siblings, n)] = other
		}
	}
}

// act acts on an element of the snapshot, which may get the text of the action, another name, or none. No person
// has the text: a new row that looks like the result of the action could not be told from it.
func (a *app) act(r *Table, s *desktop.Snapshot) {
	nodes, _ := a.all()
	i := rapid.IntRange(0, len(nodes)-1).Draw(a.t, "acted")
	text := rapid.SampledFrom([]string{"", "Zoe", "Done"}).Draw(a.t, "text")
	r.Acted(s, i, text)
	if name := rapid.SampledFrom([]string{text, "Done", ""}).Draw(a.t, "new name"); name != "" {
		nodes[i].name = name
	}
}

// scroll shows other people in the same rows: the IDs of rows and their contents do not change.
func (a *app) scroll(table *node) {
	var ids []desktop.ID
	var used []map[desktop.Role]bool
	for _, row := range table.children {
		for _, n := range append([]*node{row}, row.children...) {
			ids, used = append(ids, n.id), append(used, n.usedAsRole)
		}
	}
	table.children = append(slices.Clone(table.children[1:]), a.person())
	if rapid.Bool().Draw(a.t, "by two") {
		table.children = rapid.Permutation(table.children).Draw(a.t, "sorted")
	}
	next := 0
	for _, row := range table.children {
		for _, n := range append([]*node{row}, row.children...) {
			n.id, n.usedAsRole = ids[next], used[next]
			next++
		}
	}
}

// A givenRef is a ref with the known facts about its element.
type givenRef struct {
	tag   int
	print print
	acted print // after the last action
	seen  int
	alive bool // found in the last snapshot
}

// TestARefNeverMeansAnotherElement simulates an app that redraws, renames, deletes, sorts and scrolls, and
// knows each element's identity. Occasionally it saves and loads the refs.
func TestARefNeverMeansAnotherElement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := play(t)
		r := New()
		given := map[string]*givenRef{}
		calm := true // elements were only recreated so far
		for range rapid.IntRange(2, 6).Draw(t, "snapshots") {
			s, tags, prints := a.look()
			check(t, a, r, given, s, tags, prints, calm)
			for i := range s.Elements {
				if rapid.IntRange(0, 3).Draw(t, "ask") == 0 {
					continue
				}
				ref := r.Ref(s, i)
				if g := given[ref]; g == nil {
					given[ref] = &givenRef{tag: tags[i], print: prints[i], seen: a.now, alive: true}
				} else if got, err := r.Resolve(s, ref); err != nil || got != i {
					t.Fatalf("%s was given to %d but is %d, %v", ref, i, got, err)
				}
			}
			if rapid.IntRange(0, 3).Draw(t, "keep") == 0 {
				r = remarshaled(t, r)
			}
			if calm = rapid.Bool().Draw(t, "calm"); calm {
				nodes, _ := a.all()
				a.redraw(rapid.SampledFrom(nodes).Draw(t, "redrawn"))
				continue
			}
			if rapid.Bool().Draw(t, "act") {
				a.act(r, s)
				_, tags, prints := a.look()
				for _, g := range given { // the action itself changes looks
					if i := slices.Index(tags, g.tag); i >= 0 && g.alive {
						g.acted = prints[i]
					}
				}
			}
			for range rapid.IntRange(1, 3).Draw(t, "changes") {
				a.change()
			}
		}
	})
}

// remarshaled saves and loads the refs.
func remarshaled(t *rapid.T, r *Table) *Table {
	data, err := json.Marshal(r)
	assert.NilError(t, err)
	again := New()
	assert.NilError(t, json.Unmarshal(data, again), data)
	return again
}

func check(t *rapid.T, a *app, r *Table, given map[string]*givenRef, s *desktop.Snapshot, tags []int, prints []print, calm bool) {
	means := map[int]string{}
	for ref, g := range given {
		i, err := r.Resolve(s, ref)
		if err != nil {
			assert.Assert(t, strings.HasPrefix(err.Error(), "STALE_REF"), "%s %v", ref, err)
			assert.Assert(t, !calm || !g.alive, "%s (%v) was only drawn anew: %v", ref, g.print, err)
			g.alive = false
			continue
		}
		if other := means[i]; other != "" {
			t.Fatalf("%s and %s both are %v", ref, other, prints[i])
		}
		means[i] = ref
		if tags[i] != g.tag {
			// The two are indistinguishable, and this one did not exist before.
			twin := (prints[i].twin(g.print) || g.acted != nil && prints[i].twin(g.acted)) && a.born[prints[i].being(s.Elements[i].ID)] > g.seen
			if !twin || calm && g.alive {
				t.Fatalf("%s was given for %v, tag %d, and is %v, tag %d", ref, g.print, g.tag, prints[i], tags[i])
			}
		}
		assert.Equal(t, r.Ref(s, i), ref)
		g.tag, g.print, g.acted, g.seen, g.alive = tags[i], prints[i], nil, a.now, true
	}
}
