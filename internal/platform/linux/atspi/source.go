package atspi

import (
	"context"
	"slices"
	"time"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/treecache"
)

// detailAge is how long rarely changing details of an element stay valid: the names of its actions, its
// identifier, its labels.
const detailAge = 5 * time.Second

// Snapshot implements desktop.Tree.
func (b *Bus) Snapshot(ctx context.Context, app desktop.App) (*desktop.Snapshot, error) {
	ctx, cancel := withDefaultTimeout(ctx)
	defer cancel()
	p, err := b.program(ctx, app)
	if err != nil {
		return nil, err
	}
	s, err := p.cache.Snapshot(ctx)
	if err != nil {
		return nil, p.failed(app, err)
	}
	s.App = app
	return s, nil
}

// SnapshotOffscreen implements desktop.OffscreenTree.
func (b *Bus) SnapshotOffscreen(ctx context.Context, app desktop.App) (*desktop.Snapshot, error) {
	p, err := b.program(ctx, app)
	if err != nil {
		return nil, err
	}
	if !p.offscreen.Swap(true) {
		p.cache.MarkDirty(func(m *treecache.DirtySet[ref]) { m.AddChanged(p.root) }) // forces a read even without changes
	}
	return b.Snapshot(ctx, app)
}

// SnapshotCells implements desktop.OffscreenTree.
func (b *Bus) SnapshotCells(ctx context.Context, app desktop.App, table desktop.ID, cells desktop.Cells) (*desktop.Snapshot, error) {
	p, r, err := b.element(ctx, app, table)
	if err != nil {
		return nil, err
	}
	p.want(r, cells)
	p.cache.MarkDirty(func(m *treecache.DirtySet[ref]) { m.AddChildrenChanged(r) })
	return b.Snapshot(ctx, app)
}

// Sync implements treecache.Source. It queries the app's number of windows over the bus: when the answer
// arrives, all earlier events of the app have arrived too.
func (p *program) Sync(ctx context.Context, t *tree) error {
	count := -1
	r := &batch{}
	r.add(p.bus.requests.childCount, p.root, func(d *wire.Decoder) {
		if n, ok := readNumber(d); ok {
			count = int(n)
		}
	})
	if err := r.dispatch(p.link.conn.Batch(ctx, r.messages)); err != nil {
		return err
	}
	if count != len(t.root.children) {
		p.cache.MarkDirty(func(m *treecache.DirtySet[ref]) { m.AddChildrenChanged(p.root) })
	}
	return nil
}

