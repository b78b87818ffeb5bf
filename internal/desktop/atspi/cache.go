package atspi

import (
	"context"
	"slices"
	"time"

	"aai/internal/dbuswire"
	"aai/internal/desktop"
)

// How long what was read counts as being so, if neither an event nor a look at the
// windows says otherwise. Events tell of most changes, but no toolkit tells of all.
const (
	// trustedAge is for an app that has told of changes, and whose toolkit tells of
	// nearly all.
	trustedAge = 2 * time.Second
	// untrustedAge is for all others.
	untrustedAge = 500 * time.Millisecond
	// frameAge is for places: few toolkits tell that something was moved by
	// scrolling.
	frameAge = 500 * time.Millisecond
	// detailAge is for what hardly ever changes while the element is there: the names
	// of its actions, what its author calls it, who labels it.
	detailAge = 5 * time.Second
	// restless is how long after an act everything is read anew, at each look.
	restless = time.Second
	// manyMarks is when to read everything is less work than to read what changed.
	manyMarks = 200
)

// A cache is what was read last of an app. Its fields are guarded by the program's
// lane.
type cache struct {
	tree     *tree // nil if there is none, or if it was read in part
	last     *desktop.Snapshot
	readAt   time.Time // all of it
	framesAt time.Time
	origins  map[ref]desktop.Point
}

// Snapshot implements desktop.Tree.
//
// It returns what it has in memory if the app, asked at the moment, says that
// nothing has changed: its events come in the same order as its answer to that
// question, so they have all been seen by then.
func (b *Bus) Snapshot(ctx context.Context, app desktop.App) (*desktop.Snapshot, error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	p, err := b.program(ctx, app)
	if err != nil {
		return nil, err
	}
	if err := acquire(ctx, p.lane); err != nil {
		return nil, failed(app, err)
	}
	defer func() { <-p.lane }()
	s, err := p.snapshot(ctx)
	if err != nil {
		p.cache.tree = nil // it may have been changed by half
		return nil, p.failed(app, err)
	}
	s.App = app
	return s, nil
}

func (p *program) snapshot(ctx context.Context) (*desktop.Snapshot, error) {
	moved, err := p.look(ctx)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	m := p.takeMarks(now)
	c := &p.cache
	switch {
	case c.tree == nil || m.all || now.Sub(c.readAt) > m.maxAge || m.count() > manyMarks:
		if err := p.reread(ctx, now); err != nil {
			return nil, err
		}
	case moved || m.frames || m.count() > 0 || now.Sub(c.framesAt) > frameAge:
		if err := p.refresh(ctx, m, now); err != nil {
			return nil, err
		}
	default:
		s := *c.last
		s.Taken = now
		return &s, nil
	}
	p.locate(ctx)
	return p.publish(now), nil
}

// look asks the app, over the bus, where its windows are and how many it has. It
// reports whether one has moved. When it returns, all events have been seen that
// the app sent before it answered.
func (p *program) look(ctx context.Context) (moved bool, err error) {
	c := &p.cache
	r := &round{}
	count := -1
	r.put(p.bus.ask.childCount, p.root, func(d *dbuswire.Decoder) {
		if n, ok := readNumber(d); ok {
			count = int(n)
		}
	})
	seen := map[ref]desktop.Rect{}
	if c.tree != nil {
		for _, w := range c.tree.root.children {
			if w.shown && w.offers&offersComponent != 0 {
				r.put(p.bus.ask.extentsOf(p.habits()), w.ref, func(d *dbuswire.Decoder) {
					if at, ok := readExtents(d); ok {
						seen[w.ref] = sane(at)
					}
				})
			}
		}
	}
	if err := r.settle(p.link.conn.Batch(ctx, r.messages)); err != nil {
		return false, err
	}
	if c.tree != nil && count != len(c.tree.root.children) {
		p.mark(func(m *marks) { m.markChildren(p.root) })
	}
	for w, at := range seen {
		moved = moved || c.tree.nodes[w].frame != at
	}
	return moved, nil
}

// reread reads everything.
func (p *program) reread(ctx context.Context, now time.Time) error {
	t, lazy, err := p.readAll(ctx)
	if err == nil && lazy && p.cache.last == nil {
		// GTK 4 makes some objects only when their neighbours are asked for.
		t, _, err = p.readAll(ctx)
	}
	if err != nil {
		return err
	}
	if p.cache.tree != nil {
		t.inherit(p.cache.tree)
	}
	if err := p.describe(ctx, t, t.all(), now); err != nil {
		return err
	}
	p.cache.tree, p.cache.readAt, p.cache.framesAt = t, now, now
	return nil
}

