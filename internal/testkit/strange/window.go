// Package strange makes windows at random, for tests of programs that no test names.
//
// [New] returns the description of a window: nested containers, controls with labels in
// different places, and habits of programs such as slow handlers and values that the program
// changes. A [Stage] shows it in GTK 3, GTK 4, Qt 6 or a browser, by the programs in the folder
// programs. They write their own state to a file. That state is the oracle: it does not depend on
// accessibility.
//
// [Tasks] returns tasks for an agent in the window, and [Task.Judge] compares
// the program's state before and after with the task. The same seed makes the same window.
// [Shrink] reduces a window to the parts that a failure needs.
package strange

import "slices"

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

// IsBrowser reports whether the toolkit shows pages.
func (t Toolkit) IsBrowser() bool { return t == Chromium || t == Firefox }

// A Window is the description of a window.
type Window struct {
	Title   string  `json:"title"`
	Toolkit Toolkit `json:"toolkit"`
	Seed    uint64  `json:"seed"`
	Width   int     `json:"width"`
	Height  int     `json:"height"`
	// RightToLeft mirrors the window.
	RightToLeft bool `json:"rtl,omitempty"`
	// Status means that the window counts the events of its controls in a line at its end, as most
	// programs show something after a press.
	Status bool  `json:"status,omitempty"`
	Root   *Node `json:"root"`
}

// A Kind is the kind of a container or control.
type Kind string

// The kinds of containers.
const (
	Column   Kind = "column"
	Row      Kind = "row"
	Grid     Kind = "grid"
	Frame    Kind = "frame"
	Paned    Kind = "paned"
	Scrolled Kind = "scrolled"
	Toolbar  Kind = "toolbar"
	IFrame   Kind = "iframe" // of a page
)

// The kinds of containers that can hide their children.
const (
	Notebook Kind = "notebook" // a page for each child, with the tabs Items
	Stack    Kind = "stack"    // a page for each child, chosen in a list of Items or by links
	Wizard   Kind = "wizard"   // a page for each child, and the buttons "Next" and "Back"
	Expander Kind = "expander"
	Popover  Kind = "popover" // a button that opens it
	Dialog   Kind = "dialog"  // a button that opens it; "Dismiss" closes it
)

// The kinds of controls.
const (
	Entry     Kind = "entry"
	Password  Kind = "password"
	ReadOnly  Kind = "readonly"
	Text      Kind = "text" // of several lines
	Date      Kind = "date"
	Calendar  Kind = "calendar"
	Combo     Kind = "combo"
	EditCombo Kind = "editcombo"
	Spin      Kind = "spin"
	Slider    Kind = "slider"
	Switch    Kind = "switch"
	Check     Kind = "check"
	Radio     Kind = "radio" // a group, with an option for each of Items
	Button    Kind = "button"
	Link      Kind = "link"
	List      Kind = "list"      // with a row for each of Items, and the context menu Choices
	CheckList Kind = "checklist" // a list with a check box in each row
	Tree      Kind = "tree"      // with the rows Items, and Leaves below them
	Table     Kind = "table"     // with rows that can be chosen
	Sheet     Kind = "sheet"     // with cells that can be edited
	Menu      Kind = "menu"      // a menu button with Items
	MenuBar   Kind = "menubar"   // with the menus Items, and the items Leaves below them
	Drawn     Kind = "drawn"     // an area with drawn words Items, which accessibility does not know
	Note      Kind = "note"      // a text without function
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
	ID        string     `json:"id"` // its key in the state
	Kind      Kind       `json:"kind"`
	Name      string     `json:"name,omitempty"` // the text of its label
	Labelling Labelling  `json:"labelling,omitempty"`
	Children  []*Node    `json:"children,omitempty"`
	Places    []int      `json:"places,omitempty"` // of the children in a grid, if these are not in order
	Items     []string   `json:"items,omitempty"`
	Leaves    [][]string `json:"leaves,omitempty"` // the rows or items below each of Items
	Choices   []string   `json:"choices,omitempty"`
	Columns   []string   `json:"columns,omitempty"`
	Value     any        `json:"value,omitempty"` // at the start
	Max       int        `json:"max,omitempty"`   // of a number, or the length of a text
	Disabled  bool       `json:"disabled,omitempty"`
	Hidden    bool       `json:"hidden,omitempty"`
	Covered   bool       `json:"covered,omitempty"` // by something opaque
	Modal     bool       `json:"modal,omitempty"`   // of a dialog
	Habits    Habits     `json:"habits,omitzero"`
}

// Habits are the peculiarities of a program.
type Habits struct {
	SlowMS    int    `json:"slow_ms,omitempty"`   // time from an event to its effect, in milliseconds
	Normalise string `json:"normalise,omitempty"` // "upper" or "trim": the program's form of a text, when focus leaves
	Accepts   string `json:"accepts,omitempty"`   // "digits", or "mask" for the form 12-34-56
	Rename    bool   `json:"rename,omitempty"`    // its name contains its value
	Redraw    bool   `json:"redraw,omitempty"`    // the rows are made anew at each event
	Recycle   bool   `json:"recycle,omitempty"`   // the rows are drawn from a model, or only those in view exist
	Steal     bool   `json:"steal,omitempty"`     // the program takes the focus from it
	Icon      bool   `json:"icon,omitempty"`      // an icon that acts is inside the field
	Dialog    bool   `json:"dialog,omitempty"`    // its first event opens a dialog, which has to be closed
	// Custom is an unusual way of making the control: "shadow" in the shadow root of a custom
	// element, "hidden" by an input that cannot be seen, "div" or "editable" without an element of
	// its kind, "old" by a widget of the toolkit that accessibility does not know.
	Custom string `json:"custom,omitempty"`
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
