package cdp

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/devtools"
)

// Wrap returns the backend with DevTools as a second way into the pages of the connected browsers.
func Wrap(b desktop.Backend, browsers *devtools.Browsers, log *slog.Logger) desktop.Backend {
	if b.Tree == nil || browsers == nil {
		return b
	}
	p := &platform{
		tree: b.Tree, offscreen: b.Offscreen, documents: b.Documents, actor: b.Actor, watcher: b.Events,
		browsers: browsers, log: log, open: map[*devtools.Browser]*tabs{}, last: map[int]*desktop.Snapshot{},
	}
	b.Tree = p
	if b.Offscreen != nil {
		b.Offscreen = p
	}
	if b.Documents != nil {
		b.Documents = p
	}
	if b.Actor != nil {
		b.Actor = p
	}
	if b.Events != nil {
		b.Events = events{b.Events, p}
	}
	return b
}

// A platform is a backend of a desktop with pages by DevTools. It is safe for concurrent use.
type platform struct {
	tree      desktop.Tree
	offscreen desktop.OffscreenTree
	documents desktop.Documents
	actor     desktop.Actor
	watcher   desktop.Events
	browsers  *devtools.Browsers
	log       *slog.Logger

	mu       sync.Mutex
	open     map[*devtools.Browser]*tabs
	last     map[int]*desktop.Snapshot // of both ways, by process
	versions uint64
}

// Ready implements desktop.Tree.
func (p *platform) Ready(ctx context.Context) (desktop.Readiness, error) { return p.tree.Ready(ctx) }

// Apps implements desktop.Tree.
func (p *platform) Apps(ctx context.Context) ([]desktop.App, error) {
	apps, err := p.tree.Apps(ctx)
	if err != nil {
		return nil, err
	}
	connected := p.browsers.Connected(ctx)
	if len(connected) == 0 {
		return apps, nil
	}
	apps = slices.Clone(apps)
	for i := range apps {
		if slices.ContainsFunc(connected, func(b *devtools.Browser) bool { return b.PID == apps[i].PID }) {
			apps[i].HiddenReason = ""
		}
	}
	return apps, nil
}

// browser returns the tabs of the connected browser with the process, or nil.
func (p *platform) browser(ctx context.Context, pid int) *tabs {
	connected := p.browsers.Connected(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	for known := range p.open {
		if !slices.Contains(connected, known) {
			delete(p.open, known)
		}
	}
	for _, b := range connected {
		if b.PID != pid || pid == 0 {
			continue
		}
		if p.open[b] == nil {
			p.open[b] = &tabs{browser: b, pages: map[string]*page{}, bars: bars{ended: b.Done()}}
		}
		return p.open[b]
	}
	return nil
}

// Snapshot implements desktop.Tree.
func (p *platform) Snapshot(ctx context.Context, app desktop.App) (*desktop.Snapshot, error) {
	return p.snapshot(ctx, app, p.tree.Snapshot)
}

// SnapshotOffscreen implements desktop.OffscreenTree.
func (p *platform) SnapshotOffscreen(ctx context.Context, app desktop.App) (*desktop.Snapshot, error) {
	return p.snapshot(ctx, app, p.offscreen.SnapshotOffscreen)
}

// SnapshotCells implements desktop.OffscreenTree.
func (p *platform) SnapshotCells(ctx context.Context, app desktop.App, table desktop.ID, cells desktop.Cells) (*desktop.Snapshot, error) {
	if _, ours := parseKey(table); ours {
		return p.Snapshot(ctx, app)
	}
	return p.offscreen.SnapshotCells(ctx, app, table, cells)
}

// snapshot reads the app by both ways at once.
func (p *platform) snapshot(ctx context.Context, app desktop.App, below func(context.Context, desktop.App) (*desktop.Snapshot, error)) (*desktop.Snapshot, error) {
	t := p.browser(ctx, app.PID)
	if t == nil {
		return below(ctx, app)
	}
	read := make(chan []reading, 1)
	go func() { read <- t.readVisible(ctx, p.log) }()
	s, err := t.bars.read(ctx, app, p.watcher, below)
	pages := <-read
	if err != nil || len(pages) == 0 {
		return s, err
	}
	return p.merge(ctx, t, s, pages), nil
}

// Read implements desktop.Tree.
func (p *platform) Read(ctx context.Context, app desktop.App, id desktop.ID) (desktop.Element, error) {
	k, ours := parseKey(id)
	if !ours {
		return p.tree.Read(ctx, app, id)
	}
	if o, e, err := p.inDialog(ctx, app, k, desktop.Act{}); o != nil || err != nil {
		return e, err
	}
	page, f, err := p.find(ctx, app, k)
	if err != nil {
		return desktop.Element{}, err
	}
	if err := p.checkShown(ctx, app, page); err != nil {
		return desktop.Element{}, err
	}
	e, err := page.readOne(ctx, f, k)
	if err != nil {
		return desktop.Element{}, (&operation{app: app}).broken(err)
	}
	p.complete(app, &e)
	return e, nil
}

// complete sets the properties of an element that depend on its place in the tree, as the last snapshot has them.
func (p *platform) complete(app desktop.App, e *desktop.Element) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.last[app.PID]
	if m == nil {
		return
	}
	if i := m.Index(e.ID); i >= 0 {
		was := &m.Elements[i]
		e.Pos, e.Size, e.Frame = was.Pos, was.Size, was.Frame
		e.States = e.States&^(desktop.Showing|desktop.Offscreen) | was.States&(desktop.Showing|desktop.Offscreen)
	}
}

