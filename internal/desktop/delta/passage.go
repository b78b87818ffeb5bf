package delta

import (
	"fmt"
	"strings"

	"aai/internal/desktop"
	"aai/internal/desktop/outline"
)

// A passage is one way for elements to come into sight or leave it.
type passage struct {
	kind, sign string
	in         *desktop.Snapshot // where they are seen
	seen       []bool
	twin       []int // of each element, in the other snapshot
	twinSeen   []bool
	named      int // how much a line names, in bytes
}

func (c *comparison) cameHere() *passage {
	return &passage{Appeared, "+ ", c.after, c.seenAfter, c.toBefore, c.seenBefore, 220}
}

func (c *comparison) wentAway() *passage {
	return &passage{Gone, "- ", c.before, c.seenBefore, c.toAfter, c.seenAfter, 60}
}

// passed reports whether an element is seen only in this snapshot.
func (p *passage) passed(i int) bool {
	return p.seen[i] && (p.twin[i] < 0 || !p.twinSeen[p.twin[i]])
}

// told adds a finding for an element that came or went, with what is in it and
// with the siblings after it that did so too, and marks them as covered. Layout
// says nothing by itself: what is in it comes by itself then. So does what was
// only moved there.
func (c *comparison) told(p *passage, i int, covered []bool) {
	if p.silent(i) {
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
	f := finding{rank: c.passageRank(p, i)}
	var names []string
	length := 0
	for at, g := range group {
		name := c.called(p.in, g)
		if length += len(name); at >= 2 && length > p.named {
			f.more = len(group) - at
			break
		}
		names = append(names, name)
		f.changes = append(f.changes, c.passing(p, g, p.sign+name))
	}
	where := ""
	if parent := p.in.Elements[i].Parent; parent >= 0 {
		where = "in " + c.whereabouts(p, parent) + ": "
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

func (c *comparison) passing(p *passage, i int, text string) Change {
	restless := c.passageRank(p, i) == rankRestless
	if p.kind == Gone {
		return Change{Gone, -1, "", text, restless}
	}
	return Change{p.kind, i, c.ref(p.in, i), text, restless}
}

// silent reports whether an element is not worth a word: what is in it may be.
func (p *passage) silent(i int) bool {
	e := &p.in.Elements[i]
	return p.layout(i) || e.Parent >= 0 && !e.Acts("") && e.Repeats(&p.in.Elements[e.Parent])
}

// layout reports whether an element says nothing by itself.
func (p *passage) layout(i int) bool {
	e := &p.in.Elements[i]
	if e.Acts("") {
		return false
	}
	switch e.Role {
	case desktop.Scrollbar, desktop.Separator:
		return true
	case desktop.Generic, desktop.Group, desktop.Region, desktop.Article, desktop.Text, desktop.Label, desktop.Heading, desktop.Paragraph, desktop.Image, desktop.Code, desktop.Blockquote, desktop.Figure:
		return e.Blank()
	}
	return false
}

// group returns an element and the siblings after it that came or went too.
func (p *passage) group(i int) []int {
	parent := p.in.Elements[i].Parent
	if parent < 0 {
		return []int{i}
	}
	var group []int
	for ; i < p.in.Elements[parent].End; i = p.in.Elements[i].End {
		if p.passed(i) && !p.silent(i) {
			group = append(group, i)
		}
	}
	return group
}

// single adds a finding for one element and what people can read and do in it.
func (c *comparison) single(p *passage, i int) {
	e := &p.in.Elements[i]
	told := outline.Tells(p.in, i)
	if len(told) == 1 && e.Blank() && !e.Acts("") && e.Parent >= 0 {
		return
	}
	text := p.sign + c.called(p.in, i)
	if p.kind == Appeared {
		if inside := c.inside(p, told[1:]); inside != "" {
			text += ": " + inside
		} else if e.States.Has(desktop.Protected) {
			text += " value ****"
		} else if !desktop.Blank(e.Value) && e.Value != e.Name && !e.Role.Wordy() {
			text += " value " + desktop.Quote(e.Value, 60)
		}
	}
	c.findings = append(c.findings, finding{rank: c.passageRank(p, i), changes: []Change{c.passing(p, i, text)}, text: text})
}

// inside names what acts in an element, and its words.
func (c *comparison) inside(p *passage, told []outline.Told) string {
	var names []string
	length, more, texts := 0, 0, 0
	for _, is := range told {
		words := p.in.Elements[is.Index].Role.Wordy() && !is.Acts
		if !is.Acts && (!words || texts == 3) {
			continue
		}
		name := c.called(p.in, is.Index)
		if length += len(name); length > p.named && len(names) > 0 {
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

// passageRank says how soon it is told that an element came or went.
func (c *comparison) passageRank(p *passage, i int) int {
	switch p.in.Elements[i].Role {
	case desktop.Window, desktop.Dialog, desktop.AlertDialog, desktop.Alert:
		return rankWindow
	}
	if c.comesAndGoes(p, i) {
		return rankRestless
	}
	if c.actedOn(p.in, i) {
		return rankActedOn
	}
	return rankPlain
}

// comesAndGoes reports whether the children of what the element is in do so by
// themselves.
func (c *comparison) comesAndGoes(p *passage, i int) bool {
	parent := p.in.Elements[i].Parent
	if p.kind == Appeared {
		return parent >= 0 && c.restless(parent, Content)
	}
	for parent >= 0 && p.twin[parent] < 0 { // what went away with it
		parent = p.in.Elements[parent].Parent
	}
	if parent < 0 {
		return false
	}
	// A toolkit may take a list's item apart before the item itself goes.
	twin := p.twin[parent]
	return c.restless(twin, Content) || c.after.Elements[twin].Role.InSet() && c.after.Elements[twin].Parent >= 0 && c.restless(c.after.Elements[twin].Parent, Content)
}

// whereabouts names what elements came into or went out of, as it is now where it
// is still there.
func (c *comparison) whereabouts(p *passage, i int) string {
	for p.in.Elements[i].Parent >= 0 && desktop.Blank(p.in.Elements[i].Name) && p.layout(i) {
		i = p.in.Elements[i].Parent
	}
	if p.kind == Gone && p.twin[i] >= 0 {
		return c.called(c.after, p.twin[i])
	}
	return c.called(p.in, i)
}
