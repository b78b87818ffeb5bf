package delta

import (
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A comparison collects the changes that a person would see.
type comparison struct {
	pairs
	options  Options
	findings []finding

	seenBefore, seenAfter []bool // which elements and all of their ancestors are showing
}

// compare walks the elements that show now, then those that showed before.
func (c *comparison) compare() {
	c.focus()
	covered := make([]bool, len(c.after.Elements)) // reported together with an ancestor
	for i := 0; i < len(c.after.Elements); i++ {
		j := c.toBefore[i]
		switch {
		case !c.seenAfter[i]:
			i = c.after.Elements[i].End - 1
		case j < 0 || !c.seenBefore[j]:
			if !covered[i] {
				c.addTransition(c.appearances(), i, covered)
			}
		default:
			c.changed(j, i)
			c.moved(i)
		}
	}
	covered = make([]bool, len(c.before.Elements))
	for j := 0; j < len(c.before.Elements); j++ {
		i := c.toAfter[j]
		switch {
		case !c.seenBefore[j]:
			j = c.before.Elements[j].End - 1
		case i < 0 && c.isReplacedPage(j):
			j = c.before.Elements[j].End - 1
		case (i < 0 || !c.seenAfter[i]) && !covered[j]:
			c.addTransition(c.disappearances(), j, covered)
		}
	}
}

// isReplacedPage reports whether the element is a page that was replaced by another one: its former
// contents are of no interest.
func (c *comparison) isReplacedPage(j int) bool {
	if c.before.Elements[j].Role != desktop.Document {
		return false
	}
	for i := range c.after.Elements {
		if c.after.Elements[i].Role == desktop.Document && c.toBefore[i] < 0 && c.seenAfter[i] {
			return true
		}
	}
	return false
}

// focus reports where the focus went.
func (c *comparison) focus() {
	for i := range c.after.Elements {
		if !c.seenAfter[i] || !c.after.Elements[i].States.Has(desktop.Focused) {
			continue
		}
		if j := c.toBefore[i]; j >= 0 && c.before.Elements[j].States.Has(desktop.Focused) {
			continue
		}
		text := "focus → " + c.nameWithRef(c.after, i)
		c.add(rankFocus, Change{Kind: Changed, Index: i, Ref: c.ref(c.after, i), Text: text})
	}
}

func (c *comparison) add(rank int, change Change) {
	c.findings = append(c.findings, finding{rank: rank, changes: []Change{change}, text: change.Text})
}

// changed reports the differences of an element that existed before.
func (c *comparison) changed(j, i int) {
	old, now := &c.before.Elements[j], &c.after.Elements[i]
	if now.Role == desktop.Scrollbar || now.Role == desktop.Separator || now.Role == desktop.Generic && old.IsBlank() && now.IsBlank() && !now.IsActionable("") {
		return // layout is invisible: LibreOffice disables that of a whole window while it saves
	}
	renamed := old.Name != now.Name && !c.repeatsContainer(j, i)
	details := append(valueChange(old, now), stateChanges(old, now)...)
	if !renamed && len(details) == 0 {
		return
	}
	text := "~ " + c.nameWithRef(c.after, i)
	if renamed {
		text = "~ " + now.Role.SafeName() + " " + formatTextChange(old.Name, now.Name) + c.bracket(c.after, i)
	}
	if len(details) > 0 {
		text += " " + strings.Join(details, ", ")
	}
	rank := c.rank(j, i)
	c.add(rank, Change{Changed, i, c.ref(c.after, i), text, rank == rankAmbient})
}

// moved reports that the showing children of an element have another order than before, such as the rows of
// a sorted table.
func (c *comparison) moved(i int) {
	if !c.reordered(i, func(j, i int) bool { return c.seenBefore[j] && c.seenAfter[i] }) {
		return
	}
	rank := rankPlain
	if c.isAmbient(i, Content) {
		rank = rankAmbient
	}
	c.add(rank, Change{Changed, i, c.ref(c.after, i), "~ " + c.nameWithRef(c.after, i) + " in another order", rank == rankAmbient})
}

// repeatsContainer reports whether the names of two elements only repeat those of their containers, so that
// one line is enough.
func (c *comparison) repeatsContainer(j, i int) bool {
	old, now := &c.before.Elements[j], &c.after.Elements[i]
	if !now.Role.IsTextual() || now.IsActionable("") || now.Parent < 0 || c.toBefore[now.Parent] != old.Parent || old.Parent < 0 {
		return false
	}
	within, with := &c.before.Elements[old.Parent], &c.after.Elements[now.Parent]
	return desktop.EqualNames(old.Name, within.Name) && desktop.EqualNames(now.Name, with.Name) ||
		desktop.EqualNames(old.Name, within.Value) && desktop.EqualNames(now.Name, with.Value)
}

// valueChange describes the change of a value, if any.
func valueChange(old, now *desktop.Element) []string {
	switch {
	case old.Value == now.Value || now.Value == now.Name && old.Value == old.Name:
		return nil
	case old.States.Has(desktop.Protected) || now.States.Has(desktop.Protected):
		return []string{"value ****"}
	}
	return []string{"value " + formatTextChange(old.Value, now.Value)}
}

// reportedStates are the states that a delta reports.
const reportedStates = desktop.Enabled | desktop.Checked | desktop.Mixed | desktop.Pressed | desktop.Selected | desktop.Expanded | desktop.Invalid | desktop.Busy | desktop.Modal | desktop.Active | desktop.ReadOnly | desktop.Required

// stateChanges describes which reported states were set and cleared.
func stateChanges(old, now *desktop.Element) []string {
	opposites := map[desktop.State]string{desktop.Enabled: "disabled", desktop.Expanded: "collapsed", desktop.Active: "no longer active"}
	var words []string
	for bit := desktop.State(1); bit != 0 && bit <= reportedStates; bit <<= 1 {
		if reportedStates&bit == 0 || (old.States^now.States)&bit == 0 {
			continue
		}
		word := bit.Words()[0]
		if now.States&bit == 0 {
			opposite, ok := opposites[bit]
			if !ok {
				opposite = "not " + word
			}
			word = opposite
		}
		words = append(words, word)
	}
	return words
}

// rank returns the priority of an element's change.
func (c *comparison) rank(j, i int) int {
	old, now := &c.before.Elements[j], &c.after.Elements[i]
	switch {
	case c.isAmbient(i, c.aspect(j, i)), !c.actedOn(c.after, i) && old.States == now.States && c.isTick(old, now):
		return rankAmbient
	case c.options.Lagging && c.isLagging(old, i):
		return rankAmbient
	case c.actedOn(c.after, i):
		return rankActedOn
	case now.Role == desktop.Progressbar || now.Role == desktop.Meter:
		return rankNoise
	case !now.IsActionable("") && old.States == now.States && onlyDigits(old.Name+" "+old.Value, now.Name+" "+now.Value):
		return rankNoise
	}
	return rankPlain
}

// aspect returns the reported aspects of an element's change.
func (c *comparison) aspect(j, i int) Aspect {
	return diffElement(&c.before.Elements[j], &c.after.Elements[i]) & (Content | Aspect(reportedStates))
}

// isAmbient reports whether the aspect of the element of the later snapshot is known to change by itself.
// For a recreated element it checks the content of its container.
func (c *comparison) isAmbient(i int, aspect Aspect) bool {
	if c.options.IsAmbient == nil {
		return false
	}
	lasting := c.nearestSurvivor(i)
	if lasting != i {
		aspect = Content
	}
	return lasting >= 0 && c.options.IsAmbient(c.after.Elements[lasting].ID, aspect)
}

// isLagging reports whether a program shows the change only when it is idle, some time after its cause.
// Examples are a number in a status bar, or whether a command of a tool bar is enabled.
func (c *comparison) isLagging(old *desktop.Element, i int) bool {
	now := &c.after.Elements[i]
	switch {
	case old.Name != now.Name || old.Value != now.Value:
		return old.States == now.States && !now.IsActionable("") && hasDigits(old) && hasDigits(now) && c.in(desktop.Status, i)
	case (old.States^now.States)&reportedStates == desktop.Enabled:
		return !c.actedOn(c.after, i) && c.in(desktop.Toolbar, i)
	}
	return false
}

// hasDigits reports whether the element's name or value contains a digit.
func hasDigits(e *desktop.Element) bool { return strings.ContainsAny(e.Name+e.Value, "0123456789") }

// in reports whether the element of the later snapshot has an ancestor of the role.
func (c *comparison) in(role desktop.Role, i int) bool {
	for i >= 0 && c.after.Elements[i].Role != role {
		i = c.after.Elements[i].Parent
	}
	return i >= 0
}

// actedOn reports whether the element is the one acted on, or inside it.
func (c *comparison) actedOn(s *desktop.Snapshot, i int) bool {
	for ; i >= 0 && c.options.Focus != ""; i = s.Elements[i].Parent {
		if s.Elements[i].ID == c.options.Focus {
			return true
		}
	}
	return false
}
