package programs

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// dashboardName describes the dashboard in reasons.
const dashboardName = "the gateway's own page"

// dashboardReason returns a text if any window of the program shows, or may show, a dashboard, where the person
// watches and stops agents; else "". While there is a dashboard, a browser that does not report its addresses counts
// as one that shows it.
func (r *Registry) dashboardReason(ctx context.Context, app desktop.App) string {
	hosts, err := r.dashboardHosts()
	if err == nil && len(hosts) == 0 {
		return ""
	}
	const unknown = "perhaps " + dashboardName + ", since it does not report its pages"
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
		return "perhaps " + dashboardName + ", since a tool of the browser mirrors another of its windows"
	}
	return ""
}

// isMirrorAddress reports whether the address is of a browser tool that shows another document without its address.
// Such tools are developer tools in a separate window, or a print preview.
func isMirrorAddress(address string) bool {
	return slices.ContainsFunc([]string{
		"devtools:", "chrome-devtools:", "chrome://inspect", "chrome://print", "chrome-untrusted://print",
		"chrome://devtools/", "about:devtools-toolbox", "about:debugging", "about:printpreview",
	}, func(prefix string) bool { return strings.HasPrefix(strings.ToLower(address), prefix) })
}

// addresses returns the addresses of all documents of the program.
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

// isDashboardAddress reports whether an address contains one of the hosts, even escaped within
// another address such as a source or reader view. The host name is random for each start, so other
// addresses do not match; a false match only blocks the window.
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

// maxNested limits how deep an address may be nested within another.
const maxNested = 4

// DashboardOnScreen returns a text that says if any program shows, or may show, the dashboard; else "".
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

// isBrowser reports whether the program is a web browser, by its kind or its name.
func isBrowser(app desktop.App) bool {
	names := []string{
		"chromium", "chrome", "google-chrome", "brave", "brave-browser", "vivaldi", "vivaldi-bin", "opera", "msedge", "microsoft-edge",
		"firefox", "firefox-esr", "firefox-bin", "librewolf", "epiphany", "falkon", "konqueror", "qutebrowser",
	}
	return app.IsBrowser || slices.Contains(names, app.ID)
}
