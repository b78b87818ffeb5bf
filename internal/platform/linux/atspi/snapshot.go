package atspi

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A maker makes the elements of a snapshot of a tree.
type elementBuilder struct {
	tree     *tree
	sender   string
	habits   traits
	origins  map[ref]desktop.Point // of windows whose frames are relative to them
	maxValue int                   // bytes of a value
	elements []desktop.Element
}

// make makes the elements of the whole tree.
func (m *elementBuilder) make() []desktop.Element {
	m.elements = make([]desktop.Element, 0, len(m.tree.nodes))
	for _, window := range m.tree.root.children {
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
		return // what is in it tells how long it is
	}
	var set []int
	for _, child := range n.children {
		if next := len(m.elements); next < maxNodes {
			m.add(child, window, at)
			if m.elements[next].Role.IsSetMember() {
				set = append(set, next)
			}
		}
	}
	m.number(set, n.unread > 0)
}

// element says what the node is. Its place in its set is for the parent to say.
func (m *elementBuilder) element(n, window *node) desktop.Element {
	e := desktop.Element{
		ID: n.id(m.sender), Role: n.elementRole, Name: m.tree.nameOf(n, m.habits), Description: n.description,
		Identifier: n.called(), States: n.wordStates(), UnreadChildren: n.unread,
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
		n.written = m.habits.toolkit == chromium && n.wantsText() && n.isWritten()
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
	if browser(m.habits.toolkit) && e.IsKeyRelay() {
		e.Value = "" // the last keys, or nothing, whatever the page made of them
	}
	if e.Role == desktop.Combobox && n.offers&offersSelection == 0 {
		if m.habits.toolkit == qt {
			e.Value = n.name // whatever is selected in its list: that is for its keyboard
		}
		if !browser(m.habits.toolkit) { // a page's is called by its label, also while it is empty
			e.Name, e.Value = m.tree.comboName(n, e.Name, e.Value)
		}
	}
	switch n.elementRole {
	case desktop.Text, desktop.Label, desktop.Paragraph, desktop.Heading:
		if e.Name == "" && !n.writes() {
			e.Name, e.Value = e.Value, ""
		}
	}
	if m.habits.toolkit == gecko {
		n.inGecko(window, &e)
	}
	return e
}

// frame is where the node is on the screen.
func (m *elementBuilder) frame(n, window *node) desktop.Rect {
	f := n.frame
	if m.habits.toolkit == chromium && n.fills() {
		f = n.parent.frame
	}
	if f.Empty() {
		return desktop.Rect{}
	}
	if !m.habits.windowRelative() {
		return f
	}
	origin, known := m.origins[window.ref]
	if !known {
		return desktop.Rect{} // rather than a wrong one
	}
	f.X, f.Y = f.X+origin.X, f.Y+origin.Y
	return f
}

// value is what the node holds, in words. It is "" of a password, which is never
// asked for.
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

// hollow reports whether nothing was put into a field for a number, of which a toolkit
// says 0: there is no text in it, or no number is so low.
func (n *node) hollow() bool {
	return n.role == roleSpinButton && n.figures == "" && (n.textless || n.min < n.max && (n.number < n.min || n.number > n.max))
}

// choice is what a combo box stands at: the child that is selected in it, or what
// was typed.
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

// cut shortens a text to so many bytes, at the end of a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// preferred puts what a press means first. Toolkits mix in what a shortcut or a
// menu of the widget's would do ("clipboard.copy" in GTK 4), setting the focus, and what an
// arrow beside it does.
func preferred(actions []string) []string {
	if len(actions) < 2 {
		return actions
	}
	sorted := slices.Clone(actions)
	slices.SortStableFunc(sorted, func(a, b string) int { return actionRank(a) - actionRank(b) })
	return sorted
}

// The ranks of actions: the lower ones are more of a press.
const (
	rankPress = iota
	rankOther
	rankShortcut
)

// moving are the actions by which a number or a view moves: Increase of a spin box of Qt's.
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

// nameOf is what people call the node: its own name, that of its labels, what is
// written on it, or what its tooltip says.
func (t *tree) nameOf(n *node, habits traits) string {
	if n.name != "" {
		if habits.windowRelative() {
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
	if label := n.labelBefore(); label != "" && habits.unlisted {
		return label
	}
	if namedByContent(n.elementRole) {
		if text := n.content(); text != "" {
			return text
		}
	}
	return n.description
}

// labelOf is the text of what labels the node.
func (t *tree) labelOf(n *node) string {
	var labels []string
	for _, label := range n.labels {
		name := t.outside[label]
		if l := t.nodes[label]; l != nil {
			name = firstOf(l.name, l.text) // the text of a label may be that of a class's name
		}
		if name != "" {
			labels = append(labels, name)
		}
	}
	return strings.Join(labels, " ")
}

// comboName tells a combo box's name from its value. In Qt it is called by what it
// stands at, and its label is only beside it.
func (t *tree) comboName(n *node, name, value string) (string, string) {
	value = firstOf(value, n.name)
	return firstOf(t.labelOf(n), name), value
}

// halved is the node's name once, where GTK 4.8 says it twice: as the label in the
// button, and as that which labels it.
func (t *tree) halved(n *node) string {
	half := len(n.name) / 2
	if len(n.name)%2 == 1 && n.name[half] == ' ' && n.name[:half] == n.name[half+1:] && n.content() == n.name[:half] {
		return n.name[:half]
	}
	return n.name
}

// content is what is written on the node.
func (n *node) content() string {
	const most = 5 // labels
	var parts []string
	n.walk(func(c *node) bool {
		if words := firstOf(c.name, c.text); c != n && words != "" && (c.role == roleLabel || c.role == roleStatic) {
			parts = append(parts, words)
		}
		return len(parts) < most
	})
	return strings.Join(parts, " ")
}

// number says the places of a set's members, where the app does not, and where all
// of them are known.
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
