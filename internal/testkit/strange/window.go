// Package strange makes windows at random, for tests of programs that no test names.
//
// [New] returns the description of a window: nested containers, controls with labels in
// different places, and habits of programs such as slow handlers and values that the program
// changes. The programs in the folder programs show it in GTK 3, GTK 4, Qt 6 and browsers, and
// write their own state to a file. That state is the oracle: it does not depend on accessibility.
//
// [Tasks] returns tasks for an agent in the window, and [Task.Judge] compares
// the program's state before and after with the task. The same seed makes the same window.
package strange

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Toolkit is the library or browser that shows a window.
type Toolkit string

// The toolkits.
const (
	GTK3     Toolkit = "gtk3"
	GTK4     Toolkit = "gtk4"
	Qt6      Toolkit = "qt6"
	Chromium Toolkit = "chromium"
	Firefox  Toolkit = "firefox"
)

// Toolkits returns all toolkits.
func Toolkits() []Toolkit { return []Toolkit{GTK3, GTK4, Qt6, Chromium, Firefox} }

// A Window is the description of a window.
type Window struct {
	Title   string  `json:"title"`
	Toolkit Toolkit `json:"toolkit"`
	Seed    uint64  `json:"seed"`
	Width   int     `json:"width"`
	Height  int     `json:"height"`
	Root    *Node   `json:"root"`
}

// A Kind is the kind of a container or control.
type Kind string

// The kinds of containers. Notebook and Expander can hide their children.
const (
	Column   Kind = "column"
	Row      Kind = "row"
	Grid     Kind = "grid"
	Frame    Kind = "frame"
	Paned    Kind = "paned"
	Scrolled Kind = "scrolled"
	Notebook Kind = "notebook" // a page for each child, with the tabs Items
	Expander Kind = "expander"
)

// The kinds of controls.
const (
	Entry     Kind = "entry"
	Password  Kind = "password"
	ReadOnly  Kind = "readonly"
	Text      Kind = "text" // of several lines
	Combo     Kind = "combo"
	EditCombo Kind = "editcombo"
	Spin      Kind = "spin"
	Slider    Kind = "slider"
	Switch    Kind = "switch"
	Check     Kind = "check"
	Radio     Kind = "radio" // a group, with an option for each of Items
	Button    Kind = "button"
	Link      Kind = "link"
	List      Kind = "list" // with a row for each of Items
	Table     Kind = "table"
	Menu      Kind = "menu" // a menu button with Items
	Note      Kind = "note" // a text without function
)

// A Labelling is the way in which a control gets its name.
type Labelling string

// The labellings. For Before, Above and After a label stands at that side, without a relation.
const (
	Own         Labelling = "own"      // the control's own text or accessible name
	Relation    Labelling = "relation" // a label before it that the toolkit relates to it
	Before      Labelling = "before"
	Above       Labelling = "above"
	After       Labelling = "after"
	Placeholder Labelling = "placeholder"
	Tooltip     Labelling = "tooltip"
	Nameless    Labelling = "none"
)

// A Node is a container or a control.
type Node struct {
	ID        string    `json:"id"` // its key in the state
	Kind      Kind      `json:"kind"`
	Name      string    `json:"name,omitempty"` // the text of its label
	Labelling Labelling `json:"labelling,omitempty"`
	Children  []*Node   `json:"children,omitempty"`
	Items     []string  `json:"items,omitempty"`
	Columns   []string  `json:"columns,omitempty"`
	Value     any       `json:"value,omitempty"` // at the start
	Max       int       `json:"max,omitempty"`   // of a number, or the length of a text
	Disabled  bool      `json:"disabled,omitempty"`
	Habits    Habits    `json:"habits,omitzero"`
}