// find returns the page and the frame that show an element.
func (p *platform) find(ctx context.Context, app desktop.App, k key) (*page, *frame, error) {
	t := p.browser(ctx, app.PID)
	if t == nil {
		return nil, nil, stale(app)
	}
	page := t.page(k.target)
	if page == nil {
		return nil, nil, stale(app)
	}
	f := page.frameOf(k.token)
	if f == nil {
		return nil, nil, stale(app)
	}
	return page, f, nil
}

// Children implements desktop.Tree. Elements of this package have all their children in the snapshot.
func (p *platform) Children(ctx context.Context, app desktop.App, id desktop.ID, first, count int) ([]desktop.Element, error) {
	if _, ours := parseKey(id); ours {
		return nil, nil
	}
	return p.tree.Children(ctx, app, id, first, count)
}

// Addresses implements desktop.Documents.
func (p *platform) Addresses(ctx context.Context, app desktop.App, documents []desktop.ID) ([]string, error) {
	addresses := make([]string, len(documents))
	var others []desktop.ID
	for i, id := range documents {
		k, ours := parseKey(id)
		if !ours {
			others = append(others, id)
			continue
		}
		if _, f, err := p.find(ctx, app, k); err == nil {
			addresses[i] = f.address()
		}
	}
	if len(others) == 0 {
		return addresses, nil
	}
	below, err := p.documents.Addresses(ctx, app, others)
	if err != nil {
		return nil, err
	}
	for i, id := range documents {
		if _, ours := parseKey(id); !ours {
			addresses[i], below = below[0], below[1:]
		}
	}
	return addresses, nil
}

// Execute implements desktop.Actor.
func (p *platform) Execute(ctx context.Context, app desktop.App, id desktop.ID, act desktop.Act) error {
	k, ours := parseKey(id)
	if !ours {
		return p.actor.Execute(ctx, app, id, act)
	}
	if o, _, err := p.inDialog(ctx, app, k, act); err != nil {
		return err
	} else if o != nil {
		return o.perform(ctx)
	}
	page, f, err := p.find(ctx, app, k)
	if err != nil {
		return err
	}
	o := &operation{page: page, frame: f, key: k, app: app, act: act}
	if err := p.checkShown(ctx, app, page); err != nil {
		return err
	}
	defer page.reread()
	return o.perform(ctx)
}

// isWebAddress reports whether pages of the address are read. Those of the browser itself are not.
func isWebAddress(url string) bool {
	scheme, _, _ := strings.Cut(url, ":")
	return slices.Contains([]string{"http", "https", "file", "data", "blob", "about"}, scheme)
}
