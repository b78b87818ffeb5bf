package atspi

import (
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// Many programs put a label beside or above a field and relate the two by nothing but their places. Such a
// label names the field if each is the nearest one to the other, and no other control may have the label.

// Limits of places, in pixels.
const (
	maxGapBeside = 400 // between a label and the field after it
	maxGapAbove  = 30  // between a label and the field below it
	maxIndent    = 40  // between the edges of a label and the field below it
	maxOverlap   = 4   // of the frames of neighbours
	maxGapBox    = 24  // between a box without words and the label after it
	tieWithin    = 2   // gaps that differ by no more are the same
	aboveCost    = 50  // by which a label above is farther than one beside
)

// maxAround is the maximum number of ancestors between a label or field and the container of both.
const maxAround = 3

// A placer finds the labels by place in one window.
type placer struct {
	tree    *tree
	habits  *profile
	related map[ref]bool // labels that the app relates to a control
	around  map[*node]*surroundings
}

// surroundings are the labels and controls in a container.
type surroundings struct{ labels, controls []*node }

// nameByPlace sets the labels by place of the window's fields without a name.
func (t *tree) nameByPlace(window *node, habits *profile) {
	p := placer{t, habits, make(map[ref]bool), make(map[*node]*surroundings)}
	var fields []*node
	window.walk(func(n *node) bool {
		for _, label := range n.labels {
			p.related[label] = true
		}
		if n.shown || n.isKnown() && !n.frame.Empty() { // others keep their labels
			n.labelBeside = ""
			if t.wantsPlace(n, habits) {
				fields = append(fields, n)
			}
		}
		return true
	})
	slices.SortStableFunc(fields, func(a, b *node) int { return p.mirrored(a, a.direction).X - p.mirrored(b, b.direction).X })
	// The first in each row first, so that it has its label when the next one is judged. A further pass names the
	// fields below those that the pass before has named.
	for named := true; named; {
		named = false
		for _, field := range fields {
			if label := p.labelOf(field); field.labelBeside == "" && label != nil && p.controlOf(label, field.direction) == field {
				field.labelBeside = label.labelWords()
				named = true
			}
		}
	}
}

// wantsPlace reports whether the node is a field without a name that may have a label by place: it takes a
// text, or has a value and no words. Boxes, switches and buttons have words of their own.
func (t *tree) wantsPlace(n *node, habits *profile) bool {
	if n.name != "" && (n.role != roleComboBox || !habits.boxNameIsValue && !n.namedByValue()) {
		return false
	}
	switch n.word() {
	case desktop.Textbox, desktop.Searchbox, desktop.Spinbutton, desktop.Slider, desktop.Combobox:
		return !n.frame.Empty() && t.labelOf(n) == "" && !n.isInControl() && !n.isEditableLabel()
	}
	return false
}

// isInControl reports whether an ancestor is a control that is operated as a whole, such as the combo box
// around a text.
func (n *node) isInControl() bool {
	for up := n.parent; up != nil && up.parent != nil; up = up.parent {
		if up.isWhole() {
			return true
		}
	}
	return false
}

// isWhole reports whether the node is a control that is operated as a whole, so that labels inside it are
// its own words. Rows, and the pages that GTK 3 puts below their tabs and expanders, are containers.
func (n *node) isWhole() bool {
	switch word := n.word(); word {
	case desktop.Tab, desktop.Option, desktop.TreeItem:
		return false
	case desktop.Button:
		return !n.states.any(stateExpandable|stateExpanded) || n.walk(func(c *node) bool {
			return c == n || !c.word().IsInteractive() || c.word() == desktop.Button
		})
	default:
		return word.IsInteractive()
	}
}

// isPlainLabel reports whether the node is a short text that may label a field.
func (n *node) isPlainLabel() bool {
	const most = 80 // bytes of a label
	switch n.role {
	case roleLabel, roleStatic, roleParagraph:
		words := n.labelWords()
		return words != "" && len(words) <= most && !n.writes() && n.walk(func(c *node) bool { return c == n || !c.competes() })
	}
	return false
}

// labelWords returns the words of a label.
func (n *node) labelWords() string {
	return strings.TrimSpace(strings.ReplaceAll(firstOf(n.name, n.text), object, ""))
}

// isPlaced reports whether the place of the node matters even out of view: it is a label, or may have one.
func (n *node) isPlaced() bool {
	return n.role == roleLabel || n.role == roleStatic || n.role == roleParagraph || plainRole(n.role).IsInteractive()
}

// isKnown reports whether the frame of the node is that of the present snapshot. Some toolkits have none out
// of view.
func (n *node) isKnown() bool { return n.shown || n.offscreen && n.detailed }

// keepPlaced gives a field that was read alone its name by place, which depends on the rest of the window.
func keepPlaced(e, old *desktop.Element) {
	if old.States.Has(desktop.Placed) {
		e.Name, e.Description = old.Name, old.Description
		e.States |= desktop.Placed
	}
	if old.States.Has(desktop.Protected) {
		e.Name, e.Value = old.Name, ""
		e.States |= desktop.Protected
	}
}

// isDocument reports whether the node is the root of a document, a frame in a page, or of another process.
// Labels do not name fields beyond it.
func (n *node) isDocument() bool {
	return n.role == roleDocumentWeb || n.role == roleInternalFrame || n.foreign
}

// of returns the labels and controls in the container, without those in documents inside it.
func (p *placer) of(container *node) *surroundings {
	if known := p.around[container]; known != nil {
		return known
	}
	found := &surroundings{}
	p.around[container] = found
	var look func(n *node)
	look = func(n *node) {
		if !p.related[n.ref] && !p.isCaption(n) {
			for _, words := range n.runs {
				if words.parent = n; words.isPlainLabel() && !words.frame.Empty() {
					found.labels = append(found.labels, words)
				}
			}
		}
		for _, child := range n.children {
			switch {
			case !child.isKnown() || child.isDocument() || n.role == rolePageTab && !child.frame.Intersect(n.frame).Empty(): // the words on a tab
			case len(child.runs) == 0 && child.isPlainLabel():
				if !p.related[child.ref] && !p.isCaption(child) && !p.frameOf(child).Empty() {
					found.labels = append(found.labels, child)
				}
			default:
				if child.competes() && !child.frame.Empty() {
					found.controls = append(found.controls, child)
				}
				if !child.isWhole() {
					look(child)
				}
			}
		}
	}
	look(container)
	return found
}

// isCaption reports whether the words of a page's node are the name of the group around it.
func (p *placer) isCaption(n *node) bool {
	words := n.labelWords()
	if !p.habits.IsBrowser || words == "" {
		return false
	}
	for up := n.parent; up != nil && up.parent != nil && !up.isDocument(); up = up.parent {
		if up.role == rolePanel && up.name != "" && strings.Contains(up.name, words) {
			return true
		}
	}
	return false
}

// competes reports whether a label may belong to the node.
func (n *node) competes() bool {
	switch n.word() {
	case desktop.List, desktop.Listbox, desktop.TreeView, desktop.Table, desktop.Grid, desktop.Progressbar, desktop.Meter:
		return true
	}
	return n.isWhole()
}

// frameOf returns the node's frame.
func (p *placer) frameOf(n *node) desktop.Rect {
	if p.habits.textsFillParents && n.fills() {
		return n.parent.frame
	}
	return n.frame
}

// mirrored returns the frame as it would be in a window from left to right.
func (p *placer) mirrored(n *node, d direction) desktop.Rect { return mirroredFrame(p.frameOf(n), d) }

func mirroredFrame(f desktop.Rect, d direction) desktop.Rect {
	if d == rightToLeft {
		f.X = -f.X - f.W
	}
	return f
}

// innermost returns the surroundings in the innermost container of the node for which there are any, or nil.
func (p *placer) innermost(n *node, any func(*surroundings) bool) *surroundings {
	up := n.parent
	for range maxAround {
		if up == nil || up.parent == nil {
			return nil
		}
		if s := p.of(up); any(s) {
			return s
		}
		if up.isDocument() {
			return nil
		}
		up = up.parent
	}
	return nil
}

// labelOf returns the label that is nearest to the field, or nil.
func (p *placer) labelOf(field *node) *node {
	s := p.innermost(field, func(s *surroundings) bool { return len(s.labels) > 0 })
	if s == nil {
		return nil
	}
	d, f := field.direction, p.mirrored(field, field.direction)
	beside := nearest{gap: -1}
	above := nearest{gap: -1}
	after := nearest{gap: -1}
	for _, label := range s.labels {
		l := p.mirrored(label, d)
		beside.take(label, gapBeside(l, f))
		after.take(label, gapBeside(f, l))
		above.take(label, gapBelow(l, f, d))
	}
	switch {
	case beside.unclear || beside.node == nil && above.unclear:
		return nil
	case beside.node == nil:
		return above.node
	case d == unknownDirection && after.node != nil && after.gap <= beside.gap+tieWithin && !p.leads(after.node, after.gap):
		return nil // either label may be the one before it
	case above.node != nil && beside.gap > aboveCost && p.alignsWithField(above.node, beside.node, f, d):
		return nil // either the one beside or the one above
	}
	return beside.node
}

// leads reports whether the label has a control after it, as near as the one before it.
func (p *placer) leads(label *node, gap int) bool {
	s := p.innermost(label, func(s *surroundings) bool { return len(s.controls) > 0 })
	return s != nil && slices.ContainsFunc(s.controls, func(c *node) bool {
		g := gapBeside(p.frameOf(label), c.frame)
		return g >= 0 && g <= gap+tieWithin
	})
}

// alignsWithField reports whether the label above begins where the field f does, and not where the label
// beside it does. One that begins with the other label is the title of the row.
func (p *placer) alignsWithField(above, beside *node, f desktop.Rect, d direction) bool {
	x := p.mirrored(above, d).X
	return distance(x, f.X) < distance(x, p.mirrored(beside, d).X)
}

// controlOf returns the control to which the label belongs by its place, or nil if several may have it.
func (p *placer) controlOf(label *node, d direction) *node {
	s := p.innermost(label, func(s *surroundings) bool { return len(s.controls) > 0 })
	if s == nil {
		return nil
	}
	l := p.mirrored(label, d)
	best := nearest{gap: -1}
	for _, control := range s.controls {
		c := p.mirrored(control, d)
		best.take(control, gapBeside(l, c))
		if gap := gapBelow(l, c, d); gap >= 0 {
			best.take(control, aboveCost+gap)
		}
	}
	if best.node == nil || best.unclear || p.isTakenBefore(label, best, d) {
		return nil
	}
	if gapBeside(l, p.mirrored(best.node, d)) < 0 && p.isRowTitle(s, l, d) {
		return nil
	}
	for _, control := range s.controls {
		gap, beside := p.gapBefore(control, label, d)
		if gap < 0 || control == best.node {
			continue
		}
		limit := best.gap - tieWithin - 1 // strictly nearer
		unnamed := control.labelBeside == "" && p.isNameless(control)
		if beside && (d == unknownDirection || unnamed) || !beside && unnamed {
			limit = best.gap + tieWithin // the label may be the caption of the control before it
		}
		if !beside {
			limit -= aboveCost
		}
		if gap <= limit && !p.isLabelled(control) {
			return nil
		}
	}
	return best.node
}

// isRowTitle reports whether a label and a control after it stand after the label l in its row: then l goes with
// these, and not with a control below it.
func (p *placer) isRowTitle(s *surroundings, l desktop.Rect, d direction) bool {
	return slices.ContainsFunc(s.labels, func(other *node) bool {
		o := p.mirrored(other, d)
		return o != l && gapBeside(l, o) >= 0 && slices.ContainsFunc(s.controls, func(c *node) bool { return gapBeside(o, p.mirrored(c, d)) >= 0 })
	})
}

// gapBefore returns the gap between the control and the label after it or below it, or -1.
func (p *placer) gapBefore(control, label *node, d direction) (gap int, beside bool) {
	c, l := p.mirrored(control, d), p.mirrored(label, d)
	if gap := gapBeside(c, l); gap >= 0 {
		return gap, true
	}
	return gapBelow(c, l, d), false
}

// isTakenBefore reports whether a box, switch or button without words stands right before the label: by
// custom its words follow it. It counts in any container of the document.
func (p *placer) isTakenBefore(label *node, by nearest, d direction) bool {
	up := label.parent
	for up != nil && up.parent != nil && up.parent.parent != nil && !up.isDocument() {
		up = up.parent
	}
	l := p.mirrored(label, d)
	return up != nil && slices.ContainsFunc(p.of(up).controls, func(c *node) bool {
		switch c.word() {
		case desktop.Checkbox, desktop.Radio, desktop.Switch, desktop.Button:
		default:
			return false
		}
		gap := gapBeside(p.mirrored(c, d), l)
		return c != by.node && gap >= 0 && gap <= max(maxGapBox, by.gap) && c.content() == "" && !p.isLabelled(c)
	})
}

// isNameless reports whether the control has no name of its own.
func (p *placer) isNameless(n *node) bool {
	return n.name == "" && n.content() == "" && len(n.labels) == 0
}

// isLabelled reports whether the app relates a label to the control, or its words are inside it: another
// label is not its own.
func (p *placer) isLabelled(n *node) bool {
	if len(n.labels) > 0 || n.labelBeside != "" {
		return true
	}
	const perLetter = 3 // pixels, at least
	switch n.word() {
	case desktop.Button, desktop.Checkbox, desktop.Radio, desktop.Switch, desktop.Link:
		return n.content() != "" || n.name != "" && n.frame.W >= perLetter*len([]rune(n.name))+n.frame.H
	}
	return false
}
