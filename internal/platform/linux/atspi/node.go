package atspi

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// Limits for reading one app.
const (
	// maxNodes is the maximum number of elements in a snapshot.
	maxNodes = 20_000
	// maxChildren is the maximum number of children that one query requests. A spreadsheet has
	// 2,147,483,647, and the app would try to create them all.
	maxChildren = 2_000
	// maxOffscreen is the maximum number of off-screen elements that are read completely.
	maxOffscreen = 3_000
	// maxDepth is the maximum depth of the tree.
	maxDepth = 500
)

// offers is the set of an object's interfaces that this package uses.
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

// A node is an object of an app, with the properties that were read last.
type node struct {
	ref
	parent            *node // nil for the app itself
	children          []*node
	index             int  // index among its siblings, by the app; -1 if unknown
	count             int  // number of children, by the app; -1 if unknown
	unread            int  // number of children not read because they are too many
	childrenUncertain bool // whether the children may have changed
	looked            bool // inside was queried ahead
	inside            []ref
	listed            bool // its count was queried with the app's other listed nodes
	assumed           bool // assumed to be still a child of its parent
	bar               bar
	foreign           bool // of another process than its parent
	host              ref  // the parent that a foreign node itself reports

	read        bool // whether the following fields were read
	role        roleNumber
	states      stateSet
	offers      offers
	name        string // without toolkit placeholders for a missing name
	opens       bool   // starts with white space
	closes      bool   // ends with white space
	description string
	details

	// The following fields are derived when a snapshot is made.
	shown       bool // it and all ancestors have the visible state
	hidden      bool // shown, but its frame lies outside of the visible area
	offscreen   bool // not visible, but would be if an ancestor were scrolled
	elementRole desktop.Role
	tab         *node // of a page in GTK 4 or Qt, see pageTab
}

// details are the properties that are read only of showing nodes.
type details struct {
	detailed    bool
	detailsAt   time.Time    // time of reading the actions' names, identifiers and labels
	frame       desktop.Rect // as the app reports it
	text        string
	number      float64
	numeric     bool   // number is its value
	figures     string // the written number if it has more digits than number can hold
	textless    bool   // an empty field for a number
	written     bool   // text is the text written on it
	min, max    float64
	actions     []string
	identifier  string
	webRoles    string
	nameHints   nameHints
	pos, size   int
	level       int       // of a heading
	language    string    // of a page
	labels      []ref     // the nodes that label it
	placeholder string    // shown in the field while it is empty
	direction   direction // of the text in and around it
	labelBeside string    // the words of the label that names it by its place
	chosen      string    // name of the selected child
	runs        []*node   // its words with their places, see placeWords
}

func (n *node) action() bool { return n.offers&offersAction != 0 }

// title returns the name that the app gives the node.
func (n *node) title() string { return n.name }

// within reports whether the node is other or a descendant of it. It also returns true for a node deeper
// than the depth limit.
func (n *node) within(other *node) bool {
	for depth := 0; n != nil; n = n.parent {
		if depth++; n == other || depth > maxDepth {
			return true
		}
	}
	return false
}

