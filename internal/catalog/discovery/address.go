package discovery

import (
	"net/url"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// WellKnownPath is the path of the descriptor in a site's URL.
const WellKnownPath = "/.well-known/aai.json"

// maxAddress limits an address, in bytes.
const maxAddress = 2048

// A target is a site, and optionally one of its apps.
type target struct {
	host   netguard.Host
	scheme string // "https", or "http" if the address has it
	app    string // the id without the host; empty: the site's app
}

func (t target) origin() string {
	if t.scheme == "http" {
		return "http://" + t.host.String()
	}
	return t.host.Origin()
}

// source returns the URL of the site's descriptor.
func (t target) source() string { return t.origin() + WellKnownPath }

// parseAddress parses "https://host/…", "host", "host:port", "host/…" and "host/<app id>". Of a
// URL only the host counts, because people paste the URL of the current page.
func parseAddress(address string) (target, *aai.Error) {
	if len(address) > maxAddress {
		return target{}, badAddress(address, "it is too long")
	}
	if strings.Contains(address, "://") {
		return parseURL(address)
	}
	host, rest, _ := strings.Cut(strings.TrimPrefix(address, "app:"), "/")
	h, err := netguard.ParseHost(host)
	if err != nil {
		return target{}, badAddress(address, err.Error())
	}
	t := target{host: h, scheme: "https"}
	if strings.Contains(rest, ".") && !strings.ContainsAny(rest, "/?#") {
		t.app = rest
	}
	return t, nil
}

func parseURL(address string) (target, *aai.Error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return target{}, badAddress(address, "it is no URL")
	case u.User != nil:
		return target{}, badAddress(address, "it has a user or a password")
	case u.Scheme != "https" && u.Scheme != "http":
		return target{}, badAddress(address, "expected https")
	}
	host := u.Host
	if u.Scheme == "http" && u.Port() == "" {
		host += ":80"
	}
	h, err := netguard.ParseHost(host)
	switch {
	case err != nil:
		return target{}, badAddress(address, err.Error())
	case u.Scheme == "http" && !h.IsLoopback():
		return target{}, badAddress(address, "expected https")
	}
	return target{host: h, scheme: u.Scheme}, nil
}

// plainName reports whether words can only be a name that the person gave a site: they have no
// character of an address.
func plainName(words string) bool { return words != "" && !strings.ContainsAny(words, ".:/") }

// isSiteAddress reports whether words that name no local app are unambiguously the address of a
// web site: they have a scheme, or name this computer, so that no other computer learns of the
// request. A bare host does not count, because app ids look like host names. A request for an app
// that is not installed must not be sent to a stranger's site.
func isSiteAddress(words string, h netguard.Host) bool {
	return strings.Contains(words, "://") || h.IsLoopback()
}

func badAddress(address, why string) *aai.Error {
	e := aai.Errorf(aai.InvalidParams, "url: %q is no address of a web app: %s", aai.CleanLabel(address, 200), why)
	e.Hint = "Give the site's address, such as https://example.com, or its domain."
	e.Delivery = aai.NotDelivered
	return e
}
