package mcp

import (
	"errors"
	"io"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// overHTTP returns the transport to a server at an address. It uses the configured client and the
// user's login.
func (s *server) overHTTP(live *session) sdk.Transport {
	client := *s.driver.config.Client
	next := client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	client.Jar = nil
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r := s.recipe
	known := &aai.Recipe{Kind: r.Kind, App: r.App, Platform: r.Platform, HTTP: r.MCP.Login()}
	client.Transport = &authTransport{server: s, live: live, next: next, authRecipe: known}
	return &sdk.StreamableClientTransport{Endpoint: r.MCP.URL, HTTPClient: &client, MaxRetries: -1}
}

// maxRetries is the limit for repeating a request after a login refusal: once when the server
// announces its login, once when a token expired early.
const maxRetries = 2

// authTransport adds the descriptor's headers and the credentials to requests, and limits responses.
type authTransport struct {
	server     *server
	live       *session
	next       http.RoundTripper
	authRecipe *aai.Recipe
}

// RoundTrip implements http.RoundTripper.
func (t *authTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	_, limited := ctx.Deadline()
	if !limited { // not part of a call
		ctx = aai.NonInteractive(ctx)
	}
	for again := 0; ; again++ {
		one := req.Clone(ctx)
		if again > 0 && req.GetBody != nil {
			body, err := req.GetBody()
			if err != nil {
				return nil, err
			}
			one.Body = body
		}
		before := one.Header.Clone()
		for name, value := range t.server.recipe.MCP.Headers {
			one.Header.Set(name, value)
		}
		login := t.server.driver.config.Authorizer
		if login != nil {
			if err := login.Authorize(one.Context(), t.authRecipe, one); err != nil {
				return nil, err
			}
		}
		t.live.secrets.AddRequest(before, req.URL.RawQuery, one)
		aai.RedactCredentials(ctx, &t.live.secrets)
		resp, err := t.next.RoundTrip(one)
		if err != nil {
			return nil, err
		}
		if login != nil && (resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden) {
			once, refused := login.HandleRefusal(one.Context(), t.authRecipe, resp)
			if once && again < maxRetries && (req.Body == nil || req.GetBody != nil) {
				_ = resp.Body.Close()
				continue
			}
			if refused != nil {
				_ = resp.Body.Close()
				return nil, refused
			}
		}
		body := &limitedBody{ReadCloser: resp.Body, left: maxMessage}
		if limited { // an event stream may end and reopen
			body.over = func() { t.live.fail(newServerFault("sent an answer of more than %d MiB", maxMessage>>20)) }
		}
		resp.Body = body
		return resp, nil
	}
}

// limitedBody ends a response that exceeds the limit.
type limitedBody struct {
	io.ReadCloser
	left int
	over func() // called at the limit; may be nil
}

var errTooLong = errors.New("the server's answer exceeds the size limit")

// Read implements io.Reader.
func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		if b.over != nil {
			b.over()
		}
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
