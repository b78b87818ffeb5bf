package discovery

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// staleRetryDelay is the time during which a stale copy replaces an unreachable site before a
// retry, so that calls do not wait for the network.
const staleRetryDelay = time.Minute

// obtain returns the site's app: from memory, from the cache or from the site. Concurrent
// requests for one host share one lookup.
func (w *WebCatalog) obtain(ctx context.Context, t target) (*aai.App, error) {
	if s := w.recall(t.host); s != nil {
		return s.app, nil
	}
	lookup := w.flights.DoChan(t.host.String(), func() (any, error) { return w.lookUp(context.WithoutCancel(ctx), t) })
	select {
	case done := <-lookup:
		if done.Err != nil {
			return nil, done.Err
		}
		return done.Val.(*site).app, nil
	case <-ctx.Done():
		return nil, aai.AsError(ctx.Err())
	}
}

// recall returns a fresh site from memory, or nil.
func (w *WebCatalog) recall(h netguard.Host) *site {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.sites[h]
	if s == nil || !s.isFresh(w.now()) {
		return nil
	}
	w.useCounter++
	s.lastUse = w.useCounter
	return s
}

// isFresh reports whether the site needs no request now.
func (s *site) isFresh(now time.Time) bool {
	return s.meta.isFresh(now) || now.Before(s.staleUntil) && s.meta.isUsable(now)
}

// lookUp looks up a site, with the timeout of a fetch.
func (w *WebCatalog) lookUp(ctx context.Context, t target) (s *site, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, &aai.Error{
				Code: aai.Internal, Message: "the gateway failed to read " + t.host.String() + "'s app",
				Hint: "This is a fault of the gateway. Its log has the details.",
				Err:  fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
			}
		}
	}()
	if s := w.recall(t.host); s != nil {
		return s, nil // a concurrent lookup has finished
	}
	known := w.cachedSite(t)
	if known != nil {
		t = known.target // with the scheme of the cached copy: an address such as "host:port/id" has none
	}
	if known != nil && known.meta.isFresh(w.now()) {
		w.remember(known)
		return known, nil
	}
	if err := w.takeLookup(); err != nil {
		return nil, err
	}
	s, err = w.fetch(ctx, t, known)
	if err != nil {
		w.log.Info("a site gave no app", "site", t.source(), "error", err, "cause", aai.AsError(err).Err)
	}
	return s, err
}

// takeLookup counts a lookup against the rate limit.
func (w *WebCatalog) takeLookup() *aai.Error {
	now := w.now()
	booking := w.limit.ReserveN(now, 1)
	delay := booking.DelayFrom(now)
	if delay == 0 {
		return nil
	}
	booking.CancelAt(now)
	e := aai.Errorf(aai.RateLimited, "more than %d sites were looked up within a minute", lookupBurst)
	e.Hint = "Wait, or use a site that was looked up before."
	e.RetryAfter = delay
	return e
}

// cachedSite returns the known copy of a site, of any age: from memory, else from the cache. It
// ignores an invalid copy.
func (w *WebCatalog) cachedSite(t target) *site {
	w.mu.Lock()
	s := w.sites[t.host]
	w.mu.Unlock()
	if s != nil {
		return s
	}
	body, m, found := w.cache.read(t.host)
	if plain := (target{t.host, "http", t.app}); found && t.host.IsLoopback() && m.SourceURL == plain.source() {
		t = plain // "127.0.0.1:8080/id" has no scheme
	}
	if !found || m.SourceURL != t.source() {
		return nil
	}
	app, err := w.parse(t, body, m)
	if err != nil {
		return nil
	}
	return &site{target: t, app: app, meta: m}
}

// fetch requests the descriptor, conditionally if known is not nil.
func (w *WebCatalog) fetch(ctx context.Context, t target, known *site) (*site, error) {
	request := netguard.FetchRequest{URL: t.source(), Accept: "application/json", MaxBytes: maxBody}
	if known != nil {
		request.ETag, request.LastModified = known.meta.ETag, known.meta.LastModified
	}
	fetched, err := w.client.Fetch(ctx, request)
	switch {
	case err != nil && known != nil && netguard.IsNetworkError(err) && known.meta.isUsable(w.now()):
		w.log.Info("a site cannot be reached; its cached descriptor is used", "site", t.source(), "fetched",
			known.meta.FetchedAt, "cause", aai.AsError(err).Err)
		rested := &site{target: t, app: known.app, meta: known.meta, staleUntil: w.now().Add(staleRetryDelay)}
		w.remember(rested)
		return rested, nil
	case err != nil && aai.AsError(err).Code == aai.DescriptorInvalid:
		w.forget(t.host)
		return nil, invalidDescriptor(err)
	case err != nil:
		return nil, aai.AsError(err)
	}
	switch {
	case fetched.Status == http.StatusOK:
		return w.acceptDescriptor(t, known, fetched)
	case fetched.Status == http.StatusNotModified && known != nil:
		same := &site{target: t, app: known.app, meta: known.meta.renewed(fetched, w.now())}
		w.store(t, nil, same.meta)
		w.remember(same)
		return same, nil
	case fetched.Status == http.StatusNotFound || fetched.Status == http.StatusGone:
		w.forget(t.host)
	}
	return nil, statusError(t, fetched.Status)
}

