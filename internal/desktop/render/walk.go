package render

import (
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A partKind says how many elements a part of an outline contains, and in which form.
type partKind int

const (
	onePart      partKind = iota // one element, without its descendants
	linePart                     // one element with all of its descendants, on its line
	runPart                      // neighbours of one role
	foldPart                     // similar rows
	renderedPart                 // an element of earlier pages, as the parent of off-screen elements
)

// A part is the smallest unit of an outline: a line of text. The next part begins at its end, so a page
// ends between two parts.
type part struct {
	kind       partKind
	depth      int
	first, end int   // the range of entries that it covers
	items      []int // of linePart and runPart: the listed entries, besides the first of linePart
	fold       *fold
	acting     int // number of actionable entries
	tooDeep    int // of onePart: number of actionable entries below the requested depth
}

// A walker goes through a model and yields its parts in order, until yield returns false.
type walker struct {
	*model
	detail *detail
	from   int  // the first element
	flat   bool // every element is a separate part
	yield  func(part) bool
}

// children walks the children of an entry, or the windows for -1. It returns false if yield did.
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
		case n.elem < w.from: // the page begins inside it
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

// group walks an entry, or as many siblings from there as share a part. It returns the index of the next sibling, and
// false if yield did.
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

// isShown reports whether this detail shows an entry. It always shows actionable ones, and the texts next to
// those without a name, by which people tell them apart.
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
	case desktop.Label, desktop.Text:
		if w.isBesideNameless(c) {
			return true
		}
	case desktop.Cell, desktop.RowHeader: // a cell that identifies its row
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

// isBesideNameless reports whether an entry is next to one that acts and has no name: it may be its label.
func (w *walker) isBesideNameless(c int) bool {
	nameless := func(i int) bool { return w.nodes[i].acts && desktop.IsBlank(w.element(i).Name) }
	parent := w.nodes[c].parent
	if next := w.nodes[c].end; next < w.nodes[parent].end && nameless(next) {
		return true
	}
	before := c - 1
	for before > parent && w.nodes[before].parent != parent {
		before = w.nodes[before].parent
	}
	return before > parent && nameless(before)
}

// inside returns the shown children of an entry.
func (w *walker) inside(c int) []int {
	var shown []int
	for i := c + 1; i < w.nodes[c].end; i = w.nodes[i].end {
		if w.isShown(i) {
			shown = append(shown, i)
		}
	}
	return shown
}

// isLeaf reports whether an entry is shown without children.
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

// one yields one entry and its descendants.
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

// onlyChild returns the single shown child of a row or paragraph without a text of its own; false for any other
// entry.
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

// line returns the descendants of an entry if all of them fit on its line.
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
	for e.Role == desktop.Row && len(items) > 1 && w.isEmptyCell(items[len(items)-1]) {
		items = items[:len(items)-1]
	}
	return items, len(items) > 0
}

// isEmptyCell reports whether an entry is a cell without content or ref.
func (w *walker) isEmptyCell(c int) bool {
	e := w.element(c)
	return e.Role == desktop.Cell && !w.nodes[c].hasRef && w.nodes[c].end == c+1 && desktop.IsBlank(e.Name) && desktop.IsBlank(e.Value)
}

// bytes estimates the length of an entry as one of several on a line.
func (w *walker) bytes(c int) int {
	e := w.element(c)
	return 16 + min(len(e.Name), w.detail.name) + min(len(e.Value), w.detail.value)
}

// run returns siblings of one role, beginning with c, that fit on one line.
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
			break // the following siblings are folded
		}
		if length += w.bytes(c); length > w.detail.line {
			break
		}
		items = append(items, c)
	}
	return items
}

// isBrief reports whether name and states describe an entry completely.
func (w *walker) isBrief(c int) bool {
	n, e := &w.nodes[c], w.element(c)
	return (n.acts || e.Role.IsTextual() || e.Role.IsSetMember()) && e.UnreadChildren == 0 && (e.Value == "" || e.Value == e.Name) &&
		!e.States.HasAny(desktop.Editable|desktop.Protected|desktop.Focused) && e.Min == e.Max && (!w.detail.description || e.Description == "" || n.acts && desktop.IsBlank(e.Name))
}

// folds reports whether elements of the role are rows, which are folded if many are similar.
func folds(r desktop.Role) bool {
	switch r {
	case desktop.Row, desktop.Cell, desktop.RowHeader, desktop.Option, desktop.ListItem, desktop.TreeItem, desktop.Article:
		return true
	}
	return false
}

// similarSiblings returns similar siblings, beginning with c.
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

// label returns the name of a row, or the first words in it.
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

// path returns the ancestors of an entry, the outermost first.
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

// indent returns the white space in front of a line. Its length is limited, even in very deep trees.
func indent(depth int) string { return strings.Repeat("  ", min(depth, 20)) }
