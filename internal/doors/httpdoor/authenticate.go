package httpdoor

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor/bearer"
)

// metadataPath is the well-known path of a resource's OAuth metadata (RFC 9728).
const metadataPath = "/.well-known/oauth-protected-resource"

// authenticated calls next if the request has a valid token, and sets the exchange's Principal.
func (s *Server) authenticated(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.cfg.Verifier == nil {
			s.serveRecognized(w, r, next)
			return
		}
		token, given := bearerToken(r)
		if !given {
			s.challenge(w, &bearer.Error{})
			return
		}
		principal, err := s.cfg.Verifier.Verify(r.Context(), token)
		if err != nil {
			s.refuseToken(w, err)
			return
		}
		FromContext(r.Context()).Principal = principal
		r.Header.Del("Authorization") // no later handler needs it
		s.serveRecognized(w, r, next)
	}
}

// serveRecognized calls next for an authenticated request. From then on the connection
// counts as authenticated.
func (s *Server) serveRecognized(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	if v := connOf(r); v != nil {
		if !v.setPrincipal(FromContext(r.Context()).Principal) {
			s.Refuse(w, TooManyRequests("too many connections are open"))
			return
		}
		w.Header().Del("Connection")
	}
	next(w, r)
}

func bearerToken(r *http.Request) (string, bool) {
	scheme, token, found := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	return token, found && strings.EqualFold(scheme, "Bearer") && token != ""
}

// refuseToken reports why a token is invalid, or that it could not be verified.
func (s *Server) refuseToken(w http.ResponseWriter, err error) {
	wrong, ok := errors.AsType[*bearer.Error](err)
	if ok {
		s.challenge(w, wrong)
		return
	}
	s.log.Warn("a token could not be verified", "cause", err)
	s.Refuse(w, Refusal{
		Status: http.StatusServiceUnavailable, RetryAfter: 5 * time.Second,
		Message: "the token cannot be verified now, because the authorization server does not answer as it should",
	})
}

// challenge requests a token, or a better one (RFC 6750 §3, RFC 9728 §5.1).
func (s *Server) challenge(w http.ResponseWriter, wrong *bearer.Error) {
	status, message := http.StatusUnauthorized, "a bearer token is needed"
	challenge := `Bearer realm="aai-gateway"`
	if wrong.Code != "" {
		message = wrong.Error()
		challenge += fmt.Sprintf(", error=%q, error_description=%q", wrong.Code, quotable(wrong.Description))
	}
	if wrong.Code == bearer.InsufficientScope {
		status = http.StatusForbidden
	}
	if s.cfg.Metadata != nil {
		if len(s.cfg.Metadata.Scopes) > 0 {
			challenge += fmt.Sprintf(", scope=%q", strings.Join(s.cfg.Metadata.Scopes, " "))
		}
		challenge += fmt.Sprintf(", resource_metadata=%q", metadataURL(s.cfg.Metadata.Resource))
	}
	w.Header().Set("WWW-Authenticate", challenge)
	s.Refuse(w, Refusal{Status: status, Message: message})
}

// quotable replaces the characters that a quoted string of a header cannot hold.
func quotable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '\''
		}
		return r
	}, text)
}

// metadataURL returns the address of a resource's metadata (RFC 9728 §3.1).
func metadataURL(resource string) string {
	u, err := url.Parse(resource)
	if err != nil {
		return metadataPath
	}
	u.Path = metadataPath + strings.TrimSuffix(u.Path, "/")
	return u.String()
}

// serveMetadata names the authorization server for tokens of this server. It is public:
// pages of every origin may read it.
func (s *Server) serveMetadata(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.Refuse(w, Refusal{Status: http.StatusMethodNotAllowed, Message: "expected GET"})
		return
	}
	b, err := json.Marshal(map[string]any{
		"resource": s.cfg.Metadata.Resource, "authorization_servers": []string{s.cfg.Metadata.Issuer},
		"bearer_methods_supported": []string{"header"}, "resource_name": "AAI Gateway",
		"scopes_supported": append([]string{}, s.cfg.Metadata.Scopes...),
	})
	if err != nil {
		s.Refuse(w, Refusal{Status: http.StatusInternalServerError, Message: "the metadata cannot be written"})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "max-age=3600")
	_, _ = w.Write(b) // fails if the client has disconnected
}
