package atspi

import (
	"context"
	"slices"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// Many pages hide a check box, radio button or switch itself, for example by a size of one pixel, and draw their
// own in its label. The browser still operates the hidden one. So such a box shows while its label does.

// isUnseenBox reports whether the node is a box that is not drawn, or scrolled away.
func (n *node) isUnseenBox() bool {
	switch n.role {
	case roleCheckBox, roleRadioButton, roleToggleButton:
		return n.states.has(stateVisible) && !n.states.has(stateShowing)
	}
	return false
}

// drawnBy returns the label that shows in the place of an unseen box, or nil.
func (n *node) drawnBy() *node {
	if !n.isUnseenBox() || n.parent == nil {
		return nil
	}
	if n.parent.role == roleLabel && n.parent.states.has(stateShowing) {
		return n.parent
	}
	for _, other := range n.parent.children {
		if other.role == roleLabel && other.name != "" && other.name == n.name && other.states.has(stateShowing) {
			return other
		}
	}
	return nil
}

// unseenFrame returns the part of an unseen box that lies in its label, where a click reaches the box. Other
// boxes of this kind are out of reach for the pointer.
func (n *node) unseenFrame(frame desktop.Rect) desktop.Rect {
	if label := n.drawnBy(); label != nil {
		return frame.Intersect(label.frame)
	}
	return desktop.Rect{}
}

// isDrawn queries whether a label of an unseen box shows now.
func (p *program) isDrawn(ctx context.Context, n *node) (shows bool, err error) {
	if !p.profile().IsBrowser || !n.isUnseenBox() {
		return false, nil
	}
	var labels []ref
	r := &batch{}
	r.add(p.bus.requests.relations, n.ref, func(d *wire.Decoder) { labels = readRelation(d, relationLabelledBy, p.sender) })
	if err := p.run(ctx, r); err != nil {
		return false, err
	}
	r = &batch{}
	for _, label := range labels {
		r.add(p.bus.requests.states, label, func(d *wire.Decoder) {
			states, ok := readStates(d)
			shows = shows || ok && states.has(stateShowing)
		})
	}
	return shows, p.run(ctx, r)
}

// shows reports whether the node is visible.
func (a *actor) shows(ctx context.Context, n *node) (bool, error) {
	if n.states.has(stateShowing) {
		if !a.p.profile().lacksShowing {
			return true, nil
		}
		shows, err := a.p.isReallyVisible(ctx, n) // GTK 4.18 leaves SHOWING on hidden and closed elements
		if err == nil && shows {
			shows, err = a.p.isListed(ctx, n)
		}
		if err != nil {
			return false, markNotDelivered(a.p.failed(a.app, err))
		}
		return shows, nil
	}
	drawn, err := a.p.isDrawn(ctx, n)
	if err != nil {
		return false, markNotDelivered(a.p.failed(a.app, err))
	}
	if drawn {
		return true, nil
	}
	if a.p.profile().hidesScrolledContent && n.states.has(stateVisible) {
		pane := a.p.parentOf(ctx, n)
		return pane.role == roleScrollPane && pane.states.has(stateShowing), nil // see fillsPane
	}
	if !a.p.isVisibleState(stateVisible) || !n.states.has(stateVisible) {
		return false, nil
	}
	shows, err := a.p.isReallyVisible(ctx, n)
	if err != nil {
		return false, markNotDelivered(a.p.failed(a.app, err))
	}
	return shows, nil
}

// isReallyVisible reports whether the node is visible, for toolkits that set VISIBLE also on some hidden
// nodes. Nodes in a closed tab have no size. A closed window is no longer a child of the app.
func (p *program) isReallyVisible(ctx context.Context, n *node) (bool, error) {
	var windows []ref
	at := n.ref
	r := &batch{}
	p.askFrame(r, n)
	r.add(p.bus.requests.children, p.root, func(d *wire.Decoder) { windows = readRefs(d, p.sender) })
	for range maxDepth {
		up := &node{}
		p.askParent(r, at, &up.ref)
		if err := p.run(ctx, r); err != nil {
			return false, err
		}
		switch {
		case n.frame.Empty() || up.none():
			return false, nil
		case up.ref == p.root:
			return slices.Contains(windows, at), nil
		}
		at, r = up.ref, &batch{}
	}
	return false, nil
}

// isListed reports whether the parent of the node lists it among its children. An empty list says nothing: GTK 4 may
// list a node with children as empty.
func (p *program) isListed(ctx context.Context, n *node) (bool, error) {
	var parent ref
	r := &batch{}
	p.askParent(r, n.ref, &parent)
	if err := p.run(ctx, r); err != nil || parent.none() {
		return false, err
	}
	var siblings []ref
	r = &batch{}
	r.add(p.bus.requests.children, parent, func(d *wire.Decoder) { siblings = readRefs(d, p.sender) })
	if err := p.run(ctx, r); err != nil {
		return false, err
	}
	return len(siblings) == 0 || slices.Contains(siblings, n.ref), nil
}
