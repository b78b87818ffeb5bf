package cdp

import (
	"context"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/devtools"
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

// isShown reports whether one of the windows, or of the documents that show, is that of the page. The caller knows that
// the page says so itself. A page that emulates the keyboard always says so, and one with a dialog says nothing: then the
// title of a window tells, if it is that of no other tab. Otherwise the page ends the emulation and is asked again.
func (t *tabs) isShown(ctx context.Context, p *page, windows ...string) bool {
	p.mu.Lock()
	emulates, asks := p.emulates, p.question != nil
	p.mu.Unlock()
	if !emulates && !asks {
		return true
	}
	titles, others := t.titles(ctx), 0
	title := titles[p.target]
	for id, other := range titles {
		if id != p.target && (other == "" || strings.HasPrefix(other, title)) {
			others++
		}
	}
	for _, name := range windows {
		if title != "" && others == 0 && strings.HasPrefix(name, title) {
			return true
		}
	}
	return !asks && p.emulateFocus(ctx, false) == nil && p.isVisible(ctx)
}

// titles returns the titles of the tabs. Browsers do not report all of their changes.
func (t *tabs) titles(ctx context.Context) map[string]string {
	var all struct {
		Targets []devtools.Target `json:"targetInfos"`
	}
	_ = t.browser.Request(ctx, "Target.getTargets", map[string]any{}, &all)
	titles := map[string]string{}
	for _, target := range all.Targets {
		if target.Kind == "page" {
			titles[target.ID] = target.Title
		}
	}
	return titles
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
