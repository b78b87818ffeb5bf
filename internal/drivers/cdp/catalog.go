package cdp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// Wrap returns local with an app for each origin that has an open page with tools, "page:" and the origin.
func (p *Pages) Wrap(local aai.Catalog) aai.Catalog { return &overlay{local, p} }

type overlay struct {
	aai.Catalog
	pages *Pages
}

// Apps implements aai.Catalog.
func (o *overlay) Apps() []*aai.App {
	apps := o.Catalog.Apps()
	pages := o.pages.apps(context.Background())
	if len(pages) == 0 {
		return apps
	}
	apps = slices.Concat(apps, pages)
	slices.SortStableFunc(apps, func(a, b *aai.App) int { return strings.Compare(a.ID, b.ID) })
	return apps
}

// Find implements aai.Catalog.
func (o *overlay) Find(ctx context.Context, name string) (*aai.App, error) {
	if !aai.IsPageName(name) {
		return o.Catalog.Find(ctx, name)
	}
	pages := o.pages.apps(ctx)
	for _, app := range pages {
		if app.HasName(name) {
			return app, nil
		}
	}
	e := aai.Errorf(aai.AppNotFound, "no open page with tools has the origin %q", aai.CleanLabel(name, 200))
	e.Delivery, e.Hint = aai.NotDelivered, "Open the page in a browser that is connected; browsers of the app aai lists them."
	for _, app := range pages {
		e.Candidates = append(e.Candidates, app.ID)
	}
	return nil, e
}

// OnChange implements aai.Catalog.
func (o *overlay) OnChange(f func()) (stop func()) {
	stopLocal, stopOwn := o.Catalog.OnChange(f), o.pages.listeners.Add(f)
	return func() {
		stopLocal()
		stopOwn()
	}
}

// PagesOf returns the ids of the apps of pages that are open in the browser with the process.
func (p *Pages) PagesOf(ctx context.Context, pid int) []string {
	var ids []string
	apps := p.apps(ctx)
	for _, one := range p.connected(ctx) {
		for _, app := range apps {
			if one.PID == pid && pid != 0 && app.Source == one.String() {
				ids = append(ids, app.ID)
			}
		}
	}
	return ids
}

// apps returns the apps of the open pages, ordered by id.
func (p *Pages) apps(ctx context.Context) []*aai.App {
	origins := map[string]*aai.App{}
	for _, one := range p.connected(ctx) {
		one.mu.Lock()
		pages := slices.SortedFunc(maps.Values(one.pages), func(x, y *page) int { return cmp.Compare(y.order, x.order) })
		for _, open := range pages {
			if tools := open.own(); len(tools) > 0 {
				p.addTo(origins, open, tools)
			}
		}
		one.mu.Unlock()
	}
	return slices.SortedFunc(maps.Values(origins), func(x, y *aai.App) int { return strings.Compare(x.ID, y.ID) })
}

// addTo adds the tools of a page to the app of its origin. The page that was opened last comes first.
func (p *Pages) addTo(origins map[string]*aai.App, open *page, tools []definition) {
	origin := open.origin()
	app := origins[origin]
	if app == nil {
		sum := sha256.Sum256([]byte(aai.PagePrefix + origin))
		app = &aai.App{
			ID: aai.PagePrefix + origin, Name: strings.TrimPrefix(strings.TrimPrefix(origin, "https://"), "http://"), Platform: "web",
			Description: fmt.Sprintf("The page %q, open in %s", open.label(), open.browser.Name), Digest: hex.EncodeToString(sum[:]), Source: open.browser.String(),
			Process: aai.Process{Browser: open.browser.Name},
		}
		if open.left > 0 {
			app.Description += fmt.Sprintf("; %d of its tools are left out, by name, size or number", open.left)
		}
		origins[origin] = app
	}
	slices.SortFunc(tools, func(x, y definition) int { return strings.Compare(x.Name, y.Name) })
	for _, d := range tools {
		if app.Tool(d.Name) == nil && len(app.Tools) < maxTools {
			app.Tools = append(app.Tools, p.tool(origin, d))
		}
	}
}
