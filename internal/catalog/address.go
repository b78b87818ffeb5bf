package catalog

import (
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// maxURL limits a URL in a descriptor, in bytes.
const maxURL = 2048

// secureURL reports whether s is an https URL, or an http URL of this computer, without user, query and fragment. The
// host must be ASCII, so that people can recognize it.
func secureURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || len(s) > maxURL || !plainHost(u.Host) || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		u.Opaque != "" {
		return false
	}
	if u.Scheme == "http" {
		return netguard.IsLoopback(u.Hostname())
	}
	return u.Scheme == "https"
}

// secureEndpoint is secureURL for a URL that may have a query.
func secureEndpoint(s string) bool {
	address, _, _ := strings.Cut(s, "?")
	return len(s) <= maxURL && secureURL(address) && !strings.Contains(s, "#")
}

// plainHost reports whether a host, with or without a port, is an IP address or a name of ASCII
// letters, digits, "-" and "_".
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

// reachable reports a fault if a descriptor from the web has an address on this computer: a site
// must not direct calls to local services.
func (p *parser) reachable(path, address string) {
	if p.o.Origin != "" && netguard.CrossesToLoopback(hostname(p.o.Origin), hostname(address)) {
		p.fault(path, "is %q, on this computer; a descriptor from the web may not go there",
			aai.CleanLabel(address, 2*maxName))
	}
}

// hostname returns the host of a URL without the port, in lower case.
func hostname(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// hosts lists the hosts of a web app's calls and logins that belong to another site than the descriptor's origin.
func (p *parser) hosts(s *section) []string {
	addresses := []string{s.BaseURL, s.URL}
	for _, tool := range s.Tools {
		if tool.Recipe.HTTP != nil {
			addresses = append(addresses, tool.Recipe.HTTP.Server)
		}
	}
	for _, a := range append(slices.Collect(maps.Values(s.Logins)), s.Auth) {
		if a == nil {
			continue
		}
		addresses = append(addresses, a.AuthorizationEndpoint, a.TokenEndpoint, a.DeviceEndpoint, a.RevocationEndpoint,
			a.LoginURL, a.ObtainURL)
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

// SameSite reports whether two hosts, with or without ports, are of one site: whether they have
// the same registrable domain by the public suffix list.
func SameSite(a, b string) bool {
	return netguard.SameSite(hostname("https://"+a), hostname("https://"+b))
}
