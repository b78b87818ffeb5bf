package mcp

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
)

// Wrap is the catalog with the tools of servers in the apps that leave it to those what they
// have. Nothing is started for that: they are as the server last said.
func (d *Driver) Wrap(local aai.Catalog) aai.Catalog { return &overlay{local, d} }

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

// A served is an app with the tools of its server.
type servedApp struct {
	base    *aai.App // as the catalog has it
	listing *listing // nil: nobody has asked the server
	written time.Time
	app     *aai.App // of has these tools
}

// app is the app with its server's tools.
func (d *Driver) app(of *aai.App) *aai.App {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.apps[of.ID]
	if s == nil {
		s = new(servedApp)
		d.apps[of.ID] = s
	}
	if written := d.cache.written(of.ID); !written.Equal(s.written) { // by another gateway of the person, too
		s.written, s.app = written, nil
		if l := d.cache.read(of.ID); l != nil {
			d.loadTrust(of.ID, l)
			s.listing = l
		}
	}
	if s.app == nil || s.base != of {
		l := s.listing
		if l != nil && l.Server != recipeDigest(of.Server) {
			l = nil // another server said that
		}
		s.base, s.app = of, d.appWithTools(of, l)
	}
	return s.app
}

// applyListing takes in what a server says that it has.
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

// appWithTools is the app with the tools that were listed.
func (d *Driver) appWithTools(of *aai.App, l *listing) *aai.App {
	app := *of
	m := toolMaker{driver: d, app: &app, recipe: of.Server}
	if l == nil {
		app.Tools, app.Unprobed = []*aai.Tool{m.starter()}, true
		return &app
	}
	app.Tools = m.tools(l)
	return &app
}