// statusError returns the error of a response without a descriptor.
func statusError(t target, status int) *aai.Error {
	if status < 400 || status >= 500 {
		e := aai.Errorf(aai.AppNotRunning, "the app of %s is not available now: it answered with status %d", t.host, status)
		e.Hint = "Try again later."
		e.Delivery = aai.Delivered
		return e
	}
	e := aai.Errorf(aai.AppNotFound, "%s offers no app: it has no %s (status %d)", t.host, WellKnownPath, status)
	e.Hint = "Use a browser for this site, or ask its owner for an aai.json."
	return e
}

// acceptDescriptor accepts a descriptor that a site has sent.
func (w *WebCatalog) acceptDescriptor(t target, known *site, f *netguard.FetchResult) (*site, error) {
	m := newMeta(t.source(), f, digest(f.Body), w.now())
	var app *aai.App
	if known != nil && known.meta.SHA256 == m.SHA256 {
		app = known.app // keeps the pointer that other code may hold
	} else {
		var err error
		if app, err = w.parse(t, f.Body, m); err != nil {
			w.forget(t.host)
			return nil, err
		}
	}
	w.store(t, f.Body, m)
	s := &site{target: t, app: app, meta: m}
	w.remember(s)
	return s, nil
}

// store writes to the cache. A failure only costs speed.
func (w *WebCatalog) store(t target, body []byte, m meta) {
	if err := w.cache.write(t.host, body, m); err != nil {
		w.log.Warn("a descriptor could not be cached", "site", t.source(), "cause", err)
	}
}

// parse reads an untrusted descriptor: with its origin, for the platform "web" alone and with
// only the HTTP driver.
func (w *WebCatalog) parse(t target, body []byte, m meta) (*aai.App, error) {
	modified, _ := http.ParseTime(m.LastModified)
	d, err := catalog.Parse(body, catalog.Options{
		HostPlatform: platformWeb, Drivers: w.drivers, DefaultTimeout: w.timeout, Events: w.events,
		Source: t.source(), Modified: modified, Origin: t.origin(),
	})
	if err != nil {
		failure := *aai.AsError(err)
		failure.Message = fmt.Sprintf("the descriptor of %s is invalid: %s", t.host, failure.Message)
		failure.Hint = "Only the site's owner can correct it."
		return nil, invalidDescriptor(&failure)
	}
	if d.App.Platform != platformWeb {
		e := aai.Errorf(aai.DescriptorInvalid,
			"the descriptor of %s is invalid: platform: is %q; expected %q, the only platform on the web",
			t.host, d.App.Platform, platformWeb)
		e.Hint = "Only the site's owner can correct it."
		return nil, invalidDescriptor(e)
	}
	return d.App, nil
}

// invalidDescriptor sets the protocol's alias on the error of an invalid web descriptor. No tool of the site was called.
func invalidDescriptor(err error) *aai.Error {
	e := *aai.AsError(err)
	e.Alias, e.Delivery = aai.InvalidParams.Alias(), aai.NotDelivered
	return &e
}

// platformWeb is the only platform that a site can describe.
const platformWeb = "web"

// remember puts a site in memory and notifies the listeners if the apps have changed.
func (w *WebCatalog) remember(s *site) {
	w.mu.Lock()
	before := w.sites[s.target.host]
	w.useCounter++
	s.lastUse = w.useCounter
	w.sites[s.target.host] = s
	if len(w.sites) > maxSites {
		w.dropOldest()
	}
	w.mu.Unlock()
	if before == nil || before.app != s.app {
		w.listeners.Call()
	}
}

// dropOldest removes the least recently used site. The caller holds w.mu.
func (w *WebCatalog) dropOldest() {
	var oldest *site
	for _, s := range w.sites {
		if oldest == nil || s.lastUse < oldest.lastUse {
			oldest = s
		}
	}
	delete(w.sites, oldest.target.host)
}

// forget removes a site from memory and cache.
func (w *WebCatalog) forget(h netguard.Host) {
	w.cache.remove(h)
	w.mu.Lock()
	_, known := w.sites[h]
	delete(w.sites, h)
	w.mu.Unlock()
	if known {
		w.listeners.Call()
	}
}

// loadNamed loads the sites with names from the cache.
func (w *WebCatalog) loadNamed() {
	sites, err := w.names.read()
	if err != nil {
		w.log.Warn("the names of sites cannot be read", "cause", err)
		return
	}
	for _, t := range sites {
		if s := w.cachedSite(t); s != nil && s.meta.isUsable(w.now()) {
			w.mu.Lock()
			if w.sites[t.host] == nil {
				w.sites[t.host] = s
			}
			w.mu.Unlock()
		}
	}
}
