package cdp

import (
	"context"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// emulateFocus makes the page behave as if its window had the keyboard, or ends that.
func (p *page) emulateFocus(ctx context.Context, on bool) error {
	p.mu.Lock()
	is := p.emulates
	p.mu.Unlock()
	if is == on {
		return nil
	}
	err := p.session.Request(ctx, "Emulation.setFocusEmulationEnabled", map[string]any{"enabled": on}, nil)
	p.mu.Lock()
	p.emulates = on || err != nil && is
	p.mu.Unlock()
	return err
}

// isShown reports whether one of the windows shows the page. The caller knows that the page says so itself. A page
// that emulates the keyboard always says so: then the title of a window tells, if it is that of no other tab. Otherwise
// the page ends the emulation and is asked again.
func (t *tabs) isShown(ctx context.Context, p *page, windows ...string) bool {
	p.mu.Lock()
	emulates := p.emulates
	p.mu.Unlock()
	if !emulates {
		return true
	}
	title, others := "", 0
	for _, tab := range t.browser.Tabs() {
		if tab.ID == p.target {
			title = tab.Title
		}
	}
	for _, tab := range t.browser.Tabs() {
		if tab.ID != p.target && (tab.Title == "" || strings.HasPrefix(tab.Title, title)) {
			others++
		}
	}
	for _, name := range windows {
		if title != "" && others == 0 && strings.HasPrefix(name, title) {
			return true
		}
	}
	return p.emulateFocus(ctx, false) == nil && p.isVisible(ctx)
}

// isVisible asks the page whether a window shows it.
func (p *page) isVisible(ctx context.Context) (is bool) {
	err := p.unlessBlocked(ctx, func(ctx context.Context) error {
		return p.main.evaluate(ctx, "JSON.stringify("+readerOf+".isVisible())", &is)
	})
	return err == nil && is
}

// checkShown returns an error unless a window shows the page now.
func (p *platform) checkShown(ctx context.Context, app desktop.App, page *page) error {
	t := p.browser(ctx, app.PID)
	if t == nil {
		return stale(app)
	}
	s, err := t.bars.read(ctx, app, p.watcher, p.tree.Snapshot)
	if err != nil {
		return err
	}
	var names []string
	for _, i := range s.Children(-1) {
		names = append(names, s.Elements[i].Name)
	}
	if !t.isShown(ctx, page, names...) {
		return (&operation{app: app}).fail(answer{Error: "hidden"})
	}
	return nil // a page that does not emulate the keyboard says itself whether it is hidden
}
