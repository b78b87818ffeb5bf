package oauth

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// realm identifies the app and the API of one login.
type realm struct {
	recipe *aai.Recipe
	auth   *aai.AuthRecipe
	origin string // of the descriptor; empty: this computer
	base   string // origin of calls, and destination of tokens
	// beside is the origin of a tool at another host of the same site; empty: none. Its calls carry the
	// login of base.
	beside string
}

// realmOf reads the recipe and checks its addresses: https, and hosts of one site unless the user
// trusts others. It returns nil if the app needs no login.
func (l *Authorizer) realmOf(ctx context.Context, r *aai.Recipe) (*realm, error) {
	p, err := newRealm(r)
	if err != nil || p == nil {
		return nil, err
	}
	for _, field := range p.addresses() {
		if field.address == "" {
			continue
		}
		if err := l.secure(field.name, field.address); err != nil {
			return nil, err
		}
	}
	if p.origin == "" {
		return p, nil // the user installed the descriptor
	}
	for _, host := range p.foreignHosts() {
		if !l.trusted(ctx, p, host) {
			return nil, p.untrusted(host)
		}
	}
	return p, nil
}

func newRealm(r *aai.Recipe) (*realm, error) {
	if r == nil || r.HTTP == nil || r.HTTP.Auth == nil {
		return nil, nil
	}
	p := &realm{recipe: r, auth: r.HTTP.Auth}
	var err error
	if p.base, err = originOf(r.HTTP.BaseURL); err != nil {
		return nil, aai.Errorf(aai.AuthInvalid, "base_url of %s: %w", aai.CleanLabel(r.App, 60), err)
	}
	if r.HTTP.Server != "" {
		at, err := originOf(r.HTTP.Server)
		switch {
		case err != nil:
			return nil, aai.Errorf(aai.AuthInvalid, "base_url of a tool of %s: %w", aai.CleanLabel(r.App, 60), err)
		case netguard.SharesLogin(p.base, at):
			p.beside = at
		default:
			p.base = at // another site gets a login of its own
		}
	}
	if r.HTTP.Origin != "" {
		if p.origin, err = originOf(r.HTTP.Origin); err != nil {
			return nil, aai.Errorf(aai.AuthInvalid, "the origin of %s: %w", aai.CleanLabel(r.App, 60), err)
		}
	}
	return p, nil
}

type address struct{ name, address string }

// addresses returns the addresses of the realm's requests, by the descriptor's field.
func (p *realm) addresses() []address {
	list := []address{{"base_url", p.recipe.HTTP.BaseURL}, {"base_url", p.recipe.HTTP.Server}}
	switch p.auth.Kind {
	case aai.AuthOAuth2:
		list = append(list,
			address{"auth.oauth2.authorization_endpoint", p.auth.AuthorizationEndpoint},
			address{"auth.oauth2.token_endpoint", p.auth.TokenEndpoint},
			address{"auth.oauth2.device_authorization_endpoint", p.auth.DeviceEndpoint},
			address{"auth.oauth2.revocation_endpoint", p.auth.RevocationEndpoint})
	case aai.AuthAppCredential:
		list = append(list, address{"auth.appCredential.token_endpoint", p.auth.TokenEndpoint})
	}
	return list
}

// host returns the display name of the realm: the host of the site, or of the API for a local
// descriptor.
func (p *realm) host() string {
	if p.origin != "" {
		return hostOf(p.origin)
	}
	return hostOf(p.base)
}

// discoversServer reports whether the app's server names its authorization server, as servers of
// the Model Context Protocol do.
func (p *realm) discoversServer() bool {
	return p.auth.Kind == aai.AuthOAuth2 && p.auth.AuthorizationEndpoint == "" && p.auth.TokenEndpoint == ""
}

// isMCP reports whether the app is a server of the Model Context Protocol.
func (p *realm) isMCP() bool { return p.recipe.Kind == "mcp" }

// place returns the resource that tokens are for: the origin, or the full address of an MCP
// server, because one origin may have several.
func (p *realm) place() string {
	if p.isMCP() {
		return p.recipe.HTTP.BaseURL
	}
	return p.base
}

func (p *realm) name() string { return p.host() }

// commandName returns the app's command-line name.
func (p *realm) commandName() string {
	if p.origin == "" && p.recipe.App != "" {
		return p.recipe.App
	}
	return p.host()
}

func (p *realm) command() string {
	if p.auth.Login != "" {
		return "aai-gateway auth login " + p.commandName() + " --login " + p.auth.Login
	}
	return "aai-gateway auth login " + p.commandName()
}

