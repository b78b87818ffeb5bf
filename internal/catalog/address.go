package catalog

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// maxURL is how long an address in a descriptor may be, in bytes.
const maxURL = 2048

// secureURL reports whether a URL is https, or http to this computer itself, to a
// host that is written in ASCII, so that what a person reads is what is reached.
func secureURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || len(s) > maxURL || !plainHost(u.Host) || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return false
	}
	if u.Scheme == "http" {
		return netguard.IsLoopback(u.Hostname())
	}
	return u.Scheme == "https"
}

// secureEndpoint is secureURL for an address that may have a query.
func secureEndpoint(s string) bool {
	address, _, _ := strings.Cut(s, "?")
	return len(s) <= maxURL && secureURL(address) && !strings.Contains(s, "#")
}

// plainHost reports whether a host, with or without a port, is a name of ASCII
// letters, digits, "-" and "_", or an address.
func plainHost(host string) bool {
	u := url.URL{Host: host}
	name := u.Hostname()
	if strings.HasPrefix(host, "[") {
		_, err := netip.ParseAddr(name)
		return err == nil
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for i := range len(label) {
			if c := label[i]; c != '-' && c != '_' && !letter(c) && !digit(c) {
				return false
			}
		}
	}
	return len(name) <= 253
}

// reachable faults an address on this computer in a descriptor that came from
// another one: a site must not send its calls to what listens here.
func (p *parser) reachable(path, address string) {
	if p.o.Origin != "" && netguard.CrossesToLoopback(hostname(p.o.Origin), hostname(address)) {
		p.fault(path, "is %q, on this computer; a descriptor from the web may not go there", aai.CleanLabel(address, 2*maxName))
	}
}

// hostname is the host of an address without the port, in lower case.
func hostname(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// hosts lists where calls and logins of a web app go, beyond the site the
// descriptor came from.
func (p *parser) hosts(s *section) []string {
	addresses := []string{s.BaseURL, s.URL}
	if a := s.Auth; a != nil {
		addresses = append(addresses, a.AuthorizationEndpoint, a.TokenEndpoint, a.DeviceEndpoint, a.RevocationEndpoint, a.LoginURL, a.ObtainURL)
	}
	home := hostname(p.o.Origin)
	var hosts []string
	for _, address := range addresses {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || netguard.SameSite(home, hostname(address)) {
			continue
		}
		host := strings.TrimSuffix(strings.ToLower(u.Host), ":443")
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	return hosts
}

// SameSite reports whether two hosts, with or without ports, are of one site: of
// the same registrable domain by the public suffix list.
func SameSite(a, b string) bool {
	return netguard.SameSite(hostname("https://"+a), hostname("https://"+b))
}
