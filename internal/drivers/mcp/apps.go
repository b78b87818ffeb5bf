package mcp

import (
	"context"
	"time"

	"aai"
)

// Over is the catalog with the tools of servers in the apps that leave it to those what they
// have. Nothing is started for that: they are as the server last said.
func (d *Driver) Over(local aai.Catalog) aai.Catalog { return &overlay{local, d} }

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
type served struct {
	of      *aai.App // as the catalog has it
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
		s = new(served)
		d.apps[of.ID] = s
	}
	if written := d.pins.written(of.ID); !written.Equal(s.written) { // by another gateway of the person, too
		s.written, s.app = written, nil
		if l := d.pins.read(of.ID); l != nil {
			d.believe(of.ID, l)
			s.listing = l
		}
	}
	if s.app == nil || s.of != of {
		l := s.listing
		if l != nil && l.Server != recipeDigest(of.Server) {
			l = nil // another server said that
		}
		s.of, s.app = of, d.with(of, l)
	}
	return s.app
}

// learned takes in what a server says that it has.
func (d *Driver) learned(app string, l *listing) {
	d.mu.Lock()
	s := d.apps[app]
	if s == nil {
		s = new(served)
		d.apps[app] = s
	}
	changed := s.listing == nil || s.listing.digest != l.digest
	if changed {
		if s.listing != nil {
			l.Hints, l.Asks = s.listing.Hints, s.listing.Asks
		}
		d.believe(app, l)
		d.pins.keep(app, l)
		s.listing, s.written, s.app = l, d.pins.written(app), nil
	}
	d.mu.Unlock()
	if changed {
		d.listeners.Call()
	}
}

// with is the app with the tools that were listed.
func (d *Driver) with(of *aai.App, l *listing) *aai.App {
	app := *of
	m := maker{driver: d, app: &app, recipe: of.Server}
	if l == nil {
		app.Tools, app.Unheard = []*aai.Tool{m.starter()}, true
		return &app
	}
	app.Tools = m.tools(l)
	return &app
}
