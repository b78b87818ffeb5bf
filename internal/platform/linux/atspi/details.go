package atspi

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// describe reads the details of the showing nodes, and of off-screen nodes if requested: their frames,
// contents and actions.
func (p *program) describe(ctx context.Context, t *tree, nodes []*node, now time.Time) error {
	first, second := &batch{}, &batch{}
	far := 0
	if p.offscreen.Load() {
		far = maxOffscreen
	}
	for _, n := range nodes {
		if n.parent != nil && (n.shown || n.offscreen && far > 0) {
			if !n.shown {
				far--
			}
			n.forget(now)
			if n.shown || n.isPlaced() {
				p.askFrame(first, n)
			}
			p.askContent(first, second, t, n, desktop.MaxValue)
			if n.detailsAt.IsZero() {
				n.detailsAt = now
				p.askDetails(first, second, t, n)
			}
		}
	}
	if err := p.run(ctx, first); err != nil {
		return err
	}
	return p.run(ctx, second)
}

// askFrame queries the frame of the node.
func (p *program) askFrame(r *batch, n *node) {
	if p.profile().textsFillParents && n.fills() {
		if n.shown {
			return
		}
		n = n.parent // out of view, only the frames of labels and controls are read
	}
	if n.offers&offersComponent == 0 {
		return
	}
	r.add(p.bus.requests.extentsOf(p.profile()), n.ref, func(d *wire.Decoder) {
		if frame, ok := readExtents(d); ok {
			n.frame = sane(frame)
		}
	})
}

// fills reports whether the node is a text and the only child of a page's element, so that both have the
// same frame. About half of the nodes of a page are such texts.
func (n *node) fills() bool {
	return n.role == roleStatic && n.parent != nil && n.parent.count == 1 && n.parent.offers&offersComponent != 0 && n.parent.role != roleDocumentWeb
}

// sane returns the rectangle, or an empty one if it is invalid: GTK 3 reports widgets without a position at
// -2147483648.
func sane(r desktop.Rect) desktop.Rect {
	const most = 1 << 20
	if r.W < 0 || r.H < 0 || r.W > most || r.H > most || r.X < -most || r.Y < -most || r.X > most || r.Y > most {
		return desktop.Rect{}
	}
	return r
}

// forget discards the details that must be read again.
func (n *node) forget(now time.Time) {
	if !n.detailsAt.IsZero() && now.Sub(n.detailsAt) < detailAge {
		n.frame, n.text, n.numeric, n.figures, n.textless, n.written, n.chosen, n.detailed = desktop.Rect{}, "", false, "", false, false, "", true
		return
	}
	n.details = details{detailed: true, labelBeside: n.labelBeside}
}

// askContent queries the node's value. Queries that depend on the first answers go into the second batch.
func (p *program) askContent(first, second *batch, t *tree, n *node, atMost int) {
	switch {
	case n.wantsNumber():
		p.askNumber(first, n)
		if n.offers&offersText != 0 && (p.profile().writesAll || p.profile().writesNumbers && n.states.has(stateEditable)) {
			p.askWritten(second, n)
		}
		if p.mayBeDateTime(n) {
			p.askDateTime(first, second, n)
		}
	case p.profile().wordsInContainer && n.saysWords():
		p.askText(first, second, n, atMost)
	case n.wantsText():
		if n.written = p.profile().writtenByParts && n.isWritten(); !n.written {
			p.askText(first, second, n, atMost)
		}
	}
	if n.role == roleComboBox && n.offers&offersSelection != 0 {
		p.askChosen(first, second, t, n)
	}
}

// askDetails queries the details that hardly ever change: actions, identifiers and labels, as far as the
// kind of node needs them.
func (p *program) askDetails(first, second *batch, t *tree, n *node) {
	interactive := plainRole(n.role).IsInteractive() || n.role == roleMenu
	window := n.parent == t.root
	if n.action() && (interactive || window || p.mayBePressed(n)) {
		p.askActions(first, second, n, interactive || window)
	} else if n.action() && p.profile().rowsOfTables && n.role == roleTableCell && n.offers&offersText == 0 {
		p.askToggle(first, n)
	}
	if interactive || window || p.mayPrompt(n) || n.role == roleLandmark || plainRole(n.role).IsSetMember() ||
		p.profile().IsBrowser && (n.wordless() || n.role == roleHeading || n.role == roleDocumentWeb) || n.name == "" && n.count == 0 && p.profile().identifiesLeaves {
		p.askIdentifiers(first, n)
	}
	if interactive && n.name == "" || n.role == roleComboBox { // a combo box may have its value as its name
		p.askLabels(first, second, t, n)
		p.askDirection(second, n)
	}
}

