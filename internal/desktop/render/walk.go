package render

import (
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A partKind is how many elements a part of an outline tells, and how.
type partKind int

const (
	onePart      partKind = iota // one element, without what is in it
	linePart                     // one element with all that is in it, on its line
	runPart                      // neighbours of one role
	foldPart                     // rows alike
	renderedPart                 // what the pages before told of, with something out of view in it
)

// A part is what an outline tells at once: a line of text. The next part begins
// where it ends, so a page ends between two parts.
type part struct {
	kind       partKind
	depth      int
	first, end int   // the nodes it tells of, all of them together
	items      []int // of linePart and runPart: the nodes that it names, besides the first of linePart
	fold       *fold
	acting     int // how many of the nodes act
	tooDeep    int // of onePart: how many act that are below the depth asked for
}

// A walker goes through a sketch and yields its parts in order, until yield
// returns false.
type walker struct {
	*model
	detail *detail
	from   int  // the element to begin with
	flat   bool // every element is a part of its own
	yield  func(part) bool
}

// children walks the children of a node, or the windows for -1. It returns false
// when the yield does not want more.
func (w *walker) children(parent, depth int) bool {
	c, end := 0, len(w.nodes)
	if parent >= 0 {
		c, end = parent+1, w.nodes[parent].end
	}
	for c < end {
		n := &w.nodes[c]
		switch {
		case w.nodes[n.end-1].elem < w.from || !w.isShown(c):
			c = n.end
		case n.elem < w.from: // the page begins within it
			if !w.children(c, depth+1) {
				return false
			}
			c = n.end
		default:
			next, more := w.group(c, end, depth)
			if !more {
				return false
			}
			c = next
		}
	}
	return true
}

// group walks a node, or as many siblings beginning with it as go together, and
// returns the sibling after them.
func (w *walker) group(c, end, depth int) (next int, more bool) {
	if w.nodes[c].rendered {
		return w.nodes[c].end, w.yield(part{kind: renderedPart, depth: depth, first: c, end: c + 1}) && w.children(c, depth+1)
	}
	if rows := w.similarSiblings(c, end); len(rows) >= w.detail.fold {
		return w.nodes[rows[len(rows)-1]].end, w.rows(rows, depth)
	}
	if items := w.run(c, end); len(items) >= 3 {
		p := part{kind: runPart, depth: depth, first: c, end: w.nodes[items[len(items)-1]].end, items: items}
		for _, i := range items {
			p.acting += w.nodes[i].acting
		}
		return p.end, w.yield(p)
	}
	return w.nodes[c].end, w.one(c, depth)
}

// isShown reports whether a node is told with this detail. What acts always is.
func (w *walker) isShown(c int) bool {
	n := &w.nodes[c]
	if !w.detail.terse() || n.refs > 0 || n.parent < 0 || n.rendered {
		return true
	}
	e, parent := w.element(c), w.element(n.parent)
	switch e.Role {
	case desktop.Alert, desktop.Status, desktop.Tooltip:
		return true
	case desktop.Heading:
		return w.detail.headings
	case desktop.Cell, desktop.RowHeader: // one that tells which row it is
		return parent.Role == desktop.Row && parent.Name == "" && c == n.parent+1 && w.nodes[n.parent].refs > 0
	}
	switch parent.Role {
	case desktop.Alert, desktop.Status, desktop.Dialog, desktop.AlertDialog, desktop.Tooltip:
		return w.detail.headings
	case desktop.Cell:
		return w.isShown(n.parent) && w.nodes[n.parent].refs == 0
	}
	return false
}

// inside returns the children of a node that are shown.
func (w *walker) inside(c int) []int {
	var shown []int
	for i := c + 1; i < w.nodes[c].end; i = w.nodes[i].end {
		if w.isShown(i) {
			shown = append(shown, i)
		}
	}
	return shown
}

// isLeaf reports whether a node is told by itself.
func (w *walker) isLeaf(c int) bool {
	n := &w.nodes[c]
	return n.end == c+1 || n.refs == n.ownRefs() && len(w.inside(c)) == 0
}

func (n *entry) ownRefs() int {
	if n.hasRef {
		return 1
	}
	return 0
}

// one yields one node and what is in it.
func (w *walker) one(c, depth int) bool {
	n := &w.nodes[c]
	if !w.flat {
		if only, through := w.onlyChild(c); through {
			return w.one(only, depth)
		}
		if items, ok := w.line(c); ok {
			return w.yield(part{kind: linePart, depth: depth, first: c, end: n.end, items: items, acting: n.acting})
		}
	}
	p := part{kind: onePart, depth: depth, first: c, end: c + 1}
	if n.acts {
		p.acting = 1
	}
	deepest := w.options.MaxDepth > 0 && depth >= w.options.MaxDepth
	if deepest {
		p.end, p.tooDeep = n.end, n.acting-p.acting
	}
	return w.yield(p) && (deepest || w.children(c, depth+1))
}

// onlyChild finds the only thing in a row that says nothing of itself.
func (w *walker) onlyChild(c int) (only int, ok bool) {
	n, e := &w.nodes[c], w.element(c)
	if n.hasRef || n.end == c+1 || !desktop.IsBlank(e.Name) || !e.Role.IsSetMember() && e.Role != desktop.Paragraph || e.UnreadChildren > 0 {
		return 0, false
	}
	shown := w.inside(c)
	if len(shown) != 1 {
		return 0, false
	}
	return shown[0], true
}

// line finds what is in a node if all of it goes on the node's line.
func (w *walker) line(c int) (items []int, ok bool) {
	n, e := &w.nodes[c], w.element(c)
	if n.end == c+1 || n.end-c > 24 || w.options.MaxDepth > 0 {
		return nil, false
	}
	switch e.Role {
	case desktop.Menubar, desktop.Tablist, desktop.Radiogroup, desktop.Toolbar:
	default:
		if e.Role == desktop.TreeItem || !e.Role.IsSetMember() && !e.Role.IsTextual() && (!n.acts || e.Role == desktop.Menu) {
			return nil, false
		}
	}
	length := 16 + min(len(e.Name), w.detail.name)
	for i := c + 1; i < n.end; {
		if !w.isShown(i) {
			i = w.nodes[i].end
			continue
		}
		item := w.element(i)
		if item.UnreadChildren > 0 || item.Role.IsRefContainer() {
			return nil, false
		}
		if leaf := w.isLeaf(i); leaf || w.nodes[i].hasRef || !desktop.IsBlank(item.Name) {
			items = append(items, i)
			if length += w.bytes(i); length > w.detail.line {
				return nil, false
			}
		}
		i++
	}
	return items, len(items) > 0
}

// bytes is about how long a node is as one of several on a line.
func (w *walker) bytes(c int) int {
	e := w.element(c)
	return 16 + min(len(e.Name), w.detail.name) + min(len(e.Value), w.detail.value)
}

// run finds siblings of one role, beginning with c, that go on one line.
func (w *walker) run(c, end int) []int {
	if w.flat {
		return nil
	}
	role := w.element(c).Role
	var items []int
	for length := 0; c < end; c = w.nodes[c].end {
		if !w.isShown(c) {
			continue
		}
		e := w.element(c)
		if e.Role != role || w.nodes[c].rendered || !w.isLeaf(c) || !w.isBrief(c) {
			break
		}
		if len(items) > 0 && len(w.similarSiblings(c, end)) >= w.detail.fold {
			break // what follows is told in one line
		}
		if length += w.bytes(c); length > w.detail.line {
			break
		}
		items = append(items, c)
	}
	return items
}

// isBrief reports whether a node can be told by its name and states.
func (w *walker) isBrief(c int) bool {
	n, e := &w.nodes[c], w.element(c)
	return (n.acts || e.Role.IsTextual() || e.Role.IsSetMember()) && e.UnreadChildren == 0 && (e.Value == "" || e.Value == e.Name) &&
		!e.States.HasAny(desktop.Editable|desktop.Protected|desktop.Focused) && e.Min == e.Max && (!w.detail.description || e.Description == "" || n.acts && desktop.IsBlank(e.Name))
}

// folds reports whether elements of the role are rows, told in one line when
// they are many and alike.
func folds(r desktop.Role) bool {
	switch r {
	case desktop.Row, desktop.Cell, desktop.RowHeader, desktop.Option, desktop.ListItem, desktop.TreeItem, desktop.Article:
		return true
	}
	return false
}

// similarSiblings finds siblings made alike, beginning with c.
func (w *walker) similarSiblings(c, end int) []int {
	if !folds(w.element(c).Role) || w.nodes[c].hidden {
		return nil
	}
	shape := w.nodes[c].shape
	var rows []int
	for ; c < end && w.nodes[c].shape == shape && w.isShown(c) && !w.nodes[c].rendered; c = w.nodes[c].end {
		rows = append(rows, c)
	}
	return rows
}

// label is what a row is called: its own name, or the first words in it.
func (k *model) label(c int) string {
	for i := c; i < k.nodes[c].end; i++ {
		if e := k.element(i); !desktop.IsBlank(e.Name) {
			return e.Name
		} else if !desktop.IsBlank(e.Value) && !e.States.Has(desktop.Protected) {
			return e.Value
		}
	}
	return ""
}

// path returns the nodes that a node is in, the outermost first.
func (k *model) path(c int) []int {
	var up []int
	for c = k.nodes[c].parent; c >= 0; c = k.nodes[c].parent {
		up = append(up, c)
	}
	for i, j := 0, len(up)-1; i < j; i, j = i+1, j-1 {
		up[i], up[j] = up[j], up[i]
	}
	return up
}

// indent is the white space in front of a line. Very deep trees do not get very
// long lines.
func indent(depth int) string { return strings.Repeat("  ", min(depth, 20)) }
