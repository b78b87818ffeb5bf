package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
)

// defaultClient is the client id of the AAI protocol (spec/security.md).
const defaultClient = "aai-gateway"

// Sources of an identity.
const (
	fromConfig     = "configured"
	fromDescriptor = "descriptor"
	fromDocument   = "document"
	fromServer     = "registered"
	fromProtocol   = "protocol"
)

// site merges the user's settings for the realm. Those for the issuer come first, then those for
// the realm's host, and last those for the authorization server's host.
func (l *Authorizer) site(p *realm, s *server) SiteSettings {
	keys := []string{p.host(), hostOf(p.auth.AuthorizationEndpoint)}
	if s != nil && s.Issuer != "" {
		keys = append([]string{s.Issuer}, keys...)
	}
	var site SiteSettings
	for _, key := range keys {
		found := l.cfg.Sites[key]
		if site.ClientID == "" {
			site.ClientID, site.SecretID = found.ClientID, found.SecretID
		}
		if site.RedirectHost == "" {
			site.RedirectHost = found.RedirectHost
		}
		if site.RedirectPort == 0 {
			site.RedirectPort = found.RedirectPort
		}
	}
	return site
}

// configuredIdentity returns an identity that needs no request: from the user's settings or from
// the descriptor.
func (l *Authorizer) configuredIdentity(p *realm, s *server) (identity, bool) {
	site := l.site(p, s)
	switch {
	case s != nil && s.Chosen.ID != "":
		return s.Chosen, true
	case site.ClientID != "":
		return identity{ID: site.ClientID, SecretID: site.SecretID, Source: fromConfig}, true
	case p.auth.ClientID != "":
		return identity{ID: p.auth.ClientID, Source: fromDescriptor}, true
	}
	return identity{}, false
}

// identify returns the gateway's client id at the server, from the first of: the user's settings,
// the descriptor, the gateway's own document, a registration, the protocol's constant.
func (l *Authorizer) identify(ctx context.Context, p *realm, s *server) (identity, error) {
	if who, ok := l.configuredIdentity(p, s); ok {
		return who, nil
	}
	if s.Documents && l.cfg.ClientDocumentURL != "" {
		if err := checkDocumentAddress(l.cfg.ClientDocumentURL); err != nil {
			return identity{}, err
		}
		return identity{ID: l.cfg.ClientDocumentURL, Source: fromDocument}, nil
	}
	if s.Register != "" {
		return l.registered(ctx, p, s)
	}
	return identity{ID: defaultClient, Source: fromProtocol}, nil
}

