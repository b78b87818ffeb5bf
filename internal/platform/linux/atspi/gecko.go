package atspi

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/lexicon"
)

// gatherPatience is the time limit for Firefox to collect the properties of its pages.
const gatherPatience = 4 * time.Second

// gathers makes a Gecko program collect the properties of its pages, and reports whether it did so in this
// call: earlier answers must then be queried again. Gecko collects only those kinds of properties that a
// client has queried since the start. It answers the first query of a kind with an empty value and then
// begins to collect.
func (p *program) gathers(ctx context.Context, t *tree) (now bool, err error) {
	if !p.profile().gathersOnQuery || p.gathered.Load() {
		return false, nil
	}
	var parts []*node
	t.root.walk(func(n *node) bool {
		if n.parent != nil && n.parent.role == roleDocumentWeb {
			parts = append(parts, n)
		}
		return true
	})
	if len(parts) == 0 {
		return false, nil
	}
	const enough = 8
	parts = parts[:min(len(parts), enough)]
	all := slices.Clone(parts)
	if err := p.run(ctx, p.askAll(parts)); err != nil {
		return false, err
	}
	// Attributes are queried last, so they arrive last. Each element of a page has the attribute tag, and some
	// have a frame.
	placed := false
	for until := time.Now().Add(gatherPatience); (len(parts) > 0 || !placed) && time.Now().Before(until); {
		told := map[*node]bool{}
		r := &batch{}
		for _, part := range parts {
			r.addOr(p.bus.requests.attributes, part.ref, func(d *wire.Decoder) {
				d.Array(8, func() {
					d.Struct()
					_, _ = d.Str(), d.Str()
					told[part] = true
				})
			}, func(*refusal) { told[part] = true })
		}
		for _, part := range all {
			if part.offers&offersComponent != 0 {
				r.add(p.bus.requests.extents, part.ref, func(d *wire.Decoder) {
					frame, ok := readExtents(d)
					placed = placed || ok && !sane(frame).Empty()
				})
			}
		}
		if err := p.run(ctx, r); err != nil {
			return false, err
		}
		parts = slices.DeleteFunc(parts, func(part *node) bool { return told[part] })
		if err := aai.Sleep(ctx, 10*time.Millisecond); err != nil {
			return false, err
		}
	}
	p.gathered.Store(true)
	return true, nil
}

// askAll queries one property of each kind, for every node.
func (p *program) askAll(nodes []*node) *batch {
	r := &batch{}
	for _, n := range nodes {
		asks := []*request{p.bus.requests.name, p.bus.requests.description, p.bus.requests.states, p.bus.requests.interfaces, p.bus.requests.relations}
		if n.offers&offersComponent != 0 {
			asks = append(asks, p.bus.requests.extents)
		}
		if n.offers&offersText != 0 {
			asks = append(asks, p.bus.requests.characterCount)
		}
		if n.offers&offersValue != 0 {
			asks = append(asks, p.bus.requests.value)
		}
		if n.action() {
			asks = append(asks, p.bus.requests.actions)
		}
		for _, q := range asks {
			r.add(q, n.ref, func(*wire.Decoder) {})
		}
	}
	return r
}

