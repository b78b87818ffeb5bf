package programs

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// dashboardName is what a program shows that shows the gateway's own page.
const dashboardName = "the gateway's own page"

// dashboardReason says whether the program shows a page of a gateway of the person, in whichever
// of its windows: there a person sees what agents do, and stops them. A browser of which that
// cannot be told counts as one that does, while there is such a page.
func (r *Registry) dashboardReason(ctx context.Context, app desktop.App) string {
	hosts, err := r.dashboardHosts()
	if err == nil && len(hosts) == 0 {
		return ""
	}
	const unknown = "perhaps " + dashboardName + ", since it does not say what it shows"
	b := r.OpenBackend()
	if b.Tree == nil || b.Documents == nil || err != nil || app.Key == "" {
		if isBrowser(app) {
			return unknown
		}
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, pagesTimeout)
	defer cancel()
	addresses, err := r.addresses(ctx, b, app)
	switch {
	case err != nil && isBrowser(app), len(addresses) == 0 && isBrowser(app):
		return unknown
	case slices.ContainsFunc(addresses, func(address string) bool { return isDashboardAddress(hosts, address) }):
		return dashboardName
	case isBrowser(app) && slices.ContainsFunc(addresses, isMirrorAddress):
		return "perhaps " + dashboardName + ", since a tool of the browser shows what another of its windows does"
	}
	return ""
}

// isMirrorAddress reports whether an address is of a browser's own tool that shows what is in another
// document, without its address: the tools of developers in a window of their own, and what
// would be printed.
func isMirrorAddress(address string) bool {
	return slices.ContainsFunc([]string{
		"devtools:", "chrome-devtools:", "chrome://inspect", "chrome://print", "chrome-untrusted://print",
		"chrome://devtools/", "about:devtools-toolbox", "about:debugging", "about:printpreview",
	}, func(prefix string) bool { return strings.HasPrefix(strings.ToLower(address), prefix) })
}

// addresses are those of all documents that the program has.
func (r *Registry) addresses(ctx context.Context, b desktop.Backend, app desktop.App) ([]string, error) {
	shot, err := b.Tree.Snapshot(ctx, app)
	if err != nil {
		return nil, err
	}
	var documents []desktop.ID
	for _, e := range shot.Elements {
		if e.Role == desktop.Document {
			documents = append(documents, e.ID)
		}
	}
	if len(documents) == 0 {
		return nil, nil
	}
	return b.Documents.Addresses(ctx, app, documents)
}

// isDashboardAddress reports whether an address is of one of the hosts, or of what shows an address of one:
// its source, or what a browser makes of it to be read. Nobody else's address has that name,
// which is made at random for each start; where it has, the window is left alone for nothing.
func isDashboardAddress(hosts []string, address string) bool {
	address = strings.ToLower(address)
	for range maxNested {
		if slices.ContainsFunc(hosts, func(host string) bool { return strings.Contains(address, host) }) {
			return true
		}
		plain, err := url.PathUnescape(address)
		if err != nil || plain == address {
			break
		}
		address = plain
	}
	return false
}

// maxNested is how often an address may be within another.
const maxNested = 4

// DashboardOnScreen says what of the screen shows the gateway's own page, "" for nothing.
func (r *Registry) DashboardOnScreen(ctx context.Context) string {
	if hosts, err := r.dashboardHosts(); err == nil && len(hosts) == 0 {
		return ""
	}
	apps, err := r.Apps(ctx)
	if err != nil {
		return "perhaps " + dashboardName
	}
	for _, app := range apps {
		if what := r.dashboardReason(ctx, app); what != "" {
			return what
		}
	}
	return ""
}

func (r *Registry) dashboardHosts() ([]string, error) {
	if r.DashboardHosts == nil {
		return nil, nil
	}
	return r.DashboardHosts()
}

// isBrowser reports whether the program shows pages of the web, as far as its kind or its name
// says.
func isBrowser(app desktop.App) bool {
	names := []string{
		"chromium", "chrome", "google-chrome", "brave", "brave-browser", "vivaldi", "vivaldi-bin", "opera", "msedge", "microsoft-edge",
		"firefox", "firefox-esr", "firefox-bin", "librewolf", "epiphany", "falkon", "konqueror", "qutebrowser",
	}
	return app.IsBrowser || slices.Contains(names, app.ID)
}
