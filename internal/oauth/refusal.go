package oauth

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

const (
	maxStepUps    = 3                // step-ups in a row that an API may request
	stepUpPeriod  = time.Hour        // after which they are not in a row
	freshNonceAge = 30 * time.Second // a younger refused nonce is not retried
)

// handleOAuthRefusal handles the refusal of a request with a token.
func (l *Authorizer) handleOAuthRefusal(ctx context.Context, p *realm, resp *http.Response) (bool, error) {
	why := tokenChallenge(parseChallenges(resp.Header.Values("WWW-Authenticate")))
	if p.discoversServer() && accessOf(resp.Request) == "" {
		return l.learnServer(ctx, p, resp, why)
	}
	if resp.StatusCode == http.StatusUnauthorized && why["error"] == "use_dpop_nonce" {
		return l.learnAPINonce(p, resp), nil
	}
	if why["error"] == "insufficient_scope" {
		return l.stepUp(ctx, p, strings.Fields(why["scope"]))
	}
	if resp.StatusCode != http.StatusUnauthorized {
		return false, nil
	}
	if learned, err := l.askResource(ctx, p, resp.Request.URL, why["resource_metadata"]); err != nil || learned {
		return learned, err
	}
	return l.renewRefused(ctx, p, accessOf(resp.Request))
}

// tokenChallenge returns the parameters of the challenge for tokens.
func tokenChallenge(list []challenge) map[string]string {
	for _, c := range list {
		if (c.scheme == "bearer" || c.scheme == "dpop") && (c.params["error"] != "" || c.params["resource_metadata"] != "") {
			return c.params
		}
	}
	for _, c := range list {
		if c.scheme == "bearer" || c.scheme == "dpop" {
			return c.params
		}
	}
	return nil
}

// accessOf returns the access token of a request.
func accessOf(req *http.Request) string {
	_, access, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	return access
}

// learnAPINonce stores the nonce that an API requires in proofs. If the refused proof already had
// a fresh nonce, the refusal is final.
func (l *Authorizer) learnAPINonce(_ *realm, resp *http.Response) bool {
	before := l.nonceFor(resp.Request.URL)
	sent := nonceOf(resp.Request.Header.Get("DPoP"))
	if !l.learnNonce(resp.Request.URL.String(), resp.Header) {
		return false
	}
	return sent == "" || sent != before.value || l.now().Sub(before.came) > freshNonceAge
}

// nonceOf returns the nonce in one of the gateway's proofs.
func nonceOf(proof string) string {
	signed, err := jose.ParseSignedCompact(proof, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return ""
	}
	var claims struct {
		Nonce string `json:"nonce"`
	}
	if json.Unmarshal(signed.UnsafePayloadWithoutVerification(), &claims) != nil {
		return ""
	}
	return claims.Nonce
}

// stepUp adds the scopes that the API requests to the stored ones, so that the next login covers
// all of them.
func (l *Authorizer) stepUp(ctx context.Context, p *realm, asked []string) (bool, error) {
	asked = slices.DeleteFunc(asked, func(scope string) bool { return !visible(scope) || len(scope) > 200 })
	id, err := l.tokenIDOf(ctx, p)
	if err != nil {
		return false, err
	}
	var t token
	if _, err := l.read(ctx, id, &t); err != nil {
		return false, err
	}
	missing := slices.DeleteFunc(slices.Clone(asked), func(scope string) bool { return slices.Contains(t.Scopes, scope) })
	if len(missing) == 0 || len(asked) > 50 {
		return false,
			p.deniedError("%s does not allow this to the person who is logged in, and names no scope that would", p.name())
	}
	again := true
	err = l.updateServer(ctx, p, func(s *server) {
		if l.now().Sub(s.SteppedAt) > stepUpPeriod {
			s.StepUps = 0
		}
		if again = s.StepUps < maxStepUps; !again {
			return
		}
		s.StepUps, s.SteppedAt, s.Replaces = s.StepUps+1, l.now(), id
		s.Scopes = mergeScopes(s.Scopes, mergeScopes(t.Scopes, asked))
	})
	if err == nil && !again {
		err = p.deniedError("%s asked for more scopes %d times in a row, and got them", p.name(), maxStepUps)
	}
	return again && err == nil, err
}

func mergeScopes(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func (p *realm) deniedError(format string, args ...any) *aai.Error {
	e := aai.Errorf(aai.AuthDenied, format, args...)
	e.Hint = "Another account may be allowed to; to log in with it, run: " + p.command()
	return e
}

// renewRefused renews a token that an API refuses, once.
func (l *Authorizer) renewRefused(ctx context.Context, p *realm, seen string) (bool, error) {
	id, err := l.tokenIDOf(ctx, p)
	if err != nil || id == "" {
		return err == nil, err
	}
	var t token
	found, err := l.read(ctx, id, &t)
	switch {
	case err != nil:
		return false, err
	case !found || t.Access != seen:
		return true, nil // another refresh was faster
	case l.now().Sub(t.Obtained) < minRefusalAge && (t.Forced || t.Refresh == ""):
		return false, p.deniedError("%s does not accept the token that its authorization server gave just now", p.name())
	case t.Refresh == "":
		if err := l.drop(ctx, id); err != nil {
			return false, err
		}
		return false, p.loginRequired(aai.AuthExpired, "the login to %s has ended", p.name())
	}
	_, err = l.refresh(ctx, p, id, seen, true)
	return err == nil, err
}

// resourceMetadata is an API's metadata (RFC 9728, section 2).
type resourceMetadata struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
}

