package atspi

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// An elementBuilder makes the elements of a snapshot of a tree.
type elementBuilder struct {
	tree     *tree
	sender   string
	habits   *profile
	origins  map[ref]desktop.Point // of windows with relative frames
	maxValue int                   // maximum length of a value in bytes
	elements []desktop.Element
}

// make makes the elements of the whole tree.
func (m *elementBuilder) make() []desktop.Element {
	m.elements = make([]desktop.Element, 0, len(m.tree.nodes))
	for _, window := range m.tree.root.children {
		m.tree.nameByPlace(window, m.habits)
		m.tree.clip(window, window.frame, m.habits)
		m.add(window, window, -1)
	}
	desktop.SetEnds(m.elements)
	return m.elements
}

func (m *elementBuilder) add(n, window *node, parent int) {
	if len(m.elements) >= maxNodes {
		m.tree.warn(tooManyWarning())
		return
	}
	n.elementRole = n.word()
	at := len(m.elements)
	m.elements = append(m.elements, m.element(n, window))
	m.elements[at].Parent = parent
	if n.role == rolePassword {
		return // its children would reveal the length of the password
	}
	var set []int
	for _, child := range m.inReadingOrder(n) {
		if next := len(m.elements); next < maxNodes {
			m.add(child, window, at)
			if m.elements[next].Role.IsSetMember() {
				set = append(set, next)
			}
		}
	}
	m.number(set, n.unread > 0)
}

// element converts the node to an element. The caller sets Parent, and Pos and Size if the app does not.
func (m *elementBuilder) element(n, window *node) desktop.Element {
	e := desktop.Element{
		ID: n.id(m.sender), Role: n.elementRole, Name: m.tree.nameOf(n, m.habits), Description: n.description,
		Identifier: n.called(), States: n.wordStates(), UnreadChildren: n.unread, Language: n.language,
	}
	if e.Role == desktop.Heading {
		e.Level = n.level
	}
	if e.Role.IsSetMember() {
		e.Pos, e.Size = n.pos, n.size
	}
	if n.fixed(m.habits) {
		e.States |= desktop.Enabled
	}
	if n.isDateTime() && !n.states.has(stateReadOnly) {
		e.States |= desktop.Editable
	}
	if n.shown && !n.hidden {
		e.States |= desktop.Showing
		e.Frame = m.frame(n, window)
		e.Actions = preferred(n.actions)
		e.Value, e.Min, e.Max = n.value(m.maxValue), n.min, n.max
	} else if n.offscreen {
		n.written = m.habits.writtenByParts && n.wantsText() && n.isWritten()
		e.States |= desktop.Offscreen
		if n.detailed {
			e.Actions, e.Min, e.Max = preferred(n.actions), n.min, n.max
		}
		if n.detailed || n.written {
			e.Value = n.value(m.maxValue)
		}
	}
	if e.Description == e.Name || e.Description == e.Value {
		e.Description = ""
	}
	n.call(&e)
	if m.habits.IsBrowser && e.IsKeyRelay() {
		e.Value = "" // the last keys, or nothing, regardless of their effect in the page
	}
	if e.Role == desktop.Combobox {
		m.nameCombo(n, &e)
	}
	if n.labelBeside != "" && e.Name == n.labelBeside {
		e.States |= desktop.Placed
		e.Description = firstOf(e.Description, n.placeholder)
	}
	switch n.elementRole {
	case desktop.Text, desktop.Label, desktop.Paragraph, desktop.Heading:
		if e.Name == "" && !n.writes() {
			e.Name, e.Value = e.Value, ""
		}
	}
	if m.habits.fixElement != nil {
		m.habits.fixElement(n, window, &e)
	}
	return e
}

// nameCombo separates the name of a combo box from its value. In Qt a combo box has its value as its name, in
// GTK 3 its chosen option, and only its label names it. The field for a password inside one protects both.
func (m *elementBuilder) nameCombo(n *node, e *desktop.Element) {
	label := firstOf(m.tree.labelOf(n), n.labelBeside)
	selects := n.offers&offersSelection != 0
	switch {
	case n.holdsPassword():
		e.Name, e.Value = label, ""
		e.States |= desktop.Protected
	case n.namedByValue():
		e.Name, e.Value = firstOf(label, e.Name), n.chosen
	case selects:
	case m.habits.boxNameIsValue: // the selection in its list only serves its keyboard
		e.Name, e.Value = firstOf(label, e.Name), n.name
	case !m.habits.IsBrowser: // a combo box of a page keeps its label as the name even if empty
		e.Name, e.Value = firstOf(label, e.Name), firstOf(e.Value, n.name)
	}
}

// frame returns the node's rectangle on the screen.
func (m *elementBuilder) frame(n, window *node) desktop.Rect {
	f := n.frame
	if m.habits.textsFillParents && n.fills() {
		f = n.parent.frame
	}
	if m.habits.IsBrowser && n.isUnseenBox() {
		f = n.unseenFrame(f)
	}
	if f.Empty() {
		return desktop.Rect{}
	}
	if !m.habits.windowRelative {
		return f
	}
	origin, known := m.origins[window.ref]
	if !known {
		return desktop.Rect{} // better none than a wrong one
	}
	f.X, f.Y = f.X+origin.X, f.Y+origin.Y
	return f
}