// Habits are the peculiarities of a program.
type Habits struct {
	SlowMS    int    `json:"slow_ms,omitempty"`   // time from an event to its effect, in milliseconds
	Normalise string `json:"normalise,omitempty"` // "upper" or "trim": the program's form of a text, when focus leaves
	Rename    bool   `json:"rename,omitempty"`    // its name contains its value
	Redraw    bool   `json:"redraw,omitempty"`    // the rows are made anew at each event
	Icon      bool   `json:"icon,omitempty"`      // an icon that acts is inside the field
	Dialog    bool   `json:"dialog,omitempty"`    // the button asks in a dialog, which has to be closed
	// Custom is the way in which a page makes the control: "shadow" in the shadow root of a custom
	// element, "hidden" by an input that cannot be seen, "div" or "editable" without an element of
	// its kind.
	Custom string `json:"custom,omitempty"`
}

// words are the parts of names. Some are rare in user interfaces on purpose.
func words() []string {
	return strings.Fields("Summary Alpha Owner Depth Branch Crate Level Target Region Marker Folder Invoice Route Batch Track Limit Signal Vendor Margin Station Profile Cabin Pocket Ledger Harbour Meadow Quartz Basket Lantern Corner Thread Canvas Bridge Engine Forest Garden Hammer Island Jacket Kernel Ladder Magnet Needle Orchard Pencil Rocket Saddle Temple Umbrella Valley Window Yellow Zone")
}

// New returns the window of the seed.
func New(seed uint64, toolkit Toolkit) *Window {
	m := &maker{random: rand.New(rand.NewPCG(seed, 43)), toolkit: toolkit} //nolint:gosec // reproducible, and no secret
	w := &Window{Toolkit: toolkit, Seed: seed, Title: fmt.Sprintf("Strange %d", seed), Width: 640 + 40*m.random.IntN(10), Height: 480 + 40*m.random.IntN(8)}
	m.left = 6 + m.random.IntN(12)
	w.Root = m.container(Column, 0)
	for m.left > 0 {
		w.Root.Children = append(w.Root.Children, m.control())
	}
	return w
}

// A maker makes the nodes of a window.
type maker struct {
	random  *rand.Rand
	toolkit Toolkit
	made    int      // nodes
	left    int      // controls to make
	names   []string // used
}

func (m *maker) oneIn(n int) bool { return m.random.IntN(n) == 0 }

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func (m *maker) node(kind Kind) *Node {
	m.made++
	return &Node{ID: fmt.Sprintf("n%d", m.made), Kind: kind}
}

// name returns a new name, or sometimes a used one.
func (m *maker) name() string {
	if len(m.names) > 0 && m.oneIn(14) {
		return pick(m.random, m.names...)
	}
	for {
		name := pick(m.random, words()...)
		if m.oneIn(2) {
			name += " " + strings.ToLower(pick(m.random, words()...))
		}
		if !slices.Contains(m.names, name) {
			m.names = append(m.names, name)
			return name
		}
	}
}

// container returns a container with up to five children.
func (m *maker) container(kind Kind, depth int) *Node {
	n := m.node(kind)
	switch kind {
	case Frame, Expander:
		n.Name = m.name()
	}
	if kind == Expander && m.oneIn(2) {
		n.Value = true // it is open
	}
	children := 1
	switch kind {
	case Paned:
		children = 2
	case Notebook:
		children = 2 + m.random.IntN(2)
	case Column, Row, Grid:
		children = 2 + m.random.IntN(4)
	}
	for range children {
		var child *Node
		switch {
		case kind == Notebook || kind == Paned || kind == Expander || kind == Scrolled || kind == Frame:
			child = m.container(pick(m.random, Column, Column, Grid), depth+1)
		case depth < 4 && m.left > 1 && m.oneIn(3):
			child = m.container(pick(m.random, Column, Row, Grid, Frame, Paned, Scrolled, Notebook, Notebook, Expander), depth+1)
		default:
			child = m.control()
		}
		n.Children = append(n.Children, child)
		if kind == Notebook {
			n.Items = append(n.Items, m.name())
		}
	}
	return n
}

