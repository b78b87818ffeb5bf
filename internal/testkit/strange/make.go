package strange

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// words are the parts of names. Some are rare in user interfaces on purpose.
func words() []string {
	return strings.Fields("Summary Alpha Owner Depth Branch Crate Level Target Region Marker Folder Invoice Route Batch Track Limit Signal Vendor Margin Station Profile Cabin Pocket Ledger Harbour Meadow Quartz Basket Lantern Corner Thread Canvas Bridge Engine Forest Garden Hammer Island Jacket Kernel Ladder Magnet Needle Orchard Pencil Rocket Saddle Temple Umbrella Valley Window Yellow Zone")
}

// New returns the window of the seed.
func New(seed uint64, toolkit Toolkit) *Window {
	m := &maker{random: rand.New(rand.NewPCG(seed, 43)), toolkit: toolkit} //nolint:gosec // reproducible, and no secret
	w := &Window{Toolkit: toolkit, Seed: seed, Title: fmt.Sprintf("Strange %d", seed), Width: 640 + 40*m.random.IntN(10), Height: 480 + 40*m.random.IntN(8)}
	w.RightToLeft = m.oneIn(12)
	m.left = 6 + m.random.IntN(12)
	w.Root = m.container(Column, 0)
	for m.left > 0 {
		w.Root.Children = append(w.Root.Children, m.control())
	}
	if m.oneIn(4) {
		w.Root.Children = slices.Insert(w.Root.Children, 0, m.container(Toolbar, 1))
	}
	if m.oneIn(3) {
		bar := m.node(MenuBar)
		m.fill(bar)
		w.Root.Children = slices.Insert(w.Root.Children, 0, bar)
	}
	w.Status = !m.oneIn(6)
	return w
}

// A maker makes the nodes of a window.
type maker struct {
	random  *rand.Rand
	toolkit Toolkit
	made    int      // nodes
	left    int      // controls to make
	names   []string // used
	once    []Kind   // of which the window has one
}

func (m *maker) oneIn(n int) bool { return m.random.IntN(n) == 0 }

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func (m *maker) node(kind Kind) *Node {
	m.made++
	return &Node{ID: fmt.Sprintf("n%d", m.made), Kind: kind}
}