// A tree holds the nodes that were read of an app.
type tree struct {
	root  *node
	nodes map[ref]*node
	// visibleState is the state that means visible: VISIBLE in toolkits that never set SHOWING inside a
	// window (GTK 4.8).
	visibleState stateSet
	outside      map[ref]string // names of labels outside of the tree
	older        *tree          // the last tree, while this one is built
	bars         []*node        // menu bars of an app that duplicates some
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

// adopt sets the node's children, in order, and returns those that were unknown or had no parent.
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
			continue // the app's tree contains a cycle
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

// remove removes the node and its descendants from the tree.
func (t *tree) remove(n *node) {
	n.parent = nil
	delete(t.nodes, n.ref)
	for _, child := range n.children {
		if child.parent == n {
			t.remove(child)
		}
	}
}

// updateVisibility determines which nodes are shown or off-screen. It discards the details of the other
// nodes, and of off-screen nodes unless far is set.
func (t *tree) updateVisibility(habits *profile, far bool) {
	t.visibleState = stateShowing
	if habits.lacksShowing && !t.anyBelowWindows(stateShowing) {
		t.visibleState = stateVisible
	}
	t.root.shown = true
	for _, window := range t.root.children {
		window.shown = window.states.has(stateShowing) || window.states.has(t.visibleState)
		window.updateVisibility(visibility{t.visibleState, far, habits.hidesScrolledRows, habits.hidesScrolledContent, habits.keepsLeftPages, habits.IsBrowser})
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

// inherit copies rarely changing details from an older tree.
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

// visibility holds an app's rules for visible nodes.
type visibility struct {
	visibleState stateSet
	offscreen    bool // off-screen elements are requested
	// rows reports whether rows that were scrolled away lack VISIBLE. Source: Qt's itemviews.cpp: rows
	// outside of the viewport are invisible.
	rows bool
	// content reports whether widgets that were scrolled away lack SHOWING. Source: GTK 3's
	// gtk_widget_accessible_on_screen, which compares widgets with their viewport.
	content bool
	pages   bool // pages of a notebook that are not open look visible
	labels  bool // boxes of pages may be drawn by their labels, see drawnBy
}

func (n *node) updateVisibility(s visibility) {
	n.detailed = n.detailed && (n.shown || n.offscreen && s.offscreen)
	for _, child := range n.children {
		child.tab = child.pageTab()
		kept := child.slides() || s.labels && child.drawnBy() != nil || s.content && child.fillsPane()
		shows := child.states.has(s.visibleState) || kept && child.states.has(stateVisible)
		child.shown = n.shown && shows && (child.tab == nil || !s.pages || child.tab.states.has(stateSelected))
		child.offscreen = !child.shown && (n.shown || n.offscreen) && s.visibleState == stateShowing && child.scrolledAway(n.offscreen, s)
		child.updateVisibility(s)
	}
}

// scrolledAway reports whether the node is VISIBLE and lacks SHOWING only because it was scrolled away: in
// a page, in a viewport, or among the rows of a list. Inside a scrolled-away element, this holds for every node
// that is not hidden.
func (n *node) scrolledAway(within bool, s visibility) bool {
	if !n.states.has(stateVisible) && (!s.rows || !n.states.has(stateTransient) && n.role != roleTableCell) {
		return false
	}
	switch n.parent.role {
	case roleComboBox:
		return false
	case roleMenu, roleMenuBar: // closed menus of a page are not in the tree
		return n.parent.inPage() && n.parent.parent.role != roleComboBox
	case rolePageTab: // in GTK 3 the parent of its page
		return (within || s.content && n.inViewport()) && n.parent.states.has(stateSelected)
	case roleToggleButton: // in GTK 3 an expander, or a button with a menu
		return (within || s.content && n.inViewport()) && n.parent.states.has(stateExpanded)
	case roleList, roleListBox, roleTree, roleTable, roleTreeTable:
		return within || plainRole(n.role).IsSetMember()
	case roleLayeredPane:
		return within || n.role == roleIcon
	}
	return within || n.inPage() || s.content && n.inViewport()
}

// inViewport reports whether the node is part of the content of a scroll area.
func (n *node) inViewport() bool {
	for n = n.parent; n != nil; n = n.parent {
		if n.role == roleViewport {
			return true
		}
	}
	return false
}

func (t *tree) anyBelowWindows(s stateSet) bool {
	for _, n := range t.nodes {
		if n.parent != nil && n.parent.parent != nil && n.states.has(s) {
			return true
		}
	}
	return false
}

// walk calls each for the node and its descendants, parents first, until each returns false. It then
// returns false too.
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

// same fails with STALE_REF if the object shows a different item than taken, the name that the caller
// knows. Rows of long lists are recycled: GTK 4 has about two hundred for any number of items, and
// reassigns them as people scroll.
func (p *program) same(ctx context.Context, n *node, id desktop.ID, taken string) error {
	known, ok := p.cache.Find(id)
	if !ok || !known.Role.IsSetMember() || taken == "" {
		return nil
	}
	name := n.name
	if name == "" || n.namedByContent(p.profile()) {
		var err error
		if name, err = p.written(ctx, n); err != nil {
			return err
		}
	}
	switch name {
	case "", taken, taken + " " + taken: // GTK 4.8 doubles some names
		return nil
	}
	if n.description == taken {
		return nil
	}
	return stale(p.app, nil)
}

// written reads the node's current text.
func (p *program) written(ctx context.Context, n *node) (string, error) {
	const most = 20 // parts of a row
	row := &node{ref: n.ref, count: n.count, read: true, role: n.role, states: n.states, offers: n.offers, childrenUncertain: true}
	if n.count <= 0 || n.count > most {
		return "", nil
	}
	t := newTree(p.root)
	t.nodes[row.ref] = row
	if err := p.expand(ctx, t, []*node{row}, false); err != nil {
		return "", err
	}
	return row.content(), nil
}
