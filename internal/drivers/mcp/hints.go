package mcp

import (
	"context"
	"encoding/json"

	"github.com/gybob/aai-gateway"
)

// hintsID is the id of the stored digests of an app's trusted tools.
func hintsID(app string) string { return "mcp-hints/" + app }

// claim returns the effect that the annotations claim. Without annotations it is aai.Destroys.
func (a annotations) claim() aai.Effect {
	switch {
	case a.DestructiveHint != nil && *a.DestructiveHint:
		return aai.Destroys
	case a.ReadOnlyHint:
		return aai.Reads
	case a.DestructiveHint != nil:
		return aai.Changes
	}
	return aai.Destroys
}

// keep replaces the secret under the id by the result of edit.
func (d *Driver) keep(ctx context.Context, id string, edit func(old []byte) ([]byte, error)) *aai.Error {
	if d.config.Secrets == nil {
		return undeliveredError(aai.AutomationNotSupported, "", "this gateway cannot store encrypted values")
	}
	if err := d.config.Secrets.Update(ctx, id, edit); err != nil {
		e := *aai.AsError(err)
		e.Delivery = aai.NotDelivered
		return &e
	}
	return nil
}

// loadTrust reads the digests of the trusted tools if the listing has any, so that listing other
// apps opens no keychain.
func (d *Driver) loadTrust(app string, l *listing) {
	if !l.Hints || d.config.Secrets == nil {
		return
	}
	b, err := d.config.Secrets.Get(context.Background(), hintsID(app))
	var digests []string
	if err != nil || json.Unmarshal(b, &digests) != nil {
		return // no tool is trusted then
	}
	l.trusted = make(map[string]bool, len(digests))
	for _, digest := range digests {
		l.trusted[digest] = true
	}
}

// updateTrust changes an app's listing, also for other gateways of the user.
func (d *Driver) updateTrust(app string, change func(*listing)) {
	d.mu.Lock()
	s := d.apps[app]
	if s != nil && s.listing != nil {
		l := *s.listing
		l.trusted = nil
		change(&l)
		d.loadTrust(app, &l)
		d.cache.keep(app, &l)
		s.listing, s.written, s.app = &l, d.cache.written(app), nil
	}
	d.mu.Unlock()
	d.listeners.Call()
}

// listingOf returns the last listing of the app's server, or nil if there is none.
func (d *Driver) listingOf(app *aai.App) *listing {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.apps[app.ID]
	if s == nil || s.listing == nil || app.Server == nil || s.listing.Server != recipeDigest(app.Server) {
		return nil
	}
	return s.listing
}

// restart ends the servers of an app. The next call starts them with the current secrets.
func (d *Driver) restart(app string) {
	d.mu.Lock()
	var servers []*server
	for _, s := range d.servers {
		if s.recipe.App == app {
			servers = append(servers, s)
		}
	}
	d.mu.Unlock()
	for _, s := range servers {
		s.mu.Lock()
		live := s.live
		s.live, s.failures = nil, 0
		s.mu.Unlock()
		if live != nil {
			live.close(true)
		}
	}
}