// redirects returns the redirect addresses to register. With an address without a port, servers
// accept any port (RFC 8252, section 7.3).
func (l *Authorizer) redirects(p *realm, s *server) []string {
	site := l.site(p, s)
	if site.RedirectHost == "" && site.RedirectPort == 0 {
		return []string{"http://127.0.0.1/callback", "http://[::1]/callback"}
	}
	host := site.RedirectHost
	if host == "" {
		host = "127.0.0.1"
	}
	host = strings.Trim(host, "[]")
	if site.RedirectPort != 0 {
		return []string{"http://" + net.JoinHostPort(host, strconv.Itoa(site.RedirectPort)) + "/callback"}
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return []string{"http://" + host + "/callback"}
}

// clientMetadata describes the gateway to a server (RFC 7591, section 2).
type clientMetadata struct {
	ClientID        string   `json:"client_id,omitempty"`
	ClientName      string   `json:"client_name"`
	RedirectURIs    []string `json:"redirect_uris"`
	GrantTypes      []string `json:"grant_types"`
	ResponseTypes   []string `json:"response_types"`
	AuthMethod      string   `json:"token_endpoint_auth_method"`
	ApplicationType string   `json:"application_type"`
}

func newClientMetadata(redirects []string, device bool) clientMetadata {
	grants := []string{"authorization_code", "refresh_token"}
	if device {
		grants = append(grants, deviceGrant)
	}
	return clientMetadata{
		ClientName: "AAI Gateway", RedirectURIs: redirects, GrantTypes: grants, ResponseTypes: []string{"code"},
		AuthMethod: "none", ApplicationType: "native",
	}
}

// ClientMetadataDocument returns the client metadata document to publish at the address, as JSON.
// Authorization servers that read such documents need no registration.
func ClientMetadataDocument(address string) ([]byte, error) {
	if err := checkDocumentAddress(address); err != nil {
		return nil, err
	}
	document := newClientMetadata([]string{"http://127.0.0.1/callback", "http://[::1]/callback"}, true)
	document.ClientID = address
	return json.MarshalIndent(document, "", "  ")
}

// checkDocumentAddress checks the rules for an address that is a client id (OAuth Client ID
// Metadata Document, section 3).
func checkDocumentAddress(address string) error {
	u, err := url.Parse(address)
	wrong := err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" ||
		strings.Contains(address, "#") ||
		u.Path == "" || u.Path == "/" || address != u.String()
	if !wrong {
		for segment := range strings.SplitSeq(u.Path, "/") {
			wrong = wrong || segment == "." || segment == ".."
		}
	}
	if wrong {
		return aai.Errorf(aai.AuthInvalid,
			"the address of the client metadata document is %q; expected an https URL with a path, without \".\", fragment "+
				"and user",
			aai.CleanLabel(address, 200))
	}
	return nil
}

// registration is the stored registration with an issuer.
type registration struct {
	Issuer   string
	ClientID string
}

func (l *Authorizer) clientKey(p *realm, s *server) string {
	return clientPrefix + digest(append([]string{"client|v1", s.Issuer}, l.redirects(p, s)...)...)
}

// registered returns the gateway's registration with the issuer. The first call that needs it
// registers, across all processes.
func (l *Authorizer) registered(ctx context.Context, p *realm, s *server) (identity, error) {
	var kept registration
	id := l.clientKey(p, s)
	if found, err := l.read(ctx, id, &kept); err != nil || found && kept.ClientID != "" {
		return identity{ID: kept.ClientID, Source: fromServer}, err
	}
	err := l.update(ctx, id, func(old []byte) ([]byte, error) {
		if old != nil && decodeRecord(old, &kept) && kept.ClientID != "" {
			return old, nil
		}
		client, err := l.register(ctx, s, newClientMetadata(l.redirects(p, s), s.Device != ""))
		if err != nil {
			return nil, err
		}
		kept = registration{Issuer: s.Issuer, ClientID: client}
		return json.Marshal(kept)
	})
	return identity{ID: kept.ClientID, Source: fromServer}, err
}

// register registers the gateway with an authorization server (RFC 7591).
func (l *Authorizer) register(ctx context.Context, s *server, about clientMetadata) (string, error) {
	body, err := json.Marshal(about)
	if err != nil {
		return "", err
	}
	a, err := l.send(ctx, s.Register, "application/json", string(body), nil)
	if err != nil {
		return "", err
	}
	if err := a.refusal(hostOf(s.Register), nil); err != nil {
		e := aai.Errorf(aai.AuthInvalid, "the gateway could not register with the authorization server: %w", err)
		e.Hint = "A client id that was given out by hand can be set in the configuration, or with --client-id of " +
			"aai-gateway auth login."
		return "", e
	}
	var client struct {
		ID     string `json:"client_id"`
		Method string `json:"token_endpoint_auth_method"`
	}
	if json.Unmarshal(a.body, &client) != nil || client.ID == "" || len(client.ID) > 1000 || !visible(client.ID) ||
		client.Method != "" && client.Method != "none" {
		return "",
			aai.Errorf(aai.AuthInvalid, "%s registered the gateway as another kind of client than the public one it asked for",
				hostOf(s.Register))
	}
	return client.ID, nil
}

// forget drops the gateway's registration if err says that the server no longer knows it.
func (l *Authorizer) forget(ctx context.Context, p *realm, s *server, err error) {
	refusal, ok := errors.AsType[*serverError](err)
	if ok && s.Client.Source == fromServer &&
		(refusal.Code == "invalid_client" || refusal.Code == "unauthorized_client") && refusal.Status != http.StatusNotFound {
		if err := l.drop(ctx, l.clientKey(p, s)); err != nil {
			l.log.Warn("a registration that is no longer valid could not be deleted", "issuer", s.Issuer)
		}
	}
}

// visible reports whether a text has only visible ASCII characters.
func visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
