package discovery

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/events"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// Rate limit of lookups, for all callers of a process together: otherwise a caller could use the
// gateway to scan the web.
const (
	lookupBurst      = 10 // at once, and then
	lookupsPerMinute = 10
)

// maxSites limits the sites in memory, and therefore the listed web apps.
const maxSites = 100

// WebConfig configures a WebCatalog. It must not change after NewWebCatalog.
type WebConfig struct {
	LocalCatalog aai.Catalog      // the apps of this computer
	Client       *netguard.Client // the HTTP client
	// Drivers are those of the local catalog; only the HTTP drivers are used.
	Drivers        map[string]aai.Driver
	DefaultTimeout time.Duration     // for tools without a timeout; zero: aai.DefaultTimeout
	Events         *events.Recorders // see catalog.Options
	Cache          string            // the folder of copies, such as ~/.cache/aai-gateway
	Names          string            // the file of the person's names, such as ~/.config/aai-gateway/name-cache.json
	Log            *slog.Logger      // nil: no log
	Now            func() time.Time  // nil: time.Now
}

// A WebCatalog combines the apps of this computer with those of requested web sites. It is safe
// for concurrent use.
type WebCatalog struct {
	local   aai.Catalog
	client  *netguard.Client
	drivers map[string]aai.Driver
	events  *events.Recorders
	timeout time.Duration
	cache   cache
	names   siteNames
	log     *slog.Logger
	now     func() time.Time

	limit         *rate.Limiter
	flights       singleflight.Group
	loadNamesOnce sync.Once // the named sites were loaded from the cache

	mu         sync.Mutex
	sites      map[netguard.Host]*site
	useCounter int // counts uses

	listeners aai.Listeners
}

// A site is a web site with a known descriptor. It is immutable except for lastUse, which
// WebCatalog.mu guards.
type site struct {
	target target
	app    *aai.App
	meta   meta
	// staleUntil is the time until which a stale copy is used, because the last request did not
	// reach the site.
	staleUntil time.Time
	lastUse    int
}

// NewWebCatalog returns a WebCatalog. It does no I/O.
func NewWebCatalog(c WebConfig) *WebCatalog {
	w := &WebCatalog{
		local: c.LocalCatalog, client: c.Client, drivers: make(map[string]aai.Driver), timeout: c.DefaultTimeout, events: c.Events,
		cache: cache{c.Cache}, names: siteNames{c.Names}, log: c.Log, now: c.Now,
		limit: rate.NewLimiter(rate.Every(time.Minute/lookupsPerMinute), lookupBurst),
		sites: make(map[netguard.Host]*site),
	}
	// A descriptor from the web gets no driver with access to this computer.
	for _, key := range []string{"http", "web/http"} {
		if d, ok := c.Drivers[key]; ok {
			w.drivers[key] = d
		}
	}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	if w.now == nil {
		w.now = time.Now
	}
	return w
}

// Apps returns the apps of this computer and web apps, ordered by id. The web apps are those that this process looked
// up, and those in the cache with a name. Apps does not use the network. It omits unnamed sites that only other
// processes looked up. A malicious site that one agent visited can then not address another agent.
func (w *WebCatalog) Apps() []*aai.App {
	w.loadNamesOnce.Do(w.loadNamed)
	apps := w.local.Apps()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.sites) == 0 {
		return apps
	}
	wires := make(map[string]bool, len(apps))
	for _, app := range apps {
		wires[wireName(app)] = true
	}
	for _, s := range w.sortedSites() {
		if wire := wireName(s.app); !wires[wire] {
			wires[wire] = true
			apps = append(apps, s.app)
		}
	}
	slices.SortFunc(apps, func(a, b *aai.App) int { return strings.Compare(a.ID, b.ID) })
	return apps
}

// sortedSites returns the sites by host. The caller holds w.mu.
func (w *WebCatalog) sortedSites() []*site {
	all := make([]*site, 0, len(w.sites))
	for _, s := range w.sites {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *site) int { return cmp.Compare(a.app.ID, b.app.ID) })
	return all
}

// wireName returns a wire name in lower case, for comparison.
func wireName(app *aai.App) string { return strings.ToLower(app.WireName()) }

// OnChange calls f after every change of the list of apps, until stop is called. f must not call stop.
func (w *WebCatalog) OnChange(f func()) (stop func()) {
	stopLocal, stopWeb := w.local.OnChange(f), w.listeners.Add(f)
	return func() {
		stopLocal()
		stopWeb()
	}
}

