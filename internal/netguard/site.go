// Package site says which hosts are of one owner or this computer's own, and how an origin is written. Where
// calls, logins and redirects may go is decided by it in three rooms, and two answers
// to that question would be a hole, so it is asked here and nowhere else. It imports the public suffix list,
// touches nothing, and knows nothing of apps.
package netguard

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// SameSite reports whether two hosts are of one site: they are the same, or have the
// same registrable domain by the public suffix list, such as "example.co.uk" for
// "api.example.co.uk". An IP address, a single name and a public suffix are sites of
// their own, and no host is of none. Hosts come without a port, in lower case and in
// ASCII. Safe for concurrent use.
func SameSite(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	return a == b || RegistrableDomain(a) != "" && RegistrableDomain(a) == RegistrableDomain(b)
}

// Origin is a URL's scheme, host and port as browsers write an origin: in lower case and
// without the port that goes without saying (RFC 6454, section 4).
func Origin(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	switch {
	case port != "" && port != map[string]string{"https": "443", "http": "80"}[u.Scheme]:
		host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return u.Scheme + "://" + host
}

// RegistrableDomain is the registrable domain of a host, such as "example.co.uk" for
// "api.example.co.uk", or "" for one that has none. Safe for concurrent use.
func RegistrableDomain(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	d, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return ""
	}
	return d
}
