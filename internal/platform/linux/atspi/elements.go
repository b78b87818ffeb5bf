package atspi

import (
	"context"
	"math"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// maxText is the maximum length of an element's text that Read returns, in characters.
const maxText = 1 << 20

// Read implements desktop.Tree.
func (b *Bus) Read(ctx context.Context, app desktop.App, id desktop.ID) (desktop.Element, error) {
	ctx, cancel := withDefaultTimeout(ctx)
	defer cancel()
	p, r, err := b.element(ctx, app, id)
	if err != nil {
		return desktop.Element{}, err
	}
	n, up, err := p.readSelf(ctx, r)
	if err != nil {
		return desktop.Element{}, p.failed(app, err)
	}
	elements, err := p.elements(ctx, up, n.parent, []*node{n}, maxText)
	if err != nil {
		return desktop.Element{}, p.failed(app, err)
	}
	return elements[0], nil
}

// Children implements desktop.Tree.
func (b *Bus) Children(ctx context.Context, app desktop.App, id desktop.ID, first, count int) ([]desktop.Element, error) {
	ctx, cancel := withDefaultTimeout(ctx)
	defer cancel()
	if first < 0 || count < 0 || first > math.MaxInt32-count || count > maxChildren {
		return nil, aai.Errorf(aai.InvalidParams, "children %d to %d: expected a first one from 0, and at most %d of them", first, first+count, maxChildren)
	}
	p, r, err := b.element(ctx, app, id)
	if err != nil {
		return nil, err
	}
	parent, err := p.readOne(ctx, r)
	if err != nil {
		return nil, p.failed(app, err)
	}
	if parent.role == rolePassword {
		return nil, nil
	}
	count = min(count, max(0, parent.count-first))
	indexes := make([]int, count)
	for i := range indexes {
		indexes[i] = first + i
	}
	refs, err := p.at(ctx, parent, indexes)
	if err != nil {
		return nil, p.failed(app, err)
	}
	var nodes []*node
	for i, r := range refs {
		if !r.none() {
			nodes = append(nodes, &node{ref: r, parent: parent, index: indexes[i], count: -1})
		}
	}
	if err := p.readSelves(ctx, nodes); err != nil {
		return nil, p.failed(app, err)
	}
	elements, err := p.elements(ctx, &batch{}, parent, nodes, desktop.MaxValue)
	if err != nil {
		return nil, p.failed(app, err)
	}
	return elements, nil
}

// element returns the program and the object that an ID identifies.
func (b *Bus) element(ctx context.Context, app desktop.App, id desktop.ID) (*program, ref, error) {
	p, err := b.program(ctx, app)
	if err != nil {
		return nil, ref{}, err
	}
	r, ok := parseID(id, p.sender)
	if ok && r.sender != p.sender { // the object belongs to another process, so the app must have shown it
		_, ok = p.cache.Find(id)
	}
	if !ok {
		return nil, ref{}, stale(app, nil)
	}
	return p, r, nil
}

// readOne reads an object and those ancestors that determine its role. It fails with STALE_REF if the
// object does not exist.
func (p *program) readOne(ctx context.Context, at ref) (*node, error) {
	n, up, err := p.readSelf(ctx, at)
	if err != nil {
		return nil, err
	}
	return n, p.run(ctx, up)
}

// readSelf is readOne without the queries to the parent, which it returns as a batch that may be sent with
// others.
func (p *program) readSelf(ctx context.Context, at ref) (n *node, up *batch, err error) {
	n = &node{ref: at, index: -1, count: -1}
	var parent ref
	r := &batch{}
	p.askSelf(r, n)
	p.askCount(r, n)
	p.askEverything(r, n)
	r.add(p.bus.requests.index, at, func(d *wire.Decoder) { n.index = int(d.I32()) })
	p.askParent(r, at, &parent)
	if err := p.run(ctx, r); err != nil {
		return nil, nil, err
	}
	if !n.read || n.states.has(stateDefunct) {
		return nil, nil, stale(p.app, nil)
	}
	up = &batch{}
	if parent.none() {
		return n, up, nil
	}
	n.parent = &node{ref: parent, index: -1, count: -1}
	if parent == p.root {
		return n, up, nil
	}
	p.askSelf(up, n.parent)
	p.askEverything(up, n.parent)
	n.parent.parent = &node{ref: p.root} // a stand-in for further ancestors
	if n.role != roleStatic {
		return n, up, nil
	}
	p.askCount(up, n.parent) // which decides the next query
	return n, &batch{}, p.run(ctx, up)
}

func (p *program) askParent(r *batch, of ref, parent *ref) {
	r.add(p.bus.requests.parent, of, func(d *wire.Decoder) {
		if d.Variant() == "(so)" {
			*parent = readRef(d, p.sender)
		}
	})
}

// askEverything queries the node's interfaces and its description.
func (p *program) askEverything(r *batch, n *node) {
	habits := p.profile()
	r.add(p.bus.requests.interfaces, n.ref, func(d *wire.Decoder) {
		d.Array(4, func() { n.offers |= offer(d.Str()) })
	})
	r.add(p.bus.requests.description, n.ref, func(d *wire.Decoder) {
		if about, ok := readText(d); ok {
			n.description = habits.clean(about)
		}
	})
}

func (p *program) readSelves(ctx context.Context, nodes []*node) error {
	r := &batch{}
	for _, n := range nodes {
		p.askSelf(r, n)
		p.askCount(r, n)
		p.askEverything(r, n)
	}
	return p.run(ctx, r)
}

// elements makes elements of read objects outside of a snapshot. Properties that depend on the rest of the
// tree come from the last snapshot. All other queries are sent with the batch first.
func (p *program) elements(ctx context.Context, first *batch, parent *node, nodes []*node, text int) ([]desktop.Element, error) {
	t := newTree(p.root)
	second := &batch{}
	now := time.Now()
	for _, n := range nodes {
		n.details = details{detailed: true, detailsAt: now}
		p.askFrame(first, n)
		if n.fills() {
			p.askFrame(first, n.parent)
		}
		p.askContent(first, second, t, n, text)
		p.askDetails(first, second, t, n)
	}
	if err := p.run(ctx, first); err != nil {
		return nil, err
	}
	for _, n := range nodes {
		drawn, err := p.isDrawn(ctx, n)
		if err != nil {
			return nil, err
		}
		n.shown = drawn || p.shows(n) && (n.parent == nil || !n.parent.read || p.shows(n.parent))
		if old, ok := p.cache.Find(n.id(p.sender)); ok && !n.shown {
			n.offscreen = old.States.Has(desktop.Offscreen)
		}
	}
	if err := p.run(ctx, second); err != nil {
		return nil, err
	}
	if err := p.open(ctx, t, nodes); err != nil {
		return nil, err
	}
	m := &elementBuilder{tree: t, sender: p.sender, habits: p.profile(), maxValue: text}
	elements := make([]desktop.Element, 0, len(nodes))
	for _, n := range nodes {
		n.elementRole = n.word()
		if n.count > maxChildren {
			n.unread = n.count
		}
		e := m.element(n, p.windowOf(ctx, m, n))
		if old, ok := p.cache.Find(e.ID); ok {
			if m.tree.wantsPlace(n, m.habits) || e.Role == desktop.Combobox && old.States.Has(desktop.Protected) {
				keepPlaced(&e, &old)
			}
			e.Name = firstOf(e.Name, old.Name)
			if e.Name == "" {
				e.Description = firstOf(e.Description, old.Description)
			}
			e.Pos, e.Size = old.Pos, old.Size
		} else if e.Role.IsSetMember() && e.Pos == 0 && parent != nil && parent.count > 0 && n.index >= 0 {
			e.Pos, e.Size = n.index+1, parent.count
		}
		elements = append(elements, e)
	}
	return elements, nil
}

// shows reports whether the node has the state that means visible in its app.
func (p *program) shows(n *node) bool {
	return n.states.has(stateShowing) || p.isVisibleState(stateVisible) && n.states.has(stateVisible)
}

// isVisibleState reports whether s is the visible state of the tree of the last snapshot.
func (p *program) isVisibleState(s stateSet) bool { return stateSet(p.visibleState.Load()) == s }

// open reads the descendants of combo boxes without a value, because one descendant holds it. It does the
// same for texts with embedded objects.
func (p *program) open(ctx context.Context, t *tree, nodes []*node) error {
	var boxes []*node
	for _, n := range nodes {
		if n.shown && n.role == roleComboBox && n.choice() == "" || p.profile().IsBrowser && (n.hasEmbeddedObjects() || n.isCompositeText()) {
			n.childrenUncertain = true
			t.nodes[n.ref] = n
			boxes = append(boxes, n)
		}
	}
	if err := p.expand(ctx, t, boxes, false); err != nil {
		return err
	}
	first, second := &batch{}, &batch{}
	for _, box := range boxes {
		box.walk(func(n *node) bool {
			if n != box && (n.wantsText() || p.profile().wordsInContainer && n.saysWords()) {
				p.askText(first, second, n, desktop.MaxValue)
			}
			return true
		})
	}
	if err := p.run(ctx, first); err != nil {
		return err
	}
	if err := p.run(ctx, second); err != nil {
		return err
	}
	for _, box := range boxes {
		switch {
		case box.hasEmbeddedObjects() || box.isCompositeText() && p.profile().wordsInContainer:
			box.text = box.expandedText()
		case box.isCompositeText():
			box.written = box.isWritten()
		}
	}
	return nil
}

// windowOf returns a stand-in for the window that contained the node in the last snapshot, with the fields
// that elementBuilder uses. If frames are relative to the window, it also reads the windows' current
// positions.
func (p *program) windowOf(ctx context.Context, m *elementBuilder, n *node) *node {
	window, known := &node{}, p.cache.Last()
	if m.habits.FocusOnlyWhenActive && known != nil {
		if i := known.Index(n.id(p.sender)); i >= 0 && known.Elements[known.WindowOf(i)].States.Has(desktop.Active) {
			window.states = stateActive
		}
	}
	if !m.habits.windowRelative || known == nil || p.bus.config.Windows == nil {
		return window
	}
	i := known.Index(n.id(p.sender))
	if i < 0 {
		return window
	}
	e := known.Elements[known.WindowOf(i)]
	if m.origins == nil {
		windows, err := p.bus.config.Windows.Windows(ctx)
		if err != nil {
			return window
		}
		t := newTree(p.root)
		frames, depth := &batch{}, 0
		if m.habits.drawsShadow {
			depth = containerDepth
		}
		p.addKnown(frames, t.root, known, -1, depth)
		if m.habits.comparesSizes && p.run(ctx, frames) != nil {
			return window
		}
		m.origins = origins(t, windows, p.app.PID, m.habits)
	}
	window.ref, _ = parseID(e.ID, p.sender)
	return window
}

// addKnown adds stand-ins for the children of an element of the last snapshot, and for the containers below them to the
// depth, and asks for their frames.
func (p *program) addKnown(frames *batch, parent *node, known *desktop.Snapshot, element, depth int) {
	for _, i := range known.Children(element) {
		e := &known.Elements[i]
		if r, ok := parseID(e.ID, p.sender); ok && (element < 0 || e.Role == desktop.Generic) {
			n := &node{ref: r, name: e.Name, offers: offersComponent}
			parent.children = append(parent.children, n)
			if p.askFrame(frames, n); depth > 0 {
				p.addKnown(frames, n, known, i, depth-1)
			}
		}
	}
}