// mayBePressed reports whether a node of a role that is not pressed may have a press action and should be
// queried.
func (p *program) mayBePressed(n *node) bool {
	habits := p.profile()
	switch {
	case habits.labelsForward && (n.role == roleLabel || n.role == roleInternalFrame):
		return false // a click on it means one on the element that it labels or shows
	case habits.IsBrowser:
		return n.role != roleStatic && n.inPage()
	case habits.pressesFocusable:
		return false // the node is focusable
	}
	role := plainRole(n.role)
	return role == desktop.ColumnHeader || !role.IsSetMember()
}

// wordless reports whether the node is a picture, or can be operated by its states, and may have no text.
func (n *node) wordless() bool {
	return n.role == roleImage || n.name == "" && len(n.children) == 0 && n.states.any(stateFocusable|stateEditable)
}

// inPage reports whether the node is inside a browser's page and not in its frame. It returns true if its
// ancestors are unknown.
func (n *node) inPage() bool {
	for ; n.parent != nil; n = n.parent {
		if n.parent.role == roleDocumentWeb {
			return true
		}
	}
	return len(n.children) == 0
}

// takeAction records name, the first action in Chromium's list, as the node's only action: a press comes
// first. Without kind, which means a control or a window, it ignores a first action that is an ancestor's
// or none. Source: AXActionVerb in Chromium's ax_enums.mojom, and showContextMenu behind it.
func (n *node) takeAction(name string, kind bool) {
	switch name {
	case "clickAncestor", "doDefault", "showContextMenu", "":
		if !kind {
			return
		}
	}
	n.actions = []string{name}
	n.nameAction(0, name)
}

// wantsText reports whether the node's value is a text.
func (n *node) wantsText() bool {
	if n.offers&offersText == 0 || n.role == rolePassword || n.wantsNumber() {
		return false
	}
	switch n.role {
	case roleText, roleEntry, roleTerminal, roleEditbar:
		return true
	case roleParagraph, roleHeading, roleLabel, roleStatic, roleTableCell:
		return n.name == "" || n.states.has(stateEditable)
	case roleComboBox:
		return n.states.has(stateEditable) || n.count <= 0 // a read-only field
	}
	return n.states.has(stateEditable) || n.isEditableLabel()
}

// wantsNumber reports whether the node's value is a number.
func (n *node) wantsNumber() bool {
	if n.offers&offersValue == 0 {
		return false
	}
	switch plainRole(n.role) {
	case desktop.Slider, desktop.Spinbutton, desktop.Scrollbar, desktop.Progressbar, desktop.Meter:
		return true
	}
	return n.isBarRange()
}

// askText queries the beginning of the node's text. It queries the length first: some apps answer nothing
// to a range beyond the end, and a whole book to a range without an end. atMost is in characters, of at
// least one byte each. Chromium shortens the range to the text's length.
func (p *program) askText(first, second *batch, n *node, atMost int) {
	take := func(d *wire.Decoder) {
		if text := d.Str(); d.Err() == nil {
			n.text = unpadded(text)
		}
	}
	if p.profile().clampsRanges {
		first.add(numbers(textInterface, "GetText", "ii", "s", 0, int32(min(atMost, math.MaxInt32))), n.ref, func(d *wire.Decoder) {
			if take(d); n.states.has(stateMultiLine) && strings.HasSuffix(n.text, "\n\n") {
				n.text = n.text[:len(n.text)-1] // a line that ends is followed by an empty one
			}
		})
		return
	}
	first.add(p.bus.requests.characterCount, n.ref, func(d *wire.Decoder) {
		count, ok := readNumber(d)
		if ok && count < 1 && p.mayCalculate(n) {
			second.add(p.bus.requests.attributes, n.ref, n.readFormula)
		}
		if !ok || count < 1 {
			return
		}
		end := int32(min(count, float64(atMost), math.MaxInt32))
		second.add(numbers(textInterface, "GetText", "ii", "s", 0, end), n.ref, take)
	})
}

// unpadded returns the text without the U+FEFF that Gecko puts behind each character beyond U+FFFF,
// so that its offsets count UTF-16.
func unpadded(text string) string {
	if !strings.ContainsRune(text, '\ufeff') {
		return text
	}
	last := rune(0)
	return strings.Map(func(r rune) rune {
		padding := r == '\ufeff' && last > 0xffff
		if last = r; padding {
			return -1
		}
		return r
	}, text)
}

