package oauth

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// server is the stored data about an authorization server for one realm. With it a call finds its
// token without a request.
type server struct {
	Host      string // of the realm
	Issuer    string // from metadata; empty if it has none
	Authorize string // authorization endpoint
	Token     string // token endpoint
	Device    string // device authorization endpoint, or empty
	Revoke    string // revocation endpoint, or empty
	Push      string // pushed authorization request endpoint, or empty
	Register  string // registration endpoint, or empty

	SaysIssuer bool // its answers name the issuer (RFC 9207)
	MustPush   bool // RFC 9126
	Proofs     bool // supports DPoP proofs by ES256
	Documents  bool // reads client metadata documents
	NoPKCE     bool // its metadata does not promise S256

	Resource string   // resource name of the API (RFC 9728); empty: the origin of base_url
	Looked   bool     // the API's metadata was read
	Scopes   []string // that the API requested, beyond the descriptor's

	StepUps   int // step-ups in a row
	SteppedAt time.Time
	Replaces  string // id of the token with too few scopes

	Client   identity
	Chosen   identity // set by the user for this realm
	Callback string   // redirect path, if the server has no issuer
	Fetched  time.Time
}

// metadata is an authorization server's metadata (RFC 8414, section 2).
type metadata struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	DeviceEndpoint        string   `json:"device_authorization_endpoint"`
	RevocationEndpoint    string   `json:"revocation_endpoint"`
	PushEndpoint          string   `json:"pushed_authorization_request_endpoint"`
	RegistrationEndpoint  string   `json:"registration_endpoint"`
	ChallengeMethods      []string `json:"code_challenge_methods_supported"`
	ProofAlgs             []string `json:"dpop_signing_alg_values_supported"`
	SaysIssuer            bool     `json:"authorization_response_iss_parameter_supported"`
	MustPush              bool     `json:"require_pushed_authorization_requests"`
	Documents             bool     `json:"client_id_metadata_document_supported"`
}

func (p *realm) serverID() string {
	return serverPrefix + digest("server|v1", p.origin, p.place(), p.auth.AuthorizationEndpoint, p.auth.TokenEndpoint)
}

// storedServer returns the stored data of the realm's authorization server, or nil.
func (l *Authorizer) storedServer(ctx context.Context, p *realm) (*server, error) {
	var s server
	found, err := l.read(ctx, p.serverID(), &s)
	if err != nil || !found {
		return nil, err
	}
	return &s, nil
}

// discover fetches the authorization server's metadata and keeps the settings of the user and of
// the API. The caller stores the result.
func (l *Authorizer) discover(ctx context.Context, p *realm) (*server, error) {
	old, err := l.storedServer(ctx, p)
	if err != nil {
		return nil, err
	}
	if old == nil {
		old = &server{}
	}
	if old.Issuer == "" && p.isMCP() {
		if old, err = l.knownServer(ctx, p, old); err != nil {
			return nil, err
		}
	}
	issuer := old.Issuer
	if issuer == "" {
		if issuer, err = originOf(p.auth.AuthorizationEndpoint); err != nil {
			return nil, aai.Errorf(aai.AuthInvalid, "auth.oauth2.authorization_endpoint %w", err)
		}
	}
	m, err := l.metadataOf(ctx, issuer)
	if err != nil {
		return nil, err
	}
	s, err := l.serverFrom(ctx, p, m)
	if err != nil {
		return nil, err
	}
	s.Resource, s.Looked, s.Scopes = old.Resource, old.Looked, old.Scopes
	s.StepUps, s.SteppedAt, s.Replaces = old.StepUps, old.SteppedAt, old.Replaces
	s.Chosen, s.Callback, s.Host, s.Fetched = old.Chosen, old.Callback, p.host(), l.now()
	return s, nil
}

// wellKnown returns the addresses of an issuer's metadata, in the order of MCP: RFC 8414 with the
// path inserted, OpenID Connect Discovery likewise, and with it appended.
func wellKnown(issuer string) []string {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	origin := netguard.Origin(u)
	list := []string{
		origin + "/.well-known/oauth-authorization-server" + path,
		origin + "/.well-known/openid-configuration" + path,
	}
	if path != "" {
		list = append(list, origin+path+"/.well-known/openid-configuration")
	}
	return list
}

// metadataOf reads the metadata of an issuer, or returns nil if it has none. An unreachable server
// is an error.
func (l *Authorizer) metadataOf(ctx context.Context, issuer string) (*metadata, error) {
	for _, address := range wellKnown(issuer) {
		var m metadata
		found, err := l.getJSON(ctx, address, &m)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		if m.Issuer != issuer {
			return nil, aai.Errorf(aai.AuthInvalid, "the metadata at %s is of the issuer %q; expected %q",
				aai.CleanLabel(address, 200), aai.CleanLabel(m.Issuer, 200), aai.CleanLabel(issuer, 200))
		}
		return &m, nil
	}
	return nil, nil
}