// refresh reads what the marks say has changed, and where everything is.
func (p *program) refresh(ctx context.Context, m marks, now time.Time) error {
	t := p.cache.tree
	var level, changed []*node
	for r := range m.children {
		if n := t.nodes[r]; n != nil {
			n.doubt = true
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
	for r := range m.self {
		if n := t.nodes[r]; n != nil && n != t.root && known[n] {
			changed = append(changed, n)
		}
	}
	changed, err := p.again(ctx, t, changed)
	if err != nil {
		return err
	}
	t.judge(p.habits().windowRelative())
	for _, n := range t.nodes {
		if n.shown && !n.detailed {
			changed = append(changed, n)
		}
	}
	changed = withHolders(changed)
	if err := p.describe(ctx, t, changed, now); err != nil {
		return err
	}
	if err := p.frames(ctx, t, changed); err != nil {
		return err
	}
	p.cache.framesAt = now
	return nil
}

// again asks the nodes what they are now. Those that are no more are removed.
func (p *program) again(ctx context.Context, t *tree, nodes []*node) (left []*node, err error) {
	r := &round{}
	habits := p.habits()
	gone := map[*node]bool{}
	for _, n := range nodes {
		n.detailed, n.detailsAt = false, time.Time{}
		p.askSelf(r, n)
		r.putOr(p.bus.ask.description, n.ref, func(d *dbuswire.Decoder) {
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

// withHolders adds the combo boxes that the nodes are in, which stand at one of
// them.
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

// frames asks where all nodes are that show, but for those that were just asked.
func (p *program) frames(ctx context.Context, t *tree, except []*node) error {
	just := make(map[*node]bool, len(except))
	for _, n := range except {
		just[n] = true
	}
	r := &round{}
	for _, n := range t.nodes {
		if n.shown && !just[n] && n.parent != nil {
			p.askFrame(r, n)
		}
	}
	return p.run(ctx, r)
}

// locate finds out where the windows are on the screen, for an app that does not
// know. Without it frames are left out rather than wrong.
func (p *program) locate(ctx context.Context) {
	known := p.bus.config.Windows
	if known == nil || !p.habits().windowRelative() {
		return
	}
	windows, err := known.Windows(ctx)
	if err != nil {
		p.bus.config.Log.Debug("the windows cannot be listed", "error", err)
		p.cache.origins = nil
		return
	}
	p.cache.origins = origins(p.cache.tree, windows, p.app.PID)
}

// origins matches an app's windows with those of the window system: by the title,
// or because there is only one.
func origins(t *tree, windows []desktop.WindowInfo, pid int) map[ref]desktop.Point {
	var own []desktop.WindowInfo
	for _, w := range windows {
		if w.PID == pid {
			own = append(own, w)
		}
	}
	found := map[ref]desktop.Point{}
	for _, n := range t.root.children {
		var match []desktop.WindowInfo
		for _, w := range own {
			if w.Title == n.name || len(own) == 1 && len(t.root.children) == 1 {
				match = append(match, w)
			}
		}
		if len(match) == 1 {
			found[n.ref] = desktop.Point{X: match[0].Frame.X, Y: match[0].Frame.Y}
		}
	}
	return found
}

// publish makes a snapshot of the tree. It has the version of the last one if it
// does not differ from it.
func (p *program) publish(now time.Time) *desktop.Snapshot {
	c := &p.cache
	m := &maker{tree: c.tree, sender: p.sender, habits: p.habits(), origins: c.origins, most: desktop.MaxValue}
	elements := m.make()
	s := &desktop.Snapshot{Elements: elements, Taken: now, Warnings: slices.Clone(c.tree.warnings)}
	if c.last != nil && slices.EqualFunc(c.last.Elements, elements, sameElement) {
		s.Elements, s.Version = c.last.Elements, c.last.Version
	} else {
		s.Version = p.bus.version.Add(1)
	}
	c.last = s
	p.published.Store(&publication{s, c.tree.veil})
	published := *s
	return &published
}

func sameElement(a, b desktop.Element) bool {
	return a.ID == b.ID && a.Role == b.Role && a.Name == b.Name && a.Value == b.Value && a.Description == b.Description &&
		a.Identifier == b.Identifier && a.States == b.States && a.Frame == b.Frame && slices.Equal(a.Actions, b.Actions) &&
		a.Pos == b.Pos && a.Size == b.Size && a.Min == b.Min && a.Max == b.Max && a.Unread == b.Unread &&
		a.Parent == b.Parent && a.End == b.End
}

// failed is failed, and forgets an app that has ended.
func (p *program) failed(app desktop.App, err error) error {
	e := failed(app, err)
	if isGone(err) {
		p.end()
	}
	return e
}
