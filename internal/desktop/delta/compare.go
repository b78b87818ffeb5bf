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
	c.chosenUnseen()
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

// chosenUnseen reports whether the element that was acted on became checked or unchecked although it does not
// show, such as a check item of a closed menu.
func (c *comparison) chosenUnseen() {
	i := c.after.Index(c.options.Focus)
	if i < 0 || c.seenAfter[i] || c.toBefore[i] < 0 {
		return
	}
	old, now := c.before.Elements[c.toBefore[i]], c.after.Elements[i]
	old.States, now.States = old.States&desktop.Checked, now.States&desktop.Checked
	if details := stateChanges(&old, &now); len(details) > 0 {
		text := "~ " + c.nameWithRef(c.after, i) + " " + strings.Join(details, ", ")
		c.add(rankActedOn, Change{Kind: Changed, Index: i, Ref: c.ref(c.after, i), Text: text})
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

// pairs maps the elements of each snapshot to the index of the same element in the other one, or -1.
type pairs struct {
	before, after *desktop.Snapshot
	toAfter       []int // by index in the earlier snapshot
	toBefore      []int // by index in the later snapshot
}

// pair pairs the same elements: first by their IDs, then, from the windows down, by their positions.
func pair(before, after *desktop.Snapshot) pairs {
	p := pairs{before: before, after: after, toAfter: make([]int, len(before.Elements)), toBefore: make([]int, len(after.Elements))}
	byID := make(map[desktop.ID]int, len(before.Elements))
	for i := range before.Elements {
		p.toAfter[i] = -1
		byID[before.Elements[i].ID] = i
	}
	for i := range after.Elements {
		e := &after.Elements[i]
		p.toBefore[i] = -1
		if j, ok := byID[e.ID]; ok && before.Elements[j].Role == e.Role && p.toAfter[j] < 0 {
			p.join(j, i)
		}
	}
	p.siblings(-1, -1)
	for i := range after.Elements {
		if j := p.toBefore[i]; j >= 0 {
			p.siblings(j, i)
		}
	}
	return p
}

func (p *pairs) join(before, after int) {
	p.toAfter[before], p.toBefore[after] = after, before
}

// A siblingKey holds the properties by which two siblings count as the same.
type siblingKey struct {
	role desktop.Role
	name string
}

// siblings pairs the still unpaired children of two elements, or windows: by role and name in their order,
// then those that are the only ones of their role.
func (p *pairs) siblings(before, after int) {
	var fresh []int
	for _, i := range p.after.Children(after) {
		if p.toBefore[i] < 0 {
			fresh = append(fresh, i)
		}
	}
	if len(fresh) == 0 {
		return
	}
	byLook, byRole := make(map[siblingKey][]int), make(map[desktop.Role][]int)
	for _, j := range p.before.Children(before) {
		if p.toAfter[j] < 0 {
			e := &p.before.Elements[j]
			byLook[siblingKey{e.Role, e.Name}] = append(byLook[siblingKey{e.Role, e.Name}], j)
		}
	}
	for _, i := range fresh {
		e := &p.after.Elements[i]
		if same := byLook[siblingKey{e.Role, e.Name}]; len(same) > 0 {
			p.join(same[0], i)
			byLook[siblingKey{e.Role, e.Name}] = same[1:]
		}
	}
	for _, same := range byLook {
		for _, j := range same {
			byRole[p.before.Elements[j].Role] = append(byRole[p.before.Elements[j].Role], j)
		}
	}
	left := make(map[desktop.Role][]int)
	for _, i := range fresh {
		if p.toBefore[i] < 0 {
			left[p.after.Elements[i].Role] = append(left[p.after.Elements[i].Role], i)
		}
	}
	for role, news := range left {
		// A page with another name is another page.
		if olds := byRole[role]; len(news) == 1 && len(olds) == 1 && role != desktop.Document {
			p.join(olds[0], news[0])
		}
	}
}

// reordered reports whether children of an element that exist in both snapshots have another order now.
// Only children for which counts returns true matter. It ignores Virtual elements, which reuse their
// children.
func (p *pairs) reordered(i int, counts func(before, after int) bool) bool {
	was := p.toBefore[i]
	if was < 0 || p.after.Elements[i].States.Has(desktop.Virtual) {
		return false
	}
	last := -1
	for child := i + 1; child < p.after.Elements[i].End; child = p.after.Elements[child].End {
		j := p.toBefore[child]
		if j < 0 || p.before.Elements[j].Parent != was || p.before.Elements[j].ID != p.after.Elements[child].ID || !counts(j, child) {
			continue
		}
		if j < last {
			return true
		}
		last = j
	}
	return false
}
