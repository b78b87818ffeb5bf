package oauth

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// learnServer discovers the authorization server after a 401 to a request without a token, and
// stores it. It uses the metadata at the challenge's address or at the well-known one, and the
// challenge's scopes or all supported ones.
func (l *Authorizer) learnServer(ctx context.Context, p *realm, resp *http.Response,
	why map[string]string) (again bool, err error) {
	if resp.StatusCode != http.StatusUnauthorized {
		return false, nil
	}
	err = l.lookUp(ctx, p, resp.Request.URL, why["resource_metadata"], strings.Fields(why["scope"]))
	return err == nil, err
}

// knownServer discovers the authorization server without a challenge. If the descriptor names the
// endpoints, it reads only the resource name from the metadata.
func (l *Authorizer) knownServer(ctx context.Context, p *realm, s *server) (*server, error) {
	u, err := url.Parse(p.recipe.HTTP.BaseURL)
	if err != nil {
		return nil, p.noLoginMetadata()
	}
	if !p.discoversServer() {
		m, err := l.resourceAt(ctx, p, "")
		if err == nil && m != nil && s.Resource == "" && speaksFor(m.Resource, u) {
			s.Resource = m.Resource
		}
		return s, err
	}
	if err := l.lookUp(ctx, p, u, "", nil); err != nil {
		return nil, err
	}
	if s, err = l.storedServer(ctx, p); err == nil && s == nil {
		err = p.noLoginMetadata()
	}
	return s, err
}

// lookUp reads and stores the login metadata of the app's server; if told is not empty, only from
// that address. A server without metadata may be its own authorization server, as in the first
// version of the protocol.
func (l *Authorizer) lookUp(ctx context.Context, p *realm, request *url.URL, told string, scopes []string) error {
	s, err := l.storedServer(ctx, p)
	if err != nil {
		return err
	}
	if s == nil {
		s = &server{}
	}
	m, err := l.resourceAt(ctx, p, told)
	if err != nil {
		return err
	}
	if m == nil {
		m = &resourceMetadata{Resource: p.recipe.HTTP.BaseURL}
	}
	if len(m.Servers) == 0 {
		m.Servers = []string{p.base}
		if about, err := l.metadataOf(ctx, p.base); err != nil || about == nil {
			return p.noLoginMetadata()
		}
	}
	if len(scopes) > 0 {
		m.Scopes = scopes
	}
	m.Scopes = slices.DeleteFunc(m.Scopes, func(scope string) bool { return !visible(scope) || len(scope) > 200 })
	m.Scopes = m.Scopes[:min(len(m.Scopes), 50)]
	_, err = l.applyResource(ctx, p, s, request, *m)
	return err
}

// ownEndpoint rejects a login address that only metadata names if its site differs from the
// issuer's. Credentials for one server must not go to another (RFC 9700, section 4.4).
func (l *Authorizer) ownEndpoint(issuer, field, address string) error {
	if err := l.secure(field, address); err != nil {
		return err
	}
	if !netguard.SameSite(hostname(issuer), hostname(address)) {
		e := aai.Errorf(aai.AuthInvalid, "the metadata of %s has its %s at %s, which is another site", hostOf(issuer),
			field, hostOf(address))
		e.Hint = "If the person trusts it, they can write both endpoints into the descriptor's auth."
		return e
	}
	return nil
}

// noLoginMetadata returns the error for a server that requires a login and publishes no metadata for it.
func (p *realm) noLoginMetadata() *aai.Error {
	e := aai.Errorf(aai.AuthRequired, "%s requires a login, and does not publish how people log in", p.name())
	e.Hint = "Ask the person to find out how its makers give access, and to write that into the descriptor's auth, such " +
		"as a bearer token."
	return e
}