// askActions queries the names of the node's actions. Most toolkits translate the names in a list or leave
// them out, but return a single name as it is. kind is as in takeAction.
func (p *program) askActions(first, second *batch, n *node, kind bool) {
	switch habits := p.profile(); {
	case habits.firstActionPresses:
		first.add(p.bus.requests.actionName(0), n.ref, func(d *wire.Decoder) {
			if n.takeAction(d.Str(), kind); !kind && len(n.actions) > 0 && n.name == "" {
				p.askIdentifiers(second, n)
			}
		})
		return
	case habits.plainActions:
		first.add(p.bus.requests.actions, n.ref, func(d *wire.Decoder) {
			n.actions = readActions(d)
			for i := range n.actions {
				n.nameAction(i, n.actions[i])
			}
		})
		return
	}
	first.add(p.bus.requests.actionCount, n.ref, func(d *wire.Decoder) {
		count, _ := readNumber(d)
		n.actions = make([]string, max(0, min(int(count), maxActions)))
		for i := range n.actions {
			n.nameAction(i, "")
			second.add(p.bus.requests.actionName(i), n.ref, func(d *wire.Decoder) { n.nameAction(i, d.Str()) })
		}
	})
}

// toggle is the first action of a cell with a check box in GTK 3, which lacks CHECKABLE. It activates the row, and the
// others have whole sentences for names. Source: gtkbooleancellaccessible.c.
const toggle = "toggle"

// askToggle queries whether a cell has a check box.
func (p *program) askToggle(first *batch, n *node) {
	first.add(p.bus.requests.actionName(0), n.ref, func(d *wire.Decoder) {
		if n.actions = nil; d.Str() == toggle {
			n.actions = []string{toggle}
		}
	})
}

// maxActions is the maximum number of actions of an element that are read.
const maxActions = 64

// nameAction sets the name of action i of the node. An empty name becomes "action" and a number.
func (n *node) nameAction(i int, name string) {
	if name == "" {
		name = "action " + strconv.Itoa(i+1)
	}
	if i < len(n.actions) {
		n.actions[i] = name
	}
}

// readActions reads the names in the answer of GetActions: a(sss).
func readActions(d *wire.Decoder) []string {
	var names []string
	d.Array(8, func() {
		d.Struct()
		name := d.Str()
		d.Skip("ss")
		if len(names) < maxActions {
			names = append(names, name)
		}
	})
	if d.Err() != nil {
		return nil
	}
	return names
}

// askChosen queries the name of the selected item of a combo box.
func (p *program) askChosen(first, second *batch, t *tree, n *node) {
	first.add(p.bus.requests.selected, n.ref, func(d *wire.Decoder) {
		chosen := readRef(d, p.sender)
		if d.Err() != nil || chosen.none() {
			return
		}
		if item := t.nodes[chosen]; item != nil && item.read {
			n.chosen = item.name
			return
		}
		second.add(p.bus.requests.name, chosen, func(d *wire.Decoder) { n.chosen, _ = readText(d) })
	})
}

// askIdentifiers queries the author's identifier of the node and its attributes in a web page.
func (p *program) askIdentifiers(r *batch, n *node) {
	if !p.profile().lacksIDs { // Chromium has only the page's attribute
		r.add(p.bus.requests.accessibleID, n.ref, func(d *wire.Decoder) {
			if id, ok := readText(d); ok && id != "" {
				n.identifier = id
			}
		})
	}
	r.add(p.bus.requests.attributes, n.ref, func(d *wire.Decoder) { n.readAttributes(d) })
	if n.role == roleDocumentWeb && p.profile().tellsLanguage {
		r.addOr(p.bus.requests.locale, n.ref, func(d *wire.Decoder) { n.language = firstOf(d.Str(), desktop.NoLanguage) }, func(*refusal) {})
	}
}

// readAttributes takes the relevant values from the answer of GetAttributes: a{ss}.
func (n *node) readAttributes(d *wire.Decoder) {
	d.Array(8, func() {
		d.Struct()
		switch key, value := d.Str(), d.Str(); key {
		case "id":
			if n.identifier == "" {
				n.identifier = value
			}
		case "xml-roles":
			n.webRoles = value
		case "posinset":
			n.pos = ordinal(value)
		case "level":
			n.level = ordinal(value)
		case "placeholder-text":
			n.placeholder = value
		case "setsize":
			n.size = ordinal(value)
		default:
			n.nameHints.take(key, value)
		}
	})
}

func ordinal(s string) int {
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' || n > 1<<30 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
