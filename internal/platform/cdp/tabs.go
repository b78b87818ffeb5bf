package cdp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/devtools"
)

// tabs are the tabs of a connected browser. It is safe for concurrent use.
type tabs struct {
	browser *devtools.Browser
	bars    bars

	mu    sync.Mutex
	pages map[string]*page  // by target
	shown []string          // those that windows showed at the last reading
	calm  *desktop.Snapshot // of the platform, before dialogs opened
}

// A reading is a page that a window shows, as it was read.
type reading struct {
	page    *page
	title   string
	content *content
	dialog  *dialog           // that blocks the page, which is then as it was read before; nil: none
	native  []desktop.Element // with which the platform shows its dialog
}

// page returns the page of a tab that was read before, or nil.
func (t *tabs) page(target string) *page {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pages[target]
}

// readVisible reads the pages that windows show. Pages that do not answer are left out: the platform reads them.
func (t *tabs) readVisible(ctx context.Context, log *slog.Logger) []reading {
	t.mu.Lock()
	shown := slices.Clone(t.shown)
	t.mu.Unlock()
	open := t.browser.Tabs()
	titles := map[string]string{}
	for _, tab := range open {
		if isWebAddress(tab.URL) {
			titles[tab.ID] = tab.Title
		}
	}
	shown = slices.DeleteFunc(shown, func(id string) bool { _, is := titles[id]; return !is })
	found := t.readAll(ctx, shown, titles, log)
	isBlocked := slices.ContainsFunc(found, func(r reading) bool { return r.dialog != nil })
	if len(found) < len(shown) || len(found) == 0 || isBlocked || t.isNew(open) {
		others := slices.DeleteFunc(slices.Sorted(maps.Keys(titles)), func(id string) bool {
			return slices.ContainsFunc(found, func(r reading) bool { return r.page.target == id })
		})
		found = append(found, t.readAll(ctx, t.visible(ctx, others), titles, log)...)
	}
	t.mu.Lock()
	t.shown = nil
	for _, r := range found {
		t.shown = append(t.shown, r.page.target)
	}
	maps.DeleteFunc(t.pages, func(id string, _ *page) bool {
		return !slices.ContainsFunc(open, func(tab devtools.Target) bool { return tab.ID == id })
	})
	t.mu.Unlock()
	return found
}

// isNew reports whether there are tabs that have never been looked at.
func (t *tabs) isNew(open []devtools.Target) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(open, func(tab devtools.Target) bool { return isWebAddress(tab.URL) && t.pages[tab.ID] == nil })
}

// readAll reads those of the tabs that windows show.
func (t *tabs) readAll(ctx context.Context, ids []string, titles map[string]string, log *slog.Logger) []reading {
	all := make([]reading, len(ids))
	var wait sync.WaitGroup
	for i, id := range ids {
		wait.Go(func() {
			p, err := t.attached(ctx, id)
			if err != nil {
				return
			}
			c, err := p.read(ctx)
			if errors.Is(err, errDialog) {
				all[i] = p.lastReading(titles[id])
				return
			}
			if err != nil {
				if ctx.Err() == nil {
					log.Warn("a page is not read by DevTools", "error", err)
				}
				return
			}
			if c.Visible && isWebAddress(c.URL) {
				p.mu.Lock()
				p.content = c
				p.mu.Unlock()
				all[i] = reading{page: p, title: titles[id], content: c}
			}
		})
	}
	wait.Wait()
	return slices.DeleteFunc(all, func(r reading) bool { return r.content == nil })
}

// visibilityTimeout limits the question whether a window shows a tab.
const visibilityTimeout = 500 * time.Millisecond

// visible returns those of the tabs that windows show, as the tabs say.
func (t *tabs) visible(ctx context.Context, ids []string) (shown []string) {
	ctx, cancel := context.WithTimeout(ctx, visibilityTimeout)
	defer cancel()
	is := make([]bool, len(ids))
	var wait sync.WaitGroup
	for i, id := range ids {
		wait.Go(func() {
			if p, err := t.attached(ctx, id); err == nil {
				is[i] = p.isVisible(ctx)
			}
		})
	}
	wait.Wait()
	for i, id := range ids {
		if is[i] {
			shown = append(shown, id)
		}
	}
	return shown
}

// attached returns the page of a tab.
func (t *tabs) attached(ctx context.Context, target string) (*page, error) {
	t.mu.Lock()
	p := t.pages[target]
	t.mu.Unlock()
	if p != nil {
		select {
		case <-p.session.Done():
		default:
			return p, nil
		}
	}
	p, err := openPage(ctx, t.browser, target)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if other := t.pages[target]; other != nil && other.session != p.session {
		select {
		case <-other.session.Done():
		default:
			go func() { _ = p.session.Close(context.WithoutCancel(ctx)) }()
			return other, nil
		}
	}
	t.pages[target] = p
	return p, nil
}

// readOne reads one element afresh. Its frame is relative to its document.
func (p *page) readOne(ctx context.Context, f *frame, k key) (desktop.Element, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	c := &content{Token: k.token}
	err := p.unlessBlocked(ctx, func(ctx context.Context) error {
		text, err := f.run(ctx, readerOf+".one("+strconv.Itoa(k.number)+")")
		if err == nil && text == "" {
			err = errStale
		}
		if err != nil {
			return err
		}
		return json.Unmarshal([]byte(text), c)
	})
	if err != nil {
		return desktop.Element{}, err
	}
	if !c.isComplete() || len(c.IDs) != 1 {
		return desktop.Element{}, errStale
	}
	return c.element(k.target, 0, desktop.Point{}), nil
}