// name returns a new name, or sometimes a used one.
func (m *maker) name() string {
	if len(m.names) > 0 && m.oneIn(18) {
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

// someNames returns a few different names.
func (m *maker) someNames() []string {
	var names []string
	for range 3 + m.random.IntN(4) {
		names = append(names, m.name())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// container returns a container with its children.
func (m *maker) container(kind Kind, depth int) *Node {
	n := m.node(kind)
	switch kind { //nolint:exhaustive // other containers have no name
	case Frame, Expander, Popover, Dialog:
		n.Name = m.name()
	}
	n.Modal = kind == Dialog && m.oneIn(2)
	if kind == Expander && m.oneIn(2) {
		n.Value = true // it is open
	}
	for range m.childCount(kind) {
		n.Children = append(n.Children, m.child(kind, depth))
		if kind == Notebook || kind == Stack {
			n.Items = append(n.Items, m.name())
		}
	}
	if kind == Grid && m.oneIn(2) {
		n.Places = m.random.Perm(len(n.Children))
	}
	if kind == Frame && m.toolkit.IsBrowser() && m.oneIn(3) {
		n.Habits.Custom = "shadow"
	}
	return n
}

func (m *maker) childCount(kind Kind) int {
	switch kind { //nolint:exhaustive // others have one
	case Paned:
		return 2
	case Notebook, Stack, Wizard:
		return 2 + m.random.IntN(2)
	case Column, Row, Grid, Toolbar:
		return 2 + m.random.IntN(4)
	}
	return 1
}

// child returns a child for a container of the kind.
func (m *maker) child(kind Kind, depth int) *Node {
	switch kind { //nolint:exhaustive // others have children of all kinds
	case Toolbar:
		n := m.node(Button)
		n.Name, n.Labelling = m.name(), pick(m.random, Own, Tooltip, Tooltip, Nameless)
		return n
	case Notebook, Stack, Wizard, Paned, Expander, Scrolled, Frame, Popover, Dialog, IFrame:
		return m.container(pick(m.random, Column, Column, Grid), depth+1)
	}
	if depth < 4 && m.left > 1 && m.oneIn(3) {
		return m.container(m.containerKind(), depth+1)
	}
	return m.control()
}

// containerKind draws the kind of a container. A window has one of those that come with common
// names, such as "Next".
func (m *maker) containerKind() Kind {
	kinds := []Kind{Column, Row, Grid, Frame, Paned, Scrolled, Scrolled, Notebook, Notebook, Stack, Wizard, Expander, Popover, Dialog}
	if m.toolkit.IsBrowser() {
		kinds = append(kinds, IFrame)
	}
	for {
		kind := pick(m.random, kinds...)
		if slices.Contains(m.once, kind) {
			continue
		}
		if kind == Wizard || kind == Dialog || kind == Popover {
			m.once = append(m.once, kind)
		}
		return kind
	}
}

// control returns a control.
func (m *maker) control() *Node {
	m.left--
	n := m.node(pick(m.random, Entry, Entry, Entry, Entry, Entry, Password, ReadOnly, Text, Text, Combo, Combo, EditCombo, Spin, Spin, Slider, Switch, Check, Check, Radio,
		Button, Button, Button, Link, List, List, List, CheckList, Tree, Table, Sheet, Menu, Date, Calendar, Drawn, Note))
	n.Name = m.name()
	n.Labelling = m.labelling(n.Kind)
	m.fill(n)
	m.giveHabits(n)
	if slices.Contains([]Kind{Note, List, CheckList, Tree, Table, Sheet, Drawn}, n.Kind) {
		return n
	}
	switch m.random.IntN(60) {
	case 0, 1:
		n.Disabled = true
	case 2:
		n.Hidden = true
	case 3:
		n.Covered = true
	}
	return n
}

func (m *maker) giveHabits(n *Node) {
	if m.oneIn(5) {
		n.Habits.SlowMS = 50 + m.random.IntN(400)
	}
	n.Habits.Custom = m.custom(n.Kind)
	switch n.Kind { //nolint:exhaustive // others have no more habits
	case Entry:
		n.Habits.Icon = m.oneIn(5) && !m.toolkit.IsBrowser()
		n.Habits.Steal = m.oneIn(15)
		n.Habits.Dialog = m.oneIn(20)
		switch m.random.IntN(16) {
		case 0, 1:
			n.Habits.Normalise = pick(m.random, "upper", "trim")
		case 2:
			n.Habits.Accepts, n.Value = "digits", "42"
		case 3:
			n.Habits.Accepts, n.Value = "mask", "12-34-56"
		case 4:
			n.Max = 6
			n.Value = "draft"
		}
	case Button:
		n.Habits.Rename = m.oneIn(8)
		n.Habits.Dialog = m.oneIn(10)
	case Slider, Check:
		n.Habits.Rename = m.oneIn(6)
	case List:
		n.Habits.Recycle = n.Habits.Recycle || m.oneIn(4)
		n.Habits.Redraw = !n.Habits.Recycle && m.oneIn(5)
	}
}

// custom returns an unusual way to make a control of the kind; "" is the usual one.
func (m *maker) custom(kind Kind) string {
	if !m.toolkit.IsBrowser() {
		if kind == Table && m.toolkit == GTK4 {
			return pick(m.random, "", "", "old")
		}
		return ""
	}
	switch kind { //nolint:exhaustive // others are made in the usual way
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
	switch kind { //nolint:exhaustive // others have their own name
	case Entry, Password:
		return pick(m.random, Own, Relation, Relation, Before, Before, Above, After, Placeholder)
	case Text, Combo, EditCombo, Spin, Slider, ReadOnly, Date:
		return pick(m.random, Own, Relation, Relation, Before, Before, Above)
	case Switch:
		return pick(m.random, Own, Relation, Before)
	case Button:
		if m.oneIn(5) {
			return Tooltip
		}
	case List, CheckList, Tree, Table, Sheet, Calendar:
		return pick(m.random, Own, Above, Nameless)
	}
	return Own
}

// fill gives the control its values.
func (m *maker) fill(n *Node) {
	switch n.Kind { //nolint:exhaustive // others have no value at the start
	case Entry, EditCombo:
		n.Value = pick(m.random, "", "", "draft", "two words")
	case Password:
		n.Value = ""
	case ReadOnly:
		n.Value = "fixed " + strings.ToLower(m.name())
	case Text:
		n.Value = pick(m.random, "", "first line\nsecond line")
	case Date, Calendar:
		n.Value = m.date()
	case Spin, Slider:
		n.Max = pick(m.random, 10, 50, 100, 1000)
		n.Value = m.random.IntN(n.Max + 1)
	case Switch, Check:
		n.Value = m.oneIn(2)
	case Combo, Radio:
		n.Items = m.someNames()
		n.Value = n.Items[0]
	case Menu, Drawn:
		n.Items = m.someNames()
	}
	if n.Kind == EditCombo {
		n.Items = m.someNames()
	}
	m.fillRows(n)
}

func (m *maker) date() string {
	return fmt.Sprintf("2026-%02d-%02d", 1+m.random.IntN(12), 1+m.random.IntN(28))
}

// fillRows gives lists, tables, trees and menu bars their rows.
func (m *maker) fillRows(n *Node) {
	switch n.Kind { //nolint:exhaustive // others have no rows
	case List, CheckList, Table, Sheet:
		n.Value = ""
		word := pick(m.random, words()...)
		count := pick(m.random, 3, 6, 12, 40, 300)
		if n.Kind == List && m.oneIn(12) {
			count, n.Habits.Recycle = 3000, true
		}
		if n.Kind != List {
			count = min(count, 40)
		}
		for i := range count {
			n.Items = append(n.Items, fmt.Sprintf("%s %d", word, i+1))
		}
	case Tree, MenuBar:
		n.Value = ""
		n.Items = m.someNames()[:2]
		for range n.Items {
			n.Leaves = append(n.Leaves, m.someNames())
		}
	}
	switch n.Kind { //nolint:exhaustive // others have neither
	case Table, Sheet:
		n.Columns = []string{"Item", m.name(), m.name()}
	case List:
		if m.oneIn(4) {
			n.Choices = m.someNames()
		}
	}
}

// cell returns the text of a cell of a table or sheet at the start.
func (n *Node) cell(row, column int) string {
	if column == 0 {
		return n.Items[row]
	}
	return fmt.Sprintf("%s %d", strings.ToLower(n.Columns[column]), row+1)
}
