package mcp

import (
	"context"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// WithServerTools returns a catalog with the apps of local. An app that leaves the list of tools to a server gets the
// tools of the last listing. Wrap starts no server.
func (d *Driver) WithServerTools(local aai.Catalog) aai.Catalog { return &overlay{local, d} }

type overlay struct {
	aai.Catalog
	driver *Driver
}

// Apps implements aai.Catalog.
func (o *overlay) Apps() []*aai.App {
	apps := o.Catalog.Apps()
	for i, app := range apps {
		if app.Server != nil {
			apps[i] = o.driver.app(app)
		}
	}
	return apps
}

// Find implements aai.Catalog.
func (o *overlay) Find(ctx context.Context, name string) (*aai.App, error) {
	app, err := o.Catalog.Find(ctx, name)
	if err != nil || app.Server == nil {
		return app, err
	}
	return o.driver.app(app), nil
}

// OnChange implements aai.Catalog.
func (o *overlay) OnChange(f func()) (stop func()) {
	stopLocal, stopOwn := o.Catalog.OnChange(f), o.driver.listeners.Add(f)
	return func() {
		stopLocal()
		stopOwn()
	}
}

// servedApp is an app with the tools of its server.
type servedApp struct {
	base    *aai.App // from the catalog
	listing *listing // nil: the server has not been listed
	written time.Time
	app     *aai.App // base with the tools of listing
}

// app returns the app with its server's tools.
func (d *Driver) app(of *aai.App) *aai.App {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.apps[of.ID]
	if s == nil {
		s = new(servedApp)
		d.apps[of.ID] = s
	}
	if written := d.cache.written(of.ID); !written.Equal(s.written) { // another gateway of the user may write it
		s.written, s.app = written, nil
		if l := d.cache.read(of.ID); l != nil {
			d.loadTrust(of.ID, l)
			s.listing = l
		}
	}
	if s.app == nil || s.base != of {
		l := s.listing
		if l != nil && l.Server != recipeDigest(of.Server) {
			l = nil // the listing of another server
		}
		s.base, s.app = of, d.appWithTools(of, l)
	}
	return s.app
}

// relist lists the tools of a running server again, a pause after the last listing. It returns the app with the tools, or
// nil if the server does not run.
func (d *Driver) relist(ctx context.Context, of *aai.App) *aai.App {
	s := d.serverOf(of.Server)
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	if live == nil || live.hasEnded() {
		return nil
	}
	ctx, cancel := context.WithTimeout(aai.NonInteractive(ctx), relistTimeout)
	defer cancel()
	_ = aai.Sleep(ctx, relistPause-time.Since(time.Unix(0, live.listed.Load())))
	// On failure the last listing remains.
	_, _ = s.withSession(ctx, func(ctx context.Context, live *session) (*aai.Result, error) {
		if err := s.list(ctx, live); err != nil {
			return nil, err
		}
		return &aai.Result{}, nil
	})
	return d.app(of)
}

// applyListing stores a server's listing and notifies the listeners if it changed.
func (d *Driver) applyListing(app string, l *listing) {
	d.mu.Lock()
	s := d.apps[app]
	if s == nil {
		s = new(servedApp)
		d.apps[app] = s
	}
	changed := s.listing == nil || s.listing.digest != l.digest
	if changed {
		if s.listing != nil {
			l.Hints, l.Asks = s.listing.Hints, s.listing.Asks
		}
		d.loadTrust(app, l)
		d.cache.keep(app, l)
		s.listing, s.written, s.app = l, d.cache.written(app), nil
	}
	d.mu.Unlock()
	if changed {
		d.listeners.Call()
	}
}

// appWithTools returns a copy of the app with the listed tools.
func (d *Driver) appWithTools(of *aai.App, l *listing) *aai.App {
	app := *of
	app.Descriptor.Relist = func(ctx context.Context) *aai.App { return d.relist(ctx, of) }
	m := toolMaker{driver: d, app: &app, recipe: of.Server}
	if l == nil {
		app.Tools, app.Descriptor.Unprobed = []*aai.Tool{m.starter()}, true
		return &app
	}
	app.Tools = m.tools(l)
	if l.Rest != "" {
		app.Description = strings.TrimSpace(app.Description + " Tools are missing: " + l.Rest + ".")
	}
	return &app
}