// control returns a control.
func (m *maker) control() *Node {
	m.left--
	n := m.node(pick(m.random, Entry, Entry, Entry, Entry, Password, ReadOnly, Text, Combo, Combo, EditCombo, Spin, Slider, Switch, Check, Check, Radio,
		Button, Button, Button, Link, List, List, Table, Menu, Note))
	n.Name = m.name()
	n.Labelling = m.labelling(n.Kind)
	n.Disabled = m.oneIn(25) && n.Kind != Note && n.Kind != List && n.Kind != Table
	m.fill(n)
	if m.oneIn(5) {
		n.Habits.SlowMS = 50 + m.random.IntN(400)
	}
	if m.isPage() {
		n.Habits.Custom = m.custom(n.Kind)
	}
	switch n.Kind {
	case Entry:
		n.Habits.Icon = m.oneIn(5) && !m.isPage()
		if m.oneIn(8) {
			n.Habits.Normalise = pick(m.random, "upper", "trim")
		}
	case Button:
		n.Habits.Rename = m.oneIn(8)
		n.Habits.Dialog = m.oneIn(10)
	case List:
		n.Habits.Redraw = m.oneIn(6)
	}
	return n
}

func (m *maker) isPage() bool { return m.toolkit == Chromium || m.toolkit == Firefox }

// custom returns a way in which a page can make a control of the kind; "" is the usual one.
func (m *maker) custom(kind Kind) string {
	switch kind {
	case Entry, Combo:
		return pick(m.random, "", "", "", "shadow")
	case Text:
		return pick(m.random, "", "shadow", "editable")
	case Button:
		return pick(m.random, "", "", "shadow", "div")
	case Check, Switch:
		return pick(m.random, "", "", "hidden")
	}
	return ""
}

// labelling returns a way in which a control of the kind can get its name.
func (m *maker) labelling(kind Kind) Labelling {
	switch kind {
	case Entry, Password:
		return pick(m.random, Own, Relation, Relation, Before, Before, Above, After, Placeholder)
	case Text, Combo, EditCombo, Spin, Slider, ReadOnly:
		return pick(m.random, Own, Relation, Relation, Before, Before, Above)
	case Switch:
		return pick(m.random, Own, Relation, Before)
	case Button:
		if m.oneIn(5) {
			return Tooltip
		}
	case List, Table:
		return pick(m.random, Own, Above, Nameless)
	}
	return Own
}

// fill gives the control its values.
func (m *maker) fill(n *Node) {
	switch n.Kind {
	case Entry, EditCombo:
		n.Value = pick(m.random, "", "", "draft", "two words")
	case Password:
		n.Value = ""
	case ReadOnly:
		n.Value = "fixed " + strings.ToLower(m.name())
	case Text:
		n.Value = pick(m.random, "", "first line\nsecond line")
	case Spin, Slider:
		n.Max = pick(m.random, 10, 50, 100, 1000)
		n.Value = m.random.IntN(n.Max + 1)
	case Switch, Check:
		n.Value = m.oneIn(2)
	}
	if slices.Contains([]Kind{Combo, EditCombo, Radio, Menu}, n.Kind) {
		for range 3 + m.random.IntN(4) {
			n.Items = append(n.Items, m.name())
		}
		slices.Sort(n.Items)
		n.Items = slices.Compact(n.Items)
		if n.Kind == Combo || n.Kind == Radio {
			n.Value = n.Items[0]
		}
	}
	if n.Kind == List || n.Kind == Table {
		word := pick(m.random, words()...)
		for i := range pick(m.random, 3, 6, 12, 40, 300) {
			n.Items = append(n.Items, fmt.Sprintf("%s %d", word, i+1))
		}
		n.Value = ""
	}
	if n.Kind == Table {
		n.Columns = []string{"Item", m.name(), m.name()}
		n.Items = n.Items[:min(len(n.Items), 40)]
	}
}

// Walk calls visit for each node, parents first, with the nodes above it.
func (w *Window) Walk(visit func(n *Node, above []*Node)) {
	var walk func(n *Node, above []*Node)
	walk = func(n *Node, above []*Node) {
		visit(n, above)
		above = append(slices.Clip(above), n)
		for _, child := range n.Children {
			walk(child, above)
		}
	}
	walk(w.Root, nil)
}
