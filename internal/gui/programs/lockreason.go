package programs

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// lockReasonTimeout limits the check for a screen lock or password prompt.
const lockReasonTimeout = 500 * time.Millisecond

// pagesTimeout limits the check for the pages of a browser.
const pagesTimeout = 2 * time.Second

// lockReason returns the reason why the program must not be operated: it shows the dashboard or a
// screen lock; "" for none.
func (r *Registry) lockReason(ctx context.Context, app desktop.App) string {
	if page := r.dashboardReason(ctx, app); page != "" {
		return page
	}
	return r.screenLockReason(ctx, app)
}

// screenLockReason returns a text if the program shows a window that only a screen lock has. It covers a whole
// monitor and was placed past the window manager. Otherwise, and after a timeout, it returns "": lock programs are
// first recognized by name.
func (r *Registry) screenLockReason(ctx context.Context, app desktop.App) string {
	screen := r.OpenBackend().Screen
	if screen == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, lockReasonTimeout)
	defer cancel()
	layers, err := screen.Layers(ctx)
	if err != nil {
		return ""
	}
	own := slices.DeleteFunc(layers, func(l desktop.Layer) bool { return l.PID != app.PID || !l.Unmanaged })
	if len(own) == 0 {
		return ""
	}
	monitors, err := screen.Monitors(ctx)
	if err != nil {
		return ""
	}
	for _, m := range monitors {
		if slices.ContainsFunc(own, func(l desktop.Layer) bool { return m.Frame.Intersect(l.Frame) == m.Frame }) {
			return "a lock of the screen"
		}
	}
	return ""
}

// passwordPrompt returns the PID of the program with the keyboard if a password field is focused
// there, or 0. That window must not be captured. A program that does not answer in time counts as
// one that asks, with known false. One without a tree counts as none, since most do not ask.
func (r *Registry) passwordPrompt(ctx context.Context) (pid int, known bool) {
	b := r.OpenBackend()
	if b.Tree == nil || b.Windows == nil {
		return 0, true
	}
	ctx, cancel := context.WithTimeout(ctx, lockReasonTimeout)
	defer cancel()
	windows, err := b.Windows.Windows(ctx)
	if err != nil {
		return 0, true
	}
	i := slices.IndexFunc(windows, func(w desktop.WindowInfo) bool { return w.Active && w.PID != 0 })
	if i < 0 {
		return 0, true
	}
	pid = windows[i].PID
	apps, err := r.Apps(ctx)
	if err != nil {
		return pid, false
	}
	i = slices.IndexFunc(apps, func(a desktop.App) bool { return a.PID == pid })
	if i < 0 {
		return 0, true
	}
	shot, err := b.Tree.Snapshot(ctx, apps[i])
	if err != nil && aai.AsError(err).Code == aai.Timeout {
		return pid, false
	}
	if err != nil || !slices.ContainsFunc(shot.Elements, func(e desktop.Element) bool { return e.States.Has(desktop.Protected | desktop.Focused) }) {
		return 0, true
	}
	return pid, true
}

// CaptureUnlessPassword calls take, which captures a window of the process, and returns the result. It fails if a
// password field there has the keyboard before or after the capture.
func (r *Registry) CaptureUnlessPassword(ctx context.Context, pid int, take func() (*aai.Result, error)) (*aai.Result, error) {
	asks, known := r.passwordPrompt(ctx)
	result, err := take()
	if err == nil && asks != pid {
		asks, known = r.passwordPrompt(ctx)
	}
	if err != nil || asks != pid {
		return result, err
	}
	e := aai.Errorf(aai.PermissionDenied, "a field for a password has the keyboard in this window, so no picture of it is taken")
	e.Hint = "Take it when the person has typed, or look at the window with ax_get_tree."
	if !known {
		e = aai.Errorf(aai.Timeout, "the program did not say in time whether a password is typed in this window, so no picture of it is taken")
		e.Hint = "Take it again in a moment."
	}
	e.Delivery = aai.NotDelivered
	return nil, e
}

// CheckScreenLock returns an error for a capture of the whole screen while it is locked; nil if it
// is not, or that is unknown.
func (r *Registry) CheckScreenLock(ctx context.Context) error {
	if r.IsScreenLocked == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lockReasonTimeout)
	defer cancel()
	if !r.IsScreenLocked(ctx) {
		return nil
	}
	e := aai.Errorf(aai.PermissionDenied, "the screen is locked, and tools cannot see a lock: it protects the person at this computer")
	e.Hint = "Name a program in app, or wait until the person is back."
	e.Delivery = aai.NotDelivered
	return e
}

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
