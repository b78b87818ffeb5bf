package strange

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// A Fixture is a window with one task, as a test keeps it.
type Fixture struct {
	Window *Window `json:"window"`
	Task   Task    `json:"task"`
}

// ParseFixture reads a fixture.
func ParseFixture(text []byte) (*Fixture, error) {
	f := new(Fixture)
	if err := json.Unmarshal(text, f); err != nil {
		return nil, err
	}
	f.bind()
	return f, nil
}

// bind gives the task and its steps their nodes. Steps whose node is gone are left out.
func (f *Fixture) bind() (isWhole bool) {
	nodes := make(map[string]*Node)
	f.Window.Walk(func(n *Node, above []*Node) {
		nodes[n.ID] = n
		if n.ID == f.Task.ID {
			f.Task.Above = above
		}
	})
	f.Task.Node = nodes[f.Task.ID]
	f.Task.Steps = slices.DeleteFunc(f.Task.Steps, func(s Step) bool { return nodes[s.ID] == nil })
	for i := range f.Task.Steps {
		f.Task.Steps[i].Node = nodes[f.Task.Steps[i].ID]
	}
	return f.Task.Node != nil
}

// clone returns a copy of the fixture that shares nothing with it.
func (f *Fixture) clone() *Fixture {
	text, err := json.Marshal(f)
	if err != nil {
		return nil
	}
	c, err := ParseFixture(text)
	if err != nil {
		return nil
	}
	return c
}

// Shrink returns a smaller window in which the task still fails. It calls fails for up to tries
// windows, those first that lack the most.
func Shrink(f *Fixture, tries int, fails func(*Fixture) bool) *Fixture {
	for smaller := true; smaller; {
		smaller = false
		for _, id := range f.removable() {
			c := f.clone()
			if c == nil || !c.remove(id) {
				continue
			}
			if tries--; tries < 0 {
				return f
			}
			if fails(c) {
				f, smaller = c, true
				break
			}
		}
	}
	return f
}

// removable returns the IDs of the nodes without which the window can be shown, those with the
// most nodes below them first.
func (f *Fixture) removable() []string {
	size := make(map[string]int)
	f.Window.Walk(func(n *Node, above []*Node) {
		for _, a := range above {
			size[a.ID]++
		}
		size[n.ID]++
	})
	delete(size, f.Window.Root.ID)
	delete(size, f.Task.ID)
	var ids []string
	for id := range size {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(size[b]-size[a], strings.Compare(a, b))
	})
	return ids
}

// remove removes a node. If the task needs a node below it, that takes its place. Pages stay, as
// their names and numbers would be wrong otherwise.
func (f *Fixture) remove(id string) bool {
	removed := false
	f.Window.Walk(func(n *Node, _ []*Node) {
		i := slices.IndexFunc(n.Children, func(child *Node) bool { return child.ID == id })
		if i < 0 || removed {
			return
		}
		child := n.Children[i]
		next := slices.IndexFunc(child.Children, func(c *Node) bool {
			return c.ID == f.Task.ID || slices.ContainsFunc(f.Task.Above, func(a *Node) bool { return a.ID == c.ID })
		})
		switch {
		case next >= 0:
			n.Children[i] = child.Children[next]
		case slices.Contains([]Kind{Notebook, Stack, Wizard, Paned, Frame, Expander, Popover, Dialog, Scrolled, IFrame}, n.Kind):
			return
		default:
			n.Children = slices.Delete(n.Children, i, i+1)
			n.Places = nil
		}
		removed = true
	})
	return removed && f.bind()
}