// inGecko corrects the properties in e, the element made from a Gecko node.
func (n *node) inGecko(window *node, e *desktop.Element) {
	if !window.states.has(stateActive) {
		e.States &^= desktop.Focused // Gecko left it set from the time when the window was active
	}
	if n.saysWords() && e.Value != "" {
		e.Value = strings.Join(strings.Fields(strings.ReplaceAll(n.text, object, " ")), " ")
		if e.Role == desktop.Generic {
			e.Role = desktop.Paragraph
		}
		switch {
		case e.Name == "":
			e.Name, e.Value = e.Value, ""
		case n.name != "" && n.isNamedByText(): // the name also has the words of the children
			e.Value = ""
		case n.name == "" && strings.Contains(n.text, object): // named by the words of its children alone
			e.Name, e.Value = strings.Join(strings.Fields(n.expandedText()), " "), ""
		}
	}
	if n.isCompositeText() && e.Value == "" {
		e.Name = strings.Join(strings.Fields(n.expandedText()), " ")
	}
	if n.parent != nil && n.parent.role == roleInternalFrame && (n.role == rolePanel || e.Role == desktop.Dialog) {
		// This is a prompt of the page, because any other such frame contains a document. It has the role
		// dialog while it opens, and panel afterwards.
		e.Role = desktop.Dialog
		e.States |= desktop.Modal
	}
	switch n.role {
	case roleInternalFrame:
		e.States &^= desktop.Focusable // the page inside it is focusable
	case roleLabel: // the content of its field is part of its name
		n.walk(func(c *node) bool {
			if plainRole(c.role).IsInteractive() {
				e.Name = ""
			}
			return e.Name != ""
		})
	case rolePanel, roleDateEditor:
		if n.states.has(stateEditable) && len(n.dateTimeParts()) > 1 { // its parts are set instead
			e.Role, e.Value = desktop.Textbox, ""
			e.States &^= desktop.Editable | desktop.Multiline
		}
	case roleSpinButton:
		n.bound(e)
	case roleEntry:
		if holder := n.parent; isHalf(n) && holder != nil && holder.states.has(stateEditable) && (holder.role == rolePanel || holder.role == roleDateEditor) {
			e.Role, e.Min, e.Max = desktop.Spinbutton, 0, 1
			e.Value = map[string]string{"AM": "0", "PM": "1"}[e.Value]
		}
	}
}

// saysWords reports whether the node may have text besides its children: in Gecko words are not objects,
// but part of the text of their container.
func (n *node) saysWords() bool {
	if n.offers&offersText == 0 || n.name != "" && n.namedByWords() || n.states.has(stateEditable) || plainRole(n.role).IsInteractive() || n.wantsText() {
		return false
	}
	return n.role == roleDocumentWeb || n.role != roleMenu && n.inPage()
}

// namedByWords reports whether Gecko names the node by its words.
func (n *node) namedByWords() bool {
	switch plainRole(n.role) {
	case desktop.ListItem, desktop.Cell, desktop.Row, desktop.ColumnHeader, desktop.RowHeader, desktop.Label:
		return true
	}
	return false
}

// isNamedByText reports whether the node's name has all of its words.
func (n *node) isNamedByText() bool {
	return !slices.ContainsFunc(runsOf(n.text), func(words run) bool { return !strings.Contains(n.name, words.words) })
}

// dateTimeParts returns the node's children that are the parts of a date or a time.
func (n *node) dateTimeParts() []*node {
	return slices.DeleteFunc(slices.Clone(n.children), func(c *node) bool {
		return c.role != roleSpinButton || lexicon.ParseDatePart(c.name) == lexicon.NoDatePart
	})
}

// isHalf reports whether the node is the AM/PM part of a time.
func isHalf(n *node) bool { return strings.EqualFold(n.name, "am/pm") }

// bound sets the bounds of a part of a date or a time. Gecko reports a name for it, but no bounds.
func (n *node) bound(e *desktop.Element) {
	part := lexicon.ParseDatePart(n.name)
	if part == lexicon.NoDatePart || e.Min < e.Max || n.states.has(stateEditable) {
		return
	}
	bounds := [...][2]float64{
		lexicon.Year: {1, 275760}, lexicon.Month: {1, 12}, lexicon.Day: {1, 31},
		lexicon.Hour: {0, 23}, lexicon.Minute: {0, 59}, lexicon.Second: {0, 59}, lexicon.Millisecond: {0, 999},
	}[part]
	e.Min, e.Max = bounds[0], bounds[1]
	if part == lexicon.Hour && n.parent != nil && slices.ContainsFunc(n.parent.children, isHalf) {
		e.Min, e.Max = 1, 12
	}
}