// Find returns the app of that name. Names of local apps take precedence. Otherwise a name
// selects a web app if it is a URL ("https://example.com/…") or the person's name for a site
// ("jira"). For a site looked up before, it may also be the host ("example.com") or the app's id
// ("example.com/org.example.Mail", also after "app:", or its wire name). Find requests the
// descriptor from the site unless it has a fresh copy, and makes no other request. For a name
// that is no address, the error is that of the local catalog, else that of Discover.
func (w *WebCatalog) Find(ctx context.Context, name string) (*aai.App, error) {
	app, notLocal := w.local.Find(ctx, name)
	if notLocal == nil {
		return app, nil
	}
	t, isSite, err := w.siteOf(name)
	if err != nil {
		return nil, err
	}
	if aai.AsError(notLocal).Code != aai.AppNotFound || w.isLocalName(name) {
		return nil, notLocal
	}
	if !isSite {
		return nil, suggestSite(name, notLocal)
	}
	app, err = w.obtain(ctx, t)
	if err != nil {
		return nil, err
	}
	if _, id, _ := strings.Cut(app.ID, "/"); t.app != "" && t.app != id {
		e := aai.Errorf(aai.AppNotFound, "%s has no app %q", t.host, aai.CleanLabel(t.app, 200))
		e.Candidates = []string{app.ID}
		e.Hint = "A site has one app; use its id."
		return nil, e
	}
	return app, nil
}

// suggestSite adds a hint to the error of an unknown name: how to look up the web site of that
// name, if there may be one.
func suggestSite(name string, notLocal error) error {
	t, bad := parseAddress(name)
	if bad != nil || plainName(name) || !t.host.HasPublicSuffix() {
		return notLocal
	}
	e := *aai.AsError(notLocal)
	e.Hint = fmt.Sprintf("For the web site, look it up with web_discover, or use https://%s. %s", t.host, e.Hint)
	return &e
}

// Discover returns the app of the site at an address or under a person's name, as Find does, but
// regardless of local apps. Its error is an *aai.Error: INVALID_PARAMS for an invalid address;
// APP_NOT_FOUND if the site offers no app or the name is unknown; AAI_JSON_INVALID, with the
// place, if its descriptor is invalid; APP_NOT_RUNNING if it is unreachable; RATE_LIMITED after
// ten lookups within a minute.
func (w *WebCatalog) Discover(ctx context.Context, address string) (*aai.App, error) {
	t, err := w.resolve(address)
	if err != nil {
		return nil, err
	}
	return w.obtain(ctx, t)
}

// resolve returns the site of an address or a person's name.
func (w *WebCatalog) resolve(address string) (target, error) {
	address = strings.TrimSpace(address)
	t, known, err := w.namedSite(address)
	if err != nil || known {
		return t, err
	}
	t, bad := parseAddress(address)
	if bad != nil {
		return target{}, bad
	}
	if plainName(address) && !t.host.IsLoopback() {
		e := aai.Errorf(aai.AppNotFound, "no site is known as %q", aai.CleanLabel(address, maxNameBytes))
		e.Hint = "Give its domain, such as example.com. The person can give a site a name: aai-gateway discover --name " +
			"NAME URL."
		e.Delivery = aai.NotDelivered
		return target{}, e
	}
	return t, nil
}

// AddName gives the site at an address a name for all callers. Only people may call it. It does
// not request the site.
func (w *WebCatalog) AddName(name, address string) error {
	t, bad := parseAddress(strings.TrimSpace(address))
	if bad == nil && plainName(address) && !t.host.IsLoopback() {
		bad = badAddress(address, "expected a domain or a URL")
	}
	if bad == nil {
		bad = w.names.add(name, t)
	}
	if bad != nil {
		return bad
	}
	return nil
}

// siteOf returns the site that words select, if any.
func (w *WebCatalog) siteOf(words string) (t target, isSite bool, err error) {
	if t, isSite, err = w.namedSite(words); isSite || err != nil {
		return t, isSite, err
	}
	if t, known := w.siteByWireName(words); known {
		return t, true, nil
	}
	words = strings.TrimPrefix(words, "app:")
	t, bad := parseAddress(words)
	switch {
	case bad == nil && (isSiteAddress(words, t.host) || w.isKnown(t.host)):
		return t, true, nil
	case bad != nil && strings.Contains(words, "://"):
		return target{}, false, bad
	}
	return target{}, false, nil
}

// isKnown reports whether the site was looked up before.
func (w *WebCatalog) isKnown(h netguard.Host) bool {
	w.mu.Lock()
	s := w.sites[h]
	w.mu.Unlock()
	if s != nil {
		return true
	}
	_, _, cached := w.cache.read(h)
	return cached
}

// namedSite returns the site to which the person gave that name, and whether there is one.
func (w *WebCatalog) namedSite(words string) (target, bool, error) {
	if !plainName(words) {
		return target{}, false, nil
	}
	sites, err := w.names.read()
	if err != nil {
		return target{}, false, err
	}
	t, known := sites[strings.ToLower(words)]
	return t, known, nil
}

// siteByWireName returns the site of the app with the wire name.
func (w *WebCatalog) siteByWireName(words string) (target, bool) {
	if !strings.HasPrefix(words, "app_") {
		return target{}, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sortedSites() {
		if wireName(s.app) == strings.ToLower(words) {
			return s.target, true
		}
	}
	return target{}, false
}

// isLocalName reports whether a local app has the name, even if the local catalog does not find
// it because several have it.
func (w *WebCatalog) isLocalName(name string) bool {
	return slices.ContainsFunc(w.local.Apps(), func(app *aai.App) bool { return app.HasName(name) })
}