// foreignHosts returns the sorted hosts outside the descriptor's site, or outside the API's site
// for a local descriptor.
func (p *realm) foreignHosts() []string {
	home := hostname(p.origin)
	if home == "" {
		home = hostname(p.base)
	}
	var hosts []string
	for _, field := range p.addresses() {
		if field.address == "" || netguard.SameSite(home, hostname(field.address)) {
			continue
		}
		if host := hostOf(field.address); !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	return hosts
}

// ForeignHosts returns the hosts of other sites that the app's calls and logins use, in lower
// case, with a port that is not 443, sorted. A consent names them.
func ForeignHosts(r *aai.Recipe) []string {
	p, err := newRealm(r)
	if err != nil || p == nil {
		return nil
	}
	return p.foreignHosts()
}

// ForeignHosts is [ForeignHosts] as a method.
func (l *Authorizer) ForeignHosts(r *aai.Recipe) []string { return ForeignHosts(r) }

// Host returns the host under which Status and Logout find the app's login, or "" if the app needs none.
func Host(r *aai.Recipe) string {
	p, err := newRealm(r)
	if err != nil || p == nil {
		return ""
	}
	return p.host()
}

func (p *realm) untrusted(host string) *aai.Error {
	e := aai.Errorf(aai.AuthInvalid, "the descriptor of %s sends logins to %s, which is another site; expected hosts of %s", p.name(), host, p.name())
	e.Hint = fmt.Sprintf("If the person trusts %s with the login to %s, they can allow it at a terminal: %s --trust %s",
		host, p.name(), p.command(), host)
	return e
}

// trusted reports whether the user trusts the host of another site.
func (l *Authorizer) trusted(ctx context.Context, p *realm, host string) bool {
	if slices.Contains(l.cfg.Sites[p.host()].Hosts, host) {
		return true
	}
	kept, err := l.get(ctx, p.trustID(host))
	return err == nil && kept != nil
}

func (p *realm) trustID(host string) string {
	return "login/trust/" + digest("trust|v1", p.origin, p.base, host)
}

// TrustHost stores the user's trust in the host of another site for the app's logins and calls.
// The host must be one of ForeignHosts.
func (l *Authorizer) TrustHost(ctx context.Context, r *aai.Recipe, host string) error {
	p, err := newRealm(r)
	if err != nil || p == nil {
		return err
	}
	if foreign := p.foreignHosts(); !slices.Contains(foreign, host) {
		e := aai.Errorf(aai.InvalidParams, "the logins of %s do not go to %q", p.name(), aai.CleanLabel(host, 100))
		e.Candidates = foreign
		return e
	}
	return l.put(ctx, p.trustID(host), map[string]string{"host": p.host(), "trusts": host})
}

// checkDestination rejects a request that would send a secret to a different origin than the user
// approved.
func (p *realm) checkDestination(u *url.URL) error {
	to, err := originOf(u.Scheme + "://" + u.Host)
	if err != nil || to != p.base && to != p.beside || u.User != nil {
		return aai.Errorf(aai.AuthInvalid, "the request goes to %s; the login to %s is sent only to %s",
			aai.CleanLabel(u.Host, 100), p.name(), p.base)
	}
	return nil
}

// secure rejects an address that is neither https nor, if allowed, http to this computer.
func (l *Authorizer) secure(field, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Opaque != "" {
		return aai.Errorf(aai.AuthInvalid, "%s is %q; expected an https URL", field, aai.CleanLabel(address, 200))
	}
	if u.Scheme == "https" || u.Scheme == "http" && l.cfg.AllowLoopbackHTTP && netguard.IsLoopback(u.Hostname()) {
		return nil
	}
	e := aai.Errorf(aai.AuthInvalid, "%s is %q; expected an https URL", field, aai.CleanLabel(address, 200))
	if netguard.IsLoopback(u.Hostname()) {
		e.Hint = "http is allowed to this computer itself with --dev."
	}
	return e
}

// originOf returns the origin of an https or http address.
func originOf(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", fmt.Errorf("is %q; expected an https URL", aai.CleanLabel(address, 200))
	}
	return netguard.Origin(u), nil
}

// hostOf returns the host of an address, with a port that is not the scheme's default.
func hostOf(address string) string {
	origin, err := originOf(address)
	if err != nil {
		return ""
	}
	_, host, _ := strings.Cut(origin, "://")
	return host
}

// hostname returns the host of an address without the port.
func hostname(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