// value returns the node's value as text. It is "" for a password, which is never queried.
func (n *node) value(most int) string {
	switch {
	case n.role == rolePassword:
		return ""
	case n.numeric && n.hollow():
		return ""
	case n.numeric && n.figures != "":
		return n.figures
	case n.numeric:
		return strconv.FormatFloat(n.number, 'f', -1, 64)
	case n.role == roleComboBox:
		return n.choice()
	case n.written:
		words, _ := n.writing(most)
		return words
	}
	return cut(strings.ReplaceAll(n.text, "\uFFFC", ""), most)
}

// hollow reports whether a field for a number is empty although its toolkit reports 0: its text is empty,
// or the number is out of its bounds.
func (n *node) hollow() bool {
	return n.role == roleSpinButton && n.figures == "" && (n.textless || n.min < n.max && (n.number < n.min || n.number > n.max))
}

// choice returns the value of a combo box: the name of the selected child, or the typed text.
func (n *node) choice() string {
	if n.chosen != "" {
		return n.chosen
	}
	if n.text != "" {
		return cut(n.text, desktop.MaxValue)
	}
	found := ""
	n.walk(func(c *node) bool {
		switch {
		case c == n:
		case c.states.has(stateSelected) && c.name != "":
			found = c.name
		case found == "" && c.text != "":
			found = c.text
		}
		return true
	})
	return cut(found, desktop.MaxValue)
}

// cut shortens a text to at most most bytes, at a character boundary.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// preferred sorts the action that means a press first. Toolkits also list actions of the widget's shortcuts
// and menus ("clipboard.copy" in GTK 4), of setting the focus, and of an arrow beside it.
func preferred(actions []string) []string {
	if len(actions) < 2 {
		return actions
	}
	sorted := slices.Clone(actions)
	slices.SortStableFunc(sorted, func(a, b string) int { return actionRank(a) - actionRank(b) })
	return sorted
}

// The ranks of actions: lower ones are closer to a press.
const (
	rankPress = iota
	rankOther
	rankShortcut
)

// moving matches actions that change a number or scroll a view: Increase of a Qt spin box.
var moving = regexp.MustCompile(`(?i)^(increase|decrease|increment|decrement|scroll|(next|previous)page$)`)

func actionRank(name string) int {
	switch strings.ToLower(name) {
	case "setfocus", "showmenu", "showcontextmenu":
		return rankOther
	}
	if strings.Contains(name, ".") || moving.MatchString(name) {
		return rankShortcut
	}
	return rankPress
}

// nameOf returns the node's visible name: its own name, that of its labels, its text, or its tooltip.
func (t *tree) nameOf(n *node, habits *profile) string {
	switch {
	case n.tab != nil:
		return firstOf(n.tab.content(), n.tab.name)
	case n.namedByContent(habits):
		if words := n.content(); words != "" {
			return words
		}
	}
	if n.name != "" {
		if habits.namesClasses {
			return t.halved(n)
		}
		return n.name
	}
	if !n.elementRole.IsInteractive() {
		return ""
	}
	if label := t.labelOf(n); label != "" {
		return label
	}
	if namedByContent(n.elementRole) {
		if text := n.content(); text != "" {
			return text
		}
	}
	return firstOf(n.labelBeside, n.description, n.placeholder)
}

// labelOf returns the text of the node's labels.
func (t *tree) labelOf(n *node) string {
	var labels []string
	for _, label := range n.labels {
		name := t.outside[label]
		if l := t.nodes[label]; l != nil {
			name = firstOf(l.name, l.text) // a label's text may look like a class name
		}
		if name != "" {
			labels = append(labels, name)
		}
	}
	return strings.Join(labels, " ")
}

// namedByValue reports whether the combo box has its chosen option as its name, as in GTK 3.
func (n *node) namedByValue() bool { return n.chosen != "" && n.name == n.chosen }

// holdsPassword reports whether the combo box contains a field for a password, which its own name or value
// may reveal.
func (n *node) holdsPassword() bool {
	return !n.walk(func(c *node) bool { return c.role != rolePassword })
}

// halved returns the node's name once if GTK 4.8 doubles it: from the label in the button, and from the
// label relation.
func (t *tree) halved(n *node) string {
	half := len(n.name) / 2
	if len(n.name)%2 == 1 && n.name[half] == ' ' && n.name[:half] == n.name[half+1:] && n.content() == n.name[:half] {
		return n.name[:half]
	}
	return n.name
}

// content returns the texts of the labels inside the node.
func (n *node) content() string {
	const most = 5 // labels
	var parts []string
	n.walk(func(c *node) bool {
		if words := firstOf(c.name, c.text); c != n && words != "" && (c.role == roleLabel || c.role == roleStatic) && !slices.Contains(parts, words) { // a switcher has a wide and a narrow label
			parts = append(parts, words)
		}
		return len(parts) < most
	})
	return strings.Join(parts, " ")
}

// number sets Pos and Size of a set's members if the app does not and all members are known.
func (m *elementBuilder) number(set []int, part bool) {
	for i, member := range set {
		e := &m.elements[member]
		switch {
		case e.Pos != 0 && e.Size != 0:
		case part:
			e.Pos, e.Size = 0, 0
		default:
			e.Pos, e.Size = i+1, len(set)
		}
	}
}
