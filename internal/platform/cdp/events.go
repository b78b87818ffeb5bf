package cdp

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// events adds the changes of pages to the events of a platform.
type events struct {
	desktop.Events
	platform *platform
}

// Watch implements desktop.Events.
func (e events) Watch(ctx context.Context, app desktop.App) (<-chan desktop.Event, error) {
	below, err := e.Events.Watch(ctx, app)
	t := e.platform.browser(ctx, app.PID)
	if err != nil || t == nil {
		return below, err
	}
	t.mu.Lock()
	shown := t.shown
	t.mu.Unlock()
	all, own := make(chan desktop.Event, cap(below)), make(chan desktop.Event, 16)
	for _, target := range shown {
		if p := t.page(target); p != nil {
			p.watch(ctx, own)
		}
	}
	go func() {
		defer close(all)
		for {
			var event desktop.Event
			open := true
			select {
			case event, open = <-below:
			case event = <-own:
			case <-ctx.Done():
				return
			}
			if !open {
				return
			}
			select {
			case all <- event:
			default: // a reader that is slow looks at the newest snapshot anyway
			}
		}
	}()
	return all, nil
}

// watch sends an event for each change of a frame of the page.
func (p *page) watch(ctx context.Context, out chan<- desktop.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.frames {
		go f.watch(ctx, out)
	}
}

// changePause is the pause after a frame has gone to another document.
const changePause = 20 * time.Millisecond

func (f *frame) watch(ctx context.Context, out chan<- desktop.Event) {
	for since := "-1"; ctx.Err() == nil; {
		seen, err := f.run(ctx, readerOf+".changed("+since+")")
		if since = seen; err != nil {
			since = "-1"
			if aai.Sleep(ctx, changePause) != nil || f.enter(ctx) != nil {
				return
			}
		}
		select {
		case out <- desktop.Event{Kind: desktop.ChildrenChanged, At: time.Now()}:
		case <-ctx.Done():
		}
	}
}

// navigationTimeout limits the wait for the next document, from the begin of the navigation.
const navigationTimeout = 2 * time.Second

// reportNavigation notes the begin or the end of a navigation of the page itself; the caller holds the lock.
func (p *page) reportNavigation(method string, params json.RawMessage) {
	var e struct {
		ID          string              `json:"frameId"`
		Disposition string              `json:"disposition"`
		Kind        string              `json:"navigationType"`
		Frame       struct{ ID string } `json:"frame"`
	}
	if json.Unmarshal(params, &e) != nil || e.ID != p.target && e.Frame.ID != p.target {
		return
	}
	switch isBegin := method == "Page.frameRequestedNavigation" || method == "Page.frameStartedNavigating"; {
	case isBegin && p.leaving == nil && (e.Disposition == "" || e.Disposition == "currentTab") && !strings.HasSuffix(strings.ToLower(e.Kind), "samedocument"):
		p.leaving, p.left = make(chan struct{}), time.Now()
	case !isBegin && p.leaving != nil:
		close(p.leaving)
		p.leaving = nil
	}
}

// hasJustLeft reports whether a navigation of the page has begun a short time ago.
func (p *page) hasJustLeft() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Since(p.left) < navigationTimeout+maxAge
}

// awaitNavigation waits until a navigation of the page has ended, and reports whether one was under way.
func (p *page) awaitNavigation(ctx context.Context) bool {
	p.mu.Lock()
	leaving, rest := p.leaving, navigationTimeout-time.Since(p.left)
	p.mu.Unlock()
	if leaving == nil || rest <= 0 {
		return false
	}
	select {
	case <-leaving:
	case <-time.After(rest):
	case <-ctx.Done():
	}
	return true
}
