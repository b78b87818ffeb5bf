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

// learnServer finds out how people log in to a server that turned away a request of nobody,
// and keeps it: by the metadata that its challenge names or that lies where it should, with
// the scopes that the challenge asks for, or else all that there are.
func (l *Authorizer) learnServer(ctx context.Context, p *realm, resp *http.Response, why map[string]string) (again bool, err error) {
	if resp.StatusCode != http.StatusUnauthorized {
		return false, nil
	}
	err = l.lookUp(ctx, p, resp.Request.URL, why["resource_metadata"], strings.Fields(why["scope"]))
	return err == nil, err
}

// knownServer is what is known of the server once it was looked for without a challenge. Of
// one whose descriptor says how people log in it is what it calls itself.
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

// lookUp asks the places where a server says how people log in to it, the told one alone if
// there is one. One without metadata may be its own authorization server, as the protocol
// had it first.
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

// ownEndpoint refuses an address of a login that only metadata names, where it is of another
// site than its issuer: what is typed for one server must not be sent to another (RFC 9700,
// section 4.4).
func (l *Authorizer) ownEndpoint(issuer, field, address string) error {
	if err := l.secure(field, address); err != nil {
		return err
	}
	if !netguard.SameSite(hostname(issuer), hostname(address)) {
		e := aai.Errorf(aai.AuthInvalid, "the metadata of %s has its %s at %s, which is another site", hostOf(issuer), field, hostOf(address))
		e.Hint = "If the person trusts it, they can write both endpoints into the descriptor's auth."
		return e
	}
	return nil
}

// noLoginMetadata is the error of a server that wants people to log in and does not say how.
func (p *realm) noLoginMetadata() *aai.Error {
	e := aai.Errorf(aai.AuthRequired, "%s asks who is calling, and says nowhere how people log in to it", p.name())
	e.Hint = "Ask the person to look how its makers give access, and to write that into the descriptor's auth, such as a bearer token."
	return e
}
