package netguard

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// SameSite reports whether two hosts belong to one site: they are equal, or have the same
// registrable domain by the public suffix list, such as "example.co.uk" for "api.example.co.uk".
// IP addresses, single-label names and public suffixes only match themselves; the empty host
// matches none. Hosts are given without a port, in lower case ASCII. It is safe for concurrent
// use.
func SameSite(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	return a == b || RegistrableDomain(a) != "" && RegistrableDomain(a) == RegistrableDomain(b)
}

// SharesLogin reports whether a login for one address may be sent to the other one: their hosts belong
// to one site. The servers of an IP address or of a single-label name, such as localhost, may have
// several owners, so their addresses must have the same origin.
func SharesLogin(a, b string) bool {
	first, err := url.Parse(a)
	if err != nil {
		return false
	}
	second, err := url.Parse(b)
	if err != nil {
		return false
	}
	host := strings.ToLower(first.Hostname())
	return SameSite(host, strings.ToLower(second.Hostname())) && (RegistrableDomain(host) != "" || Origin(first) == Origin(second))
}

// Origin returns the origin of a URL as browsers write it: scheme, host and port in lower case,
// without the default port (RFC 6454, section 4).
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

// RegistrableDomain returns the registrable domain of a host, such as "example.co.uk" for
// "api.example.co.uk", or "". It is safe for concurrent use.
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