// askResource reads the API's metadata, at the challenge's address or, once, at the well-known
// ones. It reports whether the metadata changed anything.
func (l *Authorizer) askResource(ctx context.Context, p *realm, request *url.URL, told string) (bool, error) {
	s, err := l.storedServer(ctx, p)
	if err != nil || s == nil || told == "" && s.Looked {
		return false, err
	}
	m, err := l.resourceAt(ctx, p, told)
	if err != nil {
		return false, err
	}
	if m != nil {
		return l.applyResource(ctx, p, s, request, *m)
	}
	return false, l.updateServer(ctx, p, func(s *server) { s.Looked = true })
}

// resourceAt reads the API's metadata; if told is not empty, only from that address. It returns nil
// if there is no metadata.
func (l *Authorizer) resourceAt(ctx context.Context, p *realm, told string) (*resourceMetadata, error) {
	places := []string{told}
	if told == "" {
		places = resourceWellKnown(p.recipe.HTTP.BaseURL)
	} else if err := l.secure("resource_metadata", told); err != nil {
		return nil, err
	} else if !netguard.SameSite(hostname(p.base), hostname(told)) {
		return nil,
			aai.Errorf(aai.AuthInvalid, "%s says that its metadata is at %s, which is another site", p.name(), hostOf(told))
	}
	for _, address := range places {
		var m resourceMetadata
		found, err := l.getJSON(ctx, address, &m)
		if err != nil && told != "" {
			return nil, err
		}
		if err == nil && found {
			return &m, nil
		}
	}
	return nil, nil
}

// resourceWellKnown returns the addresses of an API's metadata: with its path inserted, and at the
// root.
func resourceWellKnown(base string) []string {
	u, err := url.Parse(base)
	if err != nil {
		return nil
	}
	root := netguard.Origin(u) + "/.well-known/oauth-protected-resource"
	if path := strings.TrimSuffix(u.EscapedPath(), "/"); path != "" {
		return []string{root + path, root}
	}
	return []string{root}
}

// applyResource stores an API's metadata if it describes that API and its server matches the
// descriptor.
func (l *Authorizer) applyResource(ctx context.Context, p *realm, s *server, request *url.URL,
	m resourceMetadata) (bool, error) {
	if !speaksFor(m.Resource, request) {
		return false,
			aai.Errorf(aai.AuthInvalid, "the metadata of %s is of the resource %q; expected the address that was called",
				p.name(), aai.CleanLabel(m.Resource, 200))
	}
	issuer := s.Issuer
	if len(m.Servers) > 0 && !slices.Contains(m.Servers, issuer) {
		issuer = m.Servers[0]
		if err := l.secure("authorization_servers[0]", issuer); err != nil {
			return false, err
		}
		about, err := l.metadataOf(ctx, issuer)
		if err != nil {
			return false, err
		}
		if about == nil {
			return false,
				aai.Errorf(aai.AuthInvalid, "%s names the authorization server %q, which has no metadata", p.name(),
					aai.CleanLabel(issuer, 200))
		}
		if _, err := l.serverFrom(ctx, p, about); err != nil {
			return false, err
		}
	}
	old, err := l.tokenIDOf(ctx, p)
	if err != nil || s.Resource == m.Resource && s.Issuer == issuer {
		return false, err
	}
	err = l.updateServer(ctx, p, func(s *server) {
		s.Looked, s.Resource = true, m.Resource
		if p.discoversServer() && s.Issuer == "" {
			s.Scopes = mergeScopes(s.Scopes, m.Scopes)
		}
		if s.Issuer != issuer {
			s.Issuer, s.Fetched = issuer, time.Time{}
		}
	})
	if err == nil && m.Resource != p.resource(&server{Resource: s.Resource}) && old != "" {
		err = l.drop(ctx, old) // it is for another resource
	}
	return err == nil, err
}

// speaksFor reports whether the resource contains the request: the same origin, and a path that is
// a prefix of the request's.
func speaksFor(resource string, request *url.URL) bool {
	u, err := url.Parse(resource)
	if err != nil || u.Fragment != "" {
		return false
	}
	one, errOne := originOf(resource)
	other, errOther := originOf(request.Scheme + "://" + request.Host)
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	return errOne == nil && errOther == nil && one == other &&
		(request.EscapedPath() == path || strings.HasPrefix(request.EscapedPath(), path+"/"))
}
