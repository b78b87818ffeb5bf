package atspi

import (
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// Limits on what is read of one app.
const (
	// maxNodes is how many elements a snapshot holds.
	maxNodes = 20_000
	// maxChildren is how many children are asked for at once. The sheet of a
	// spreadsheet has 2,147,483,647, and the app tries to make them all.
	maxChildren = 2_000
	// maxOffscreen is how many elements are read completely that are out of view.
	maxOffscreen = 3_000
	// maxDepth is how deep elements may be in each other.
	maxDepth = 500
)

// offers are the interfaces of an object that matter to us.
type offers uint16

const (
	offersAction offers = 1 << iota
	offersComponent
	offersEditable
	offersSelection
	offersTable
	offersText
	offersValue
)

func offer(iface string) offers {
	switch iface {
	case actionInterface:
		return offersAction
	case componentInterface:
		return offersComponent
	case editableInterface:
		return offersEditable
	case selectionInterface:
		return offersSelection
	case tableInterface:
		return offersTable
	case textInterface:
		return offersText
	case valueInterface:
		return offersValue
	}
	return 0
}

// A node is an object of an app, as it was read last.
type node struct {
	ref
	parent            *node // nil for the app itself
	children          []*node
	index             int  // among the children of its parent, as the app says; -1 if it does not
	count             int  // of its children, as the app says; -1 if it does not
	unread            int  // how many of them are too many to be read
	childrenUncertain bool // whether its children are still those
	looked            bool // inside was asked for ahead,
	inside            []ref
	listed            bool // it was asked how many it has, with all else that its app lists
	assumed           bool // to be its parent's child, because it was
	bar               bar
	foreign           bool // of another process than its parent
	host              ref  // whom it takes for its parent, if it is a guest

	read        bool // whether what follows was
	role        roleNumber
	states      stateSet
	offers      offers
	name        string // without what toolkits put in the place of none
	opens       bool   // white space is before it,
	closes      bool   // and behind
	description string
	details

	// What follows is worked out from the rest when a snapshot is made.
	shown       bool // it and all that it is in say that they are to be seen
	hidden      bool // but its place says that it cannot be seen
	offscreen   bool // it cannot be seen, and could if what it is in were scrolled
	elementRole desktop.Role
}

// details are what is read only of nodes that show.
type details struct {
	detailed   bool
	detailsAt  time.Time    // when the names of its actions, its identifiers and labels were
	frame      desktop.Rect // as the app says
	text       string
	number     float64
	numeric    bool   // number is its value
	figures    string // the number as it is written, where it has more digits than number can hold
	textless   bool   // it is a field for a number, and nothing is in it
	written    bool   // text is what is written in it
	min, max   float64
	actions    []string
	identifier string
	webRoles   string
	nameHints  nameHints
	pos, size  int
	labels     []ref  // what labels it
	chosen     string // the name of the child that is selected in it
}

func (n *node) action() bool { return n.offers&offersAction != 0 }

// title is what the app itself calls the node.
func (n *node) title() string { return n.name }

// within reports whether the node is the other one or a part of it, or so deep in
// the tree that nobody can have meant it.
func (n *node) within(other *node) bool {
	for depth := 0; n != nil; n = n.parent {
		if depth++; n == other || depth > maxDepth {
			return true
		}
	}
	return false
}

// A tree is what was read of an app.
type tree struct {
	root  *node
	nodes map[ref]*node
	// visibleState is the state that says that a node is to be seen: VISIBLE in toolkits
	// that never say SHOWING of what is in a window (GTK 4.8).
	visibleState stateSet
	outside      map[ref]string // the names of labels that are not in the tree
	older        *tree          // the last reading, while this one is made
	bars         []*node        // the menu bars of an app that has some twice
	warnings     []string
}

func newTree(root ref) *tree {
	n := &node{ref: root, index: -1, count: -1}
	return &tree{root: n, nodes: map[ref]*node{root: n}, outside: map[ref]string{}, visibleState: stateShowing}
}

func (t *tree) warn(text string) {
	for _, w := range t.warnings {
		if w == text {
			return
		}
	}
	t.warnings = append(t.warnings, text)
}

// adopt makes the objects the node's children, in this order, and returns those
// that were not known, or were nobody's.
func (t *tree) adopt(n *node, refs []ref) (fresh []*node) {
	old := n.children
	n.childrenUncertain = false
	n.children = make([]*node, 0, len(refs))
	listed := make(map[ref]bool, len(refs))
	for i, r := range refs {
		if r.none() || listed[r] {
			continue
		}
		listed[r] = true
		child := t.nodes[r]
		if child == nil {
			if len(t.nodes) >= maxNodes {
				t.warn(tooManyWarning())
				continue
			}
			child = &node{ref: r, count: -1}
			t.nodes[r] = child
			fresh = append(fresh, child)
		} else if n.within(child) {
			continue // an app whose tree has a ring in it
		} else if child.parent == nil {
			fresh = append(fresh, child)
		} else if child.parent != n {
			child.parent.disown(child)
		}
		child.parent, child.index = n, i
		n.children = append(n.children, child)
	}
	for _, child := range old {
		if child.parent == n && !listed[child.ref] {
			t.remove(child)
		}
	}
	return fresh
}

func (n *node) disown(child *node) {
	for i, c := range n.children {
		if c == child {
			n.children = append(n.children[:i:i], n.children[i+1:]...)
			return
		}
	}
}

// remove forgets a node and all that is in it.
func (t *tree) remove(n *node) {
	n.parent = nil
	delete(t.nodes, n.ref)
	for _, child := range n.children {
		if child.parent == n {
			t.remove(child)
		}
	}
}

// updateVisibility works out which nodes say that they are to be seen, or would if they were scrolled
// to. What was read of the others counts no more, nor of these unless it is wanted.
func (t *tree) updateVisibility(habits traits, far bool) {
	t.visibleState = stateShowing
	if habits.windowRelative() && !t.anyBelowWindows(stateShowing) {
		t.visibleState = stateVisible
	}
	t.root.shown = true
	for _, window := range t.root.children {
		window.shown = window.states.has(stateShowing) || window.states.has(t.visibleState)
		window.updateVisibility(visibility{t.visibleState, far, habits.toolkit == qt})
	}
}

// all lists the nodes of the tree.
func (t *tree) all() []*node {
	nodes := make([]*node, 0, len(t.nodes))
	t.root.walk(func(n *node) bool {
		nodes = append(nodes, n)
		return true
	})
	return nodes
}

// inherit takes over what hardly ever changes from an older reading.
func (t *tree) inherit(older *tree, far bool) {
	for r, n := range t.nodes {
		if old := older.nodes[r]; old != nil && old.detailed && n.role == old.role && n.offers == old.offers && n.name == old.name {
			n.details = old.details
			n.detailed = n.shown || n.offscreen && far
			for _, label := range n.labels {
				if name, ok := older.outside[label]; ok {
					t.outside[label] = name
				}
			}
		}
	}
}

// visibility is what an app says of what can be seen.
type visibility struct {
	visibleState stateSet
	offscreen    bool // what is out of view is wanted
	// rows says that a row that was scrolled away says nothing of being visible. Source: Qt's
	// itemviews.cpp: what is not in its viewport is invisible.
	rows bool
}

func (n *node) updateVisibility(s visibility) {
	n.detailed = n.detailed && (n.shown || n.offscreen && s.offscreen)
	for _, child := range n.children {
		child.shown = n.shown && (child.states.has(s.visibleState) || child.slides() && child.states.has(stateVisible))
		child.offscreen = !child.shown && (n.shown || n.offscreen) && s.visibleState == stateShowing && child.scrolledAway(n.offscreen, s.rows)
		child.updateVisibility(s)
	}
}

// scrolledAway reports whether the node says that it is to be seen, and is not only because
// it was scrolled away: in a page, and among the rows of a list. In an element that was,
// all are that do not say they are hidden.
func (n *node) scrolledAway(within, rows bool) bool {
	if !n.states.has(stateVisible) && (!rows || !n.states.has(stateTransient)) {
		return false
	}
	switch n.parent.role {
	case roleMenu, roleComboBox, roleMenuBar:
		return false
	case roleList, roleListBox, roleTree, roleTable, roleTreeTable:
		return within || plainRole(n.role).IsSetMember()
	case roleLayeredPane:
		return within || n.role == roleIcon
	}
	return within || n.inPage()
}

func (t *tree) anyBelowWindows(s stateSet) bool {
	for _, n := range t.nodes {
		if n.parent != nil && n.parent.parent != nil && n.states.has(s) {
			return true
		}
	}
	return false
}

// walk calls each for the node and all that is in it, a parent before its
// children, until it returns false.
func (n *node) walk(each func(*node) bool) bool {
	if !each(n) {
		return false
	}
	for _, child := range n.children {
		if !child.walk(each) {
			return false
		}
	}
	return true
}
