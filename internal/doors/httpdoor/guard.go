package httpdoor

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/netguard"
)

// A guard checks the origin of a request before anything else. Foreign pages in the person's
// browser must not reach this server by a name that resolves to it (DNS rebinding) or across
// origins.
type guard struct {
	bind    string
	local   bool     // only this computer can reach the server
	hosts   []string // besides those of this computer
	origins []string // in lower case
	cors    CORSPolicy
}

func newGuard(cfg Config, pages CORSPolicy) guard {
	g := guard{bind: strings.ToLower(cfg.Bind), local: netguard.IsLoopback(cfg.Bind), cors: pages}
	for _, host := range cfg.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(host))
	}
	for _, origin := range cfg.Origins {
		g.origins = append(g.origins, strings.ToLower(strings.TrimSuffix(origin, "/")))
	}
	return g
}

// check returns the refusal for a request with a wrong Host or from a foreign page. Nil
// means that the request is accepted.
func (g guard) check(r *http.Request) *Refusal {
	if !g.isHost(hostname(r.Host)) {
		return &Refusal{Status: http.StatusForbidden, Message: "the name in the header Host is not of this server"}
	}
	if origin := originOf(r); origin != "" && !g.isOrigin(origin, r.Host) {
		return &Refusal{Status: http.StatusForbidden, Message: "pages of the header Origin may not use this server"}
	}
	return nil
}

// writeCORSHeaders writes the CORS headers for pages of an allowed origin. It reports
// whether the request was a preflight, which is then answered.
func (g guard) writeCORSHeaders(w http.ResponseWriter, r *http.Request) bool {
	if origin := originOf(r); origin == "" || !slices.Contains(g.origins, origin) {
		return false
	}
	w.Header().Add("Vary", "Origin")
	w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
	w.Header().Set("Access-Control-Expose-Headers", g.cors.ExposeHeaders)
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		w.Header().Set("Access-Control-Allow-Methods", g.cors.Methods)
		w.Header().Set("Access-Control-Allow-Headers", g.cors.AllowHeaders)
		w.Header().Set("Access-Control-Max-Age", "600")
		w.WriteHeader(http.StatusNoContent)
		return true
	}
	return false
}

func originOf(r *http.Request) string { return strings.ToLower(r.Header.Get("Origin")) }

// isHost reports whether host is a name of this server.
func (g guard) isHost(host string) bool {
	switch {
	case netguard.IsLoopback(host), slices.Contains(g.hosts, host):
		return true
	case g.local:
		return false
	case host == g.bind:
		return true
	}
	// A page can make a name resolve to this server, but not an address.
	bound, err := netip.ParseAddr(g.bind)
	if err != nil || !bound.IsUnspecified() {
		return false
	}
	_, err = netip.ParseAddr(host)
	return err == nil
}

// isOrigin reports whether the page is from this computer, from this server, or allowed.
func (g guard) isOrigin(origin, host string) bool {
	if slices.Contains(g.origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return false
	}
	return netguard.IsLoopback(u.Hostname()) && g.local || u.Host == strings.ToLower(host)
}

// hostname returns the host of a header Host, without the port, in lower case.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