// serverFrom returns the server of the descriptor and of its metadata, which may be nil. It returns
// an error if the two contradict each other, or if PKCE is not supported.
func (l *Authorizer) serverFrom(ctx context.Context, p *realm, m *metadata) (*server, error) {
	a := p.auth
	s := &server{Authorize: a.AuthorizationEndpoint, Token: a.TokenEndpoint, Device: a.DeviceEndpoint,
		Revoke: a.RevocationEndpoint}
	if p.discoversServer() {
		if m == nil {
			return nil, p.noLoginMetadata()
		}
		s.Authorize, s.Token = m.AuthorizationEndpoint, m.TokenEndpoint
	} else if m == nil {
		if a.PKCE != "S256" {
			return nil, pkceMissing(p, `its descriptor does not declare "pkce": {"method": "S256"}, and it has no metadata`)
		}
		return s, nil
	}
	for _, pair := range []struct{ field, descriptor, metadata string }{
		{"authorization_endpoint", a.AuthorizationEndpoint, m.AuthorizationEndpoint},
		{"token_endpoint", a.TokenEndpoint, m.TokenEndpoint},
	} {
		if p.discoversServer() {
			if err := l.ownEndpoint(m.Issuer, pair.field, pair.metadata); err != nil {
				return nil, err
			}
			continue
		}
		if pair.descriptor != pair.metadata {
			return nil, aai.Errorf(aai.AuthInvalid, "auth.oauth2.%s is %q; the authorization server's own metadata says %q",
				pair.field, aai.CleanLabel(pair.descriptor, 200), aai.CleanLabel(pair.metadata, 200))
		}
	}
	s.Issuer, s.SaysIssuer, s.MustPush, s.Documents = m.Issuer, m.SaysIssuer, m.MustPush, m.Documents
	s.Proofs = slices.Contains(m.ProofAlgs, "ES256")
	if !slices.Contains(m.ChallengeMethods, "S256") {
		return nil, pkceMissing(p, "its metadata does not list S256 in code_challenge_methods_supported")
	}
	for _, more := range []struct {
		put     *string
		address string
	}{{&s.Device, m.DeviceEndpoint}, {&s.Revoke, m.RevocationEndpoint}, {&s.Push, m.PushEndpoint},
		{&s.Register, m.RegistrationEndpoint}} {
		if more.address != "" && l.isServerEndpoint(ctx, p, m.Issuer, more.address) {
			*more.put = more.address
		}
	}
	return s, nil
}

// isServerEndpoint reports whether an endpoint from metadata alone is allowed: it belongs to the
// server's site, or the user trusts its host.
func (l *Authorizer) isServerEndpoint(ctx context.Context, p *realm, issuer, endpoint string) bool {
	if l.secure("an endpoint", endpoint) != nil {
		return false
	}
	return netguard.SameSite(hostname(issuer), hostname(endpoint)) || l.trusted(ctx, p, hostOf(endpoint))
}

func pkceMissing(p *realm, why string) error {
	e := aai.Errorf(aai.AuthInvalid, "logins to %s would not be protected by PKCE: %s", p.name(), why)
	e.Hint = "The app's author has to support PKCE with S256 (RFC 7636), which OAuth 2.1 requires, and declare it."
	return e
}

// updateServer edits the stored data of the realm's server.
func (l *Authorizer) updateServer(ctx context.Context, p *realm, edit func(*server)) error {
	return l.update(ctx, p.serverID(), func(old []byte) ([]byte, error) {
		s := &server{Host: p.host()}
		if old != nil && !decodeRecord(old, s) {
			s = &server{Host: p.host()}
		}
		edit(s)
		return json.Marshal(s)
	})
}

// scopes returns the requested scopes: the descriptor's and those that the API requested later.
func (p *realm) scopes(s *server) []string {
	set := make(map[string]bool)
	for _, scope := range p.auth.Scopes {
		set[scope] = true
	}
	if s != nil {
		for _, scope := range s.Scopes {
			set[scope] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// resource returns the API's resource name for the authorization server (RFC 8707).
func (p *realm) resource(s *server) string {
	if s.Resource != "" {
		return s.Resource
	}
	return p.place()
}

// tokenID returns the id of the token. It depends on the descriptor's origin, the issuer, the
// API's address, the client and the scopes.
func (p *realm) tokenID(s *server, client string) string {
	parts := []string{"token|v1", p.origin}
	if s.Issuer != "" {
		parts = append(parts, "issuer", s.Issuer)
	} else {
		parts = append(parts, "endpoints", s.Authorize, s.Token)
	}
	return tokenPrefix + digest(append(append(parts, p.place(), client), p.scopes(s)...)...)
}
