package delta

import (
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/render"
)

// A transition is a direction in which elements become visible or disappear.
type transition struct {
	kind, sign string
	in         *desktop.Snapshot // the snapshot in which they are visible
	seen       []bool
	twin       []int // index of the same element in the other snapshot
	twinSeen   []bool
	maxNames   int // limit of names on a line, in bytes
}

func (c *comparison) appearances() *transition {
	return &transition{Appeared, "+ ", c.after, c.seenAfter, c.toBefore, c.seenBefore, 220}
}

func (c *comparison) disappearances() *transition {
	return &transition{Gone, "- ", c.before, c.seenBefore, c.toAfter, c.seenAfter, 60}
}

// isOnlyHere reports whether an element is visible only in this snapshot.
func (p *transition) isOnlyHere(i int) bool {
	return p.seen[i] && (p.twin[i] < 0 || !p.twinSeen[p.twin[i]])
}

// addTransition adds a finding for an element that appeared or disappeared, with its descendants and the
// following siblings that did so too, and marks them as covered. It skips layout, which has no meaning by
// itself; its contents get their own findings.
func (c *comparison) addTransition(p *transition, i int, covered []bool) {
	if p.isInsignificant(i) {
		return
	}
	group := p.group(i)
	if len(group) < 3 {
		group = group[:1]
	}
	for _, g := range group {
		for k := g; k < p.in.Elements[g].End; k++ {
			covered[k] = true
		}
	}
	if len(group) == 1 {
		c.single(p, i)
		return
	}
	f := finding{rank: c.transitionRank(p, i)}
	var names []string
	length := 0
	for at, g := range group {
		name := c.nameWithRef(p.in, g)
		if length += len(name); at >= 2 && length > p.maxNames {
			f.more = len(group) - at
			break
		}
		names = append(names, name)
		f.changes = append(f.changes, c.newChange(p, g, p.sign+name))
	}
	where := ""
	if parent := p.in.Elements[i].Parent; parent >= 0 {
		where = "in " + c.containerName(p, parent) + ": "
	}
	f.text = p.sign + where + strings.Join(names, ", ") + andMore(f.more)
	c.findings = append(c.findings, f)
}

func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", … %d more", n)
}

func (c *comparison) newChange(p *transition, i int, text string) Change {
	restless := c.transitionRank(p, i) == rankAmbient
	if p.kind == Gone {
		return Change{Gone, -1, "", text, restless}
	}
	return Change{p.kind, i, c.ref(p.in, i), text, restless}
}

// isInsignificant reports whether an element itself is not worth reporting; its contents may be.
func (p *transition) isInsignificant(i int) bool {
	e := &p.in.Elements[i]
	return p.isLayout(i) || e.Parent >= 0 && !e.IsActionable("") && e.RepeatsParent(&p.in.Elements[e.Parent])
}

// isLayout reports whether an element has no meaning by itself.
func (p *transition) isLayout(i int) bool {
	e := &p.in.Elements[i]
	if e.IsActionable("") {
		return false
	}
	switch e.Role {
	case desktop.Scrollbar, desktop.Separator:
		return true
	case desktop.Generic, desktop.Group, desktop.Region, desktop.Article, desktop.Text, desktop.Label, desktop.Heading, desktop.Paragraph, desktop.Image, desktop.Code, desktop.Blockquote, desktop.Figure:
		return e.IsBlank()
	}
	return false
}

// group returns an element and the siblings after it that made the same transition.
func (p *transition) group(i int) []int {
	parent := p.in.Elements[i].Parent
	if parent < 0 {
		return []int{i}
	}
	var group []int
	for ; i < p.in.Elements[parent].End; i = p.in.Elements[i].End {
		if p.isOnlyHere(i) && !p.isInsignificant(i) {
			group = append(group, i)
		}
	}
	return group
}

// single adds a finding for one element and its readable or actionable contents.
func (c *comparison) single(p *transition, i int) {
	e := &p.in.Elements[i]
	told := render.Elements(p.in, i)
	if len(told) == 1 && e.IsBlank() && !e.IsActionable("") && e.Parent >= 0 {
		return
	}
	text := p.sign + c.nameWithRef(p.in, i)
	if p.kind == Appeared {
		if inside := c.describeContents(p, told[1:]); inside != "" {
			text += ": " + inside
		} else if e.States.Has(desktop.Protected) {
			text += " value ****"
		} else if !desktop.IsBlank(e.Value) && e.Value != e.Name && !e.Role.IsTextual() {
			text += " value " + desktop.Quote(e.Value, 60)
		}
	}
	c.findings = append(c.findings, finding{rank: c.transitionRank(p, i), changes: []Change{c.newChange(p, i, text)}, text: text})
}

// describeContents lists the actionable elements inside an element, and its texts.
func (c *comparison) describeContents(p *transition, told []render.Rendered) string {
	var names []string
	length, more, texts := 0, 0, 0
	for _, is := range told {
		words := p.in.Elements[is.Index].Role.IsTextual() && !is.Actionable
		if !is.Actionable && (!words || texts == 3) {
			continue
		}
		name := c.nameWithRef(p.in, is.Index)
		if length += len(name); length > p.maxNames && len(names) > 0 {
			if !words {
				more++
			}
			continue
		}
		if words {
			texts++
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ") + andMore(more)
}

// transitionRank returns the priority of an element's transition.
func (c *comparison) transitionRank(p *transition, i int) int {
	switch p.in.Elements[i].Role {
	case desktop.Window, desktop.Dialog, desktop.AlertDialog, desktop.Alert:
		return rankWindow
	}
	if c.isAmbientChild(p, i) {
		return rankAmbient
	}
	if c.actedOn(p.in, i) {
		return rankActedOn
	}
	return rankPlain
}

// isAmbientChild reports whether the children of the element's container appear and disappear by
// themselves.
func (c *comparison) isAmbientChild(p *transition, i int) bool {
	parent := p.in.Elements[i].Parent
	if p.kind == Appeared {
		return parent >= 0 && c.isAmbient(parent, Content)
	}
	for parent >= 0 && p.twin[parent] < 0 { // ancestors that went away with it
		parent = p.in.Elements[parent].Parent
	}
	if parent < 0 {
		return false
	}
	// A toolkit may remove the parts of a list item before the item itself.
	twin := p.twin[parent]
	return c.isAmbient(twin, Content) || c.after.Elements[twin].Role.IsSetMember() && c.after.Elements[twin].Parent >= 0 && c.isAmbient(c.after.Elements[twin].Parent, Content)
}

// containerName formats the container that elements entered or left, in its present state if it still
// exists.
func (c *comparison) containerName(p *transition, i int) string {
	for p.in.Elements[i].Parent >= 0 && desktop.IsBlank(p.in.Elements[i].Name) && p.isLayout(i) {
		i = p.in.Elements[i].Parent
	}
	if p.kind == Gone && p.twin[i] >= 0 {
		return c.nameWithRef(c.after, p.twin[i])
	}
	return c.nameWithRef(p.in, i)
}
