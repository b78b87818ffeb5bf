package fakedesktop

import (
	"context"
	"reflect"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

func (b *backend) Ready(ctx context.Context) (desktop.Readiness, error) {
	if err := contextError(ctx); err != nil {
		return desktop.Readiness{}, err
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	return b.d.ready, nil
}

func (b *backend) Apps(ctx context.Context) ([]desktop.App, error) {
	if err := contextError(ctx); err != nil {
		return nil, err
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	apps := []desktop.App{}
	for _, p := range b.d.programs {
		if len(p.windows) > 0 {
			apps = append(apps, p.app)
		}
	}
	return apps, nil
}

func (b *backend) Snapshot(ctx context.Context, app desktop.App) (*desktop.Snapshot, error) {
	p, err := b.d.lockResponsive(ctx, app, nil)
	if err != nil {
		return nil, err
	}
	defer b.d.mu.Unlock()
	shot := &desktop.Snapshot{App: p.app, Taken: time.Now(), Elements: []desktop.Element{}}
	if p.app.HiddenReason == "" {
		for _, w := range p.windows {
			w.arrange()
			w.walk(shot, -1)
		}
	}
	desktop.SetEnds(shot.Elements)
	if p.last == nil || !reflect.DeepEqual(p.last.Elements, shot.Elements) {
		p.version++
	}
	shot.Version = p.version
	p.last = shot
	return shot, nil
}

// walk adds the element and its descendants to a snapshot.
func (x *Element) walk(shot *desktop.Snapshot, parent int) {
	e := x.snapshot(true)
	e.Parent = parent
	own := len(shot.Elements)
	shot.Elements = append(shot.Elements, e)
	for _, c := range x.children {
		c.walk(shot, own)
	}
}

func (b *backend) Read(ctx context.Context, app desktop.App, id desktop.ID) (desktop.Element, error) {
	p, err := b.d.lockResponsive(ctx, app, nil)
	if err != nil {
		return desktop.Element{}, err
	}
	defer b.d.mu.Unlock()
	x, err := p.find(id)
	if err != nil {
		return desktop.Element{}, err
	}
	x.window.arrange()
	return x.snapshot(false), nil
}

func (b *backend) Children(ctx context.Context, app desktop.App, id desktop.ID, first, count int) ([]desktop.Element, error) {
	p, err := b.d.lockResponsive(ctx, app, nil)
	if err != nil {
		return nil, err
	}
	defer b.d.mu.Unlock()
	x, err := p.find(id)
	if err != nil {
		return nil, err
	}
	if first < 0 || count < 0 {
		return nil, notDeliveredError(aai.InvalidParams, "first, count: expected no negative number")
	}
	x.window.arrange()
	all := len(x.children) + x.e.UnreadChildren
	out := []desktop.Element{}
	for i := first; i < min(all, first+count); i++ {
		out = append(out, x.child(i).snapshot(false))
	}
	return out, nil
}

// child returns the i'th child, also one that no snapshot contains. The caller holds the desktop's lock.
func (x *Element) child(i int) *Element {
	if i < len(x.children) {
		return x.children[i]
	}
	if x.unlisted[i] == nil {
		if x.unlisted == nil {
			x.unlisted = make(map[int]*Element)
		}
		c := x.add(desktop.Element{Role: desktop.Row, Name: x.huge(i)}, 0)
		x.children = x.children[:len(x.children)-1]
		x.unlisted[i] = c
	}
	return x.unlisted[i]
}

// find returns an existing element. The caller holds the desktop's lock.
func (p *Program) find(id desktop.ID) (*Element, error) {
	for _, w := range p.windows {
		if x := w.find(id); x != nil {
			return x, nil
		}
	}
	return nil, notDeliveredError(aai.StaleRef, "the element is gone")
}

func (x *Element) find(id desktop.ID) *Element {
	if x.e.ID == id {
		return x
	}
	for _, c := range x.children {
		if found := c.find(id); found != nil {
			return found
		}
	}
	for _, c := range x.unlisted {
		if c.e.ID == id {
			return c
		}
	}
	return nil
}
