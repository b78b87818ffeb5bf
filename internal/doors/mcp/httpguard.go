package mcp

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// A guard looks at where a request comes from before anything else: a page in
// the person's browser must not get at this server, neither by a name that it
// lets point here (DNS rebinding) nor across origins.
type guard struct {
	bind    string
	local   bool     // only this computer can reach the server
	hosts   []string // besides those of this computer
	origins []string // in lower case
}

func newGuard(cfg HTTPConfig) guard {
	g := guard{bind: strings.ToLower(cfg.Bind), local: isLoopback(cfg.Bind)}
	for _, host := range cfg.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(host))
	}
	for _, origin := range cfg.Origins {
		g.origins = append(g.origins, strings.ToLower(strings.TrimSuffix(origin, "/")))
	}
	return g
}

// admit refuses what comes by a wrong name or from a strange page. It answers
// what browsers ask beforehand. It reports whether the request goes on.
func (g guard) admit(w http.ResponseWriter, r *http.Request) bool {
	if !g.isHost(hostname(r.Host)) {
		refuse(w, http.StatusForbidden, codeInvalidRequest, "this server is not called by the name in the header Host")
		return false
	}
	origin := strings.ToLower(r.Header.Get("Origin"))
	if origin == "" {
		return true
	}
	if !g.isOrigin(origin, r.Host) {
		refuse(w, http.StatusForbidden, codeInvalidRequest, "pages of the header Origin may not use this server")
		return false
	}
	if !slices.Contains(g.origins, origin) {
		return true
	}
	w.Header().Add("Vary", "Origin")
	w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
	w.Header().Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate")
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		w.Header().Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
		w.Header().Set("Access-Control-Allow-Headers",
			"Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name")
		w.Header().Set("Access-Control-Max-Age", "600")
		w.WriteHeader(http.StatusNoContent)
		return false
	}
	return true
}

// isHost reports whether the server may be called so.
func (g guard) isHost(host string) bool {
	switch {
	case isLoopback(host), slices.Contains(g.hosts, host):
		return true
	case g.local:
		return false
	case host == g.bind:
		return true
	}
	// A page can make a name point here, but not an address.
	bound, err := netip.ParseAddr(g.bind)
	if err != nil || !bound.IsUnspecified() {
		return false
	}
	_, err = netip.ParseAddr(host)
	return err == nil
}

// isOrigin reports whether the page is one of this computer, of this server, or
// allowed.
func (g guard) isOrigin(origin, host string) bool {
	if slices.Contains(g.origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return false
	}
	return isLoopback(u.Hostname()) && g.local || u.Host == strings.ToLower(host)
}

// hostname is the host of a header Host, without the port, in lower case.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// isLoopback reports whether the name or address is of this computer alone.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}