// ReadAll implements treecache.Source.
func (p *program) ReadAll(ctx context.Context, before *tree) (*tree, error) {
	t, lazy, err := p.readStructure(ctx, before)
	if err == nil && lazy && p.cache.Last() == nil && t.lacks() {
		// GTK 4 creates some objects only when their neighbours are queried; until then it counts them
		// without listing them.
		t, _, err = p.readStructure(ctx, before)
	}
	if err == nil {
		if gathers, failed := p.gathers(ctx, t); gathers || failed != nil {
			if before, err = nil, failed; err == nil {
				t, _, err = p.readStructure(ctx, nil)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if before != nil {
		t.inherit(before, p.offscreen.Load())
	}
	if err := p.describe(ctx, t, t.all(), time.Now()); err != nil {
		return nil, err
	}
	return t, p.placeWords(ctx, t)
}

// ReadChanged implements treecache.Source.
func (p *program) ReadChanged(ctx context.Context, t *tree, m treecache.DirtySet[ref], hasty bool) error {
	var level, changed []*node
	for r := range m.ChildrenChanged {
		if n := t.nodes[r]; n != nil {
			n.childrenUncertain = true
			level = append(level, n)
		}
	}
	known := make(map[*node]bool, len(t.nodes))
	for _, n := range t.nodes {
		known[n] = true
	}
	if err := p.expand(ctx, t, level, false); err != nil {
		return err
	}
	gathers, err := p.gathers(ctx, t)
	if err != nil {
		return err
	}
	if gathers {
		changed = slices.DeleteFunc(t.all(), func(n *node) bool { return n == t.root })
	}
	for r := range m.Changed {
		if n := t.nodes[r]; n != nil && n != t.root && known[n] {
			changed = append(changed, n)
		}
	}
	if p.profile().IsBrowser {
		for n := range known { // with several windows, the app does not report which one lost the keyboard focus
			if n.states.has(stateFocused) && n != t.root && !m.Changed[n.ref] && t.nodes[n.ref] == n {
				changed = append(changed, n)
			}
		}
	}
	changed, err = p.reread(ctx, t, changed)
	if err != nil {
		return err
	}
	if !hasty && p.profile().trust == treecache.TrustChecked {
		if err := p.check(ctx, t); err != nil {
			return err
		}
	}
	t.updateVisibility(p.profile(), p.offscreen.Load())
	for _, n := range t.nodes {
		if !n.detailed && (n.shown || n.offscreen && p.offscreen.Load()) {
			changed = append(changed, n)
		}
	}
	changed = withHolders(changed)
	if err := p.describe(ctx, t, changed, time.Now()); err != nil || hasty {
		return err
	}
	if err := p.frames(ctx, t, changed); err != nil {
		return err
	}
	return p.placeWords(ctx, t)
}

// reread reads the nodes again, and removes those that no longer exist.
func (p *program) reread(ctx context.Context, t *tree, nodes []*node) (left []*node, err error) {
	r := &batch{}
	habits := p.profile()
	gone := map[*node]bool{}
	for _, n := range nodes {
		n.detailed, n.detailsAt = false, time.Time{}
		p.askSelf(r, n)
		r.addOr(p.bus.requests.description, n.ref, func(d *wire.Decoder) {
			if about, ok := readText(d); ok {
				n.description = habits.clean(about)
			}
		}, func(e *refusal) { gone[n] = e.noObject() })
	}
	if err := p.run(ctx, r); err != nil {
		return nil, err
	}
	for _, n := range nodes {
		switch {
		case !gone[n]:
			left = append(left, n)
		case t.nodes[n.ref] == n:
			n.parent.disown(n)
			t.remove(n)
		}
	}
	return left, nil
}

// withHolders adds the combo boxes that contain the nodes, because their values depend on them.
func withHolders(nodes []*node) []*node {
	const near = 4
	for _, n := range slices.Clone(nodes) {
		holder := n.parent
		for depth := 0; holder != nil && depth < near; depth++ {
			if holder.role == roleComboBox && !slices.Contains(nodes, holder) {
				holder.detailed = false
				nodes = append(nodes, holder)
			}
			holder = holder.parent
		}
	}
	return nodes
}

// frames queries the frames of all showing nodes, except those that were just queried.
func (p *program) frames(ctx context.Context, t *tree, except []*node) error {
	just := make(map[*node]bool, len(except))
	for _, n := range except {
		just[n] = true
	}
	r := &batch{}
	for _, n := range t.nodes {
		if n.shown && !just[n] && n.parent != nil {
			p.askFrame(r, n)
		}
	}
	return p.run(ctx, r)
}

// locate returns the screen positions of the windows of an app that does not know them. Without a position,
// frames are omitted, not wrong.
func (p *program) locate(ctx context.Context, t *tree) map[ref]desktop.Point {
	known := p.bus.config.Windows
	if known == nil || !p.profile().windowRelative {
		return nil
	}
	windows, err := known.Windows(ctx)
	if err != nil {
		p.bus.config.Log.Debug("the windows cannot be listed", "error", err)
		return nil
	}
	return origins(t, windows, p.app.PID, p.profile())
}

// View implements treecache.Source.
func (p *program) View(ctx context.Context, t *tree) treecache.View {
	m := &elementBuilder{tree: t, sender: p.sender, habits: p.profile(), origins: p.locate(ctx, t), maxValue: desktop.MaxValue}
	elements := m.make()
	p.windows = len(t.root.children)
	p.visibleState.Store(uint64(t.visibleState))
	return treecache.View{
		Elements: elements, Warnings: slices.Clone(t.warnings),
		Shared: slices.ContainsFunc(elements, func(e desktop.Element) bool { return e.ID[0] != '/' }),
	}
}

// failed wraps the function failed, and removes an app that has ended.
func (p *program) failed(app desktop.App, err error) error {
	e := failed(app, err)
	if isGone(err) {
		p.end()
	}
	return e
}

// effectiveRole returns the role to use for a node: a password field keeps its role for ever.
func (p *program) effectiveRole(r ref, role roleNumber) roleNumber {
	switch role {
	case rolePassword:
		p.passwords.Add(r)
	case roleEntry, roleText:
		if p.passwords.Has(r) {
			return rolePassword
		}
	}
	return role
}
