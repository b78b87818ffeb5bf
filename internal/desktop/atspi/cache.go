package atspi

import (
	"context"
	"slices"
	"time"

	"aai/internal/dbuswire"
	"aai/internal/desktop"
)

// How long what was read counts as being so.
const (
	// provenAge is while the app has not run since. What changed between the reading
	// and the app's coming to rest was missed, such as what input did that came along
	// with our questions, so this is shorter than the time between two looks at an
	// effect.
	provenAge = 50 * time.Millisecond
	// confirmedAge is that for what was read twice, the app at rest in between: what
	// the first reading missed the second has found.
	confirmedAge = 10 * time.Second
	// trustedAge is for an app that runs and tells of nearly all that changes, but
	// for places, which are read each time.
	trustedAge = time.Second
	// detailAge is for what hardly ever changes while the element is there: the names
	// of its actions, what its author calls it, who labels it.
	detailAge = 5 * time.Second
	// restless is how long after an act everything is read anew, at each look.
	restless = time.Second
	// manyMarks is when to read everything is less work than to read what changed.
	manyMarks = 200
	// fewNodes is how large a tree may be to be always read as a whole.
	fewNodes = 400
)

// A cache is what was read last of an app. Its fields are guarded by the program's
// lane.
type cache struct {
	tree     *tree // nil if there is none, or if it was read in part
	last     *desktop.Snapshot
	readAt   time.Time // all of it
	origins  map[ref]desktop.Point
	settled  bool      // the last two readings gave the same
	foreign  bool      // other processes show parts of it
	beat     pulse     // of the app, after the last reading
	restedAt time.Time // when that was taken
	// confirmed says that the last reading began with the app at rest, and gave what
	// the one before had given.
	confirmed bool
	// owed says that since an act only what events told of was read.
	owed bool
}

// Snapshot implements desktop.Tree.
//
// It returns what it has in memory if the app has not run since that was read; the
// kernel says so. Else it reads what may have changed. Events say what that is in
// apps that tell of all that changes: they come in the same order as the answer to a
// question, so they have all been seen by then. In other apps it is everything.
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
	if err := ctx.Err(); err != nil {
		return nil, failed(app, err)
	}
	s, err := p.snapshot(ctx)
	if err != nil {
		p.cache.tree = nil // it may have been changed by half
		return nil, p.failed(app, err)
	}
	if !p.cache.confirmed && !p.cache.foreign {
		p.confirmLater()
	}
	s.App = app
	return s, nil
}

func (p *program) snapshot(ctx context.Context) (*desktop.Snapshot, error) {
	now := time.Now()
	c := &p.cache
	if p.unchanged(now) {
		s := *c.last
		s.Taken = now
		return &s, nil
	}
	c.confirmed = false
	hasty := c.tree != nil && p.trusted() && p.told(now)
	whole := !hasty && (c.tree == nil || !p.trusted() || p.restless(now) || len(c.tree.nodes) <= fewNodes || now.Sub(c.readAt) > trustedAge)
	if !whole {
		if err := p.look(ctx); err != nil {
			return nil, err
		}
	}
	m := p.takeMarks()
	c.owed = hasty && !m.all
	var err error
	if whole || m.all {
		err = p.reread(ctx, now)
	} else {
		err = p.refresh(ctx, m, now)
	}
	if err != nil {
		return nil, err
	}
	p.locate(ctx)
	s := p.publish(now)
	c.beat, c.restedAt = p.restingPulse(), time.Now()
	p.link.roll.rested(p.root, len(c.tree.root.children), c.beat)
	return s, nil
}

// unchanged reports whether the app has done nothing since it was read.
func (p *program) unchanged(now time.Time) bool {
	c := &p.cache
	age := provenAge
	if c.confirmed {
		age = confirmedAge
	}
	return c.tree != nil && c.settled && !c.foreign && !c.owed && now.Sub(c.restedAt) < age && !p.marked() && p.pulse().still(c.beat)
}

// look asks the app, over the bus, how many windows it has. When it returns, all
// events have been seen that the app sent before it answered.
func (p *program) look(ctx context.Context) error {
	count := -1
	r := &round{}
	r.put(p.bus.ask.childCount, p.root, func(d *dbuswire.Decoder) {
		if n, ok := readNumber(d); ok {
			count = int(n)
		}
	})
	if err := r.settle(p.link.conn.Batch(ctx, r.messages)); err != nil {
		return err
	}
	if count != len(p.cache.tree.root.children) {
		p.mark(func(m *marks) { m.markChildren(p.root) })
	}
	return nil
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
	p.cache.tree, p.cache.readAt = t, now
	return nil
}

// refresh reads what the marks say has changed, and where everything is, unless a
// whole reading is owed.
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
	if err := p.describe(ctx, t, changed, now); err != nil || p.cache.owed {
		return err
	}
	return p.frames(ctx, t, changed)
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
	c.settled = c.last != nil && slices.EqualFunc(c.last.Elements, elements, sameElement)
	c.foreign = slices.ContainsFunc(elements, func(e desktop.Element) bool { return e.ID[0] != '/' })
	if c.settled {
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
