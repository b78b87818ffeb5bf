package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/schema/jsonscan"
)

// overHTTP returns the transport to a server at an address. It uses the configured client and the
// user's login.
func (s *server) overHTTP(ctx context.Context, live *session) (sdk.Transport, *aai.Error) {
	values, fault := s.variables(ctx, &live.secrets)
	if fault != nil {
		return nil, fault
	}
	client := *s.driver.config.Client
	next := client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	client.Jar = nil
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r := s.recipe
	known := &aai.Recipe{Kind: r.Kind, App: r.App, Platform: r.Platform, HTTP: r.MCP.Login()}
	headers := make(map[string]string, len(r.MCP.Headers))
	for name, value := range r.MCP.Headers {
		headers[name] = resolvePlaceholders(value, values)
	}
	client.Transport = &authTransport{server: s, live: live, next: next, authRecipe: known, headers: headers}
	return &sdk.StreamableClientTransport{Endpoint: r.MCP.URL, HTTPClient: &client, MaxRetries: maxStreamRetries}, nil
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
	headers    map[string]string // of the recipe, with the values of its variables
}

// RoundTrip implements http.RoundTripper.
func (t *authTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.send(req)
	if err != nil || !isStandalone(req) {
		return resp, err
	}
	switch {
	case resp.StatusCode == http.StatusOK && isStream(resp):
		resp.Body = &standaloneStream{transport: t, req: req, body: resp.Body, opened: time.Now(), pause: minReopenPause}
	case resp.StatusCode >= http.StatusInternalServerError:
		resp.StatusCode = http.StatusMethodNotAllowed // the SDK would end the session, which works without the stream
	}
	return resp, nil
}

// send sends a request, again after a login refusal that the login resolves.
func (t *authTransport) send(req *http.Request) (*http.Response, error) {
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
		for name, value := range t.headers {
			one.Header.Set(name, value)
		}
		login := t.server.driver.config.Authorizer
		if login != nil {
			if err := login.Authorize(one.Context(), t.authRecipe, one); err != nil {
				return nil, err
			}
		}
		t.live.secrets.AddRequest(before, req.URL.RawQuery, one)
		gateway.RedactCredentials(ctx, &t.live.secrets)
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
		if !isStream(resp) {
			return resp, t.readBody(ctx, req, resp)
		}
		body := &limitedBody{ReadCloser: resp.Body, ctx: ctx, left: maxMessage, isStream: true}
		if limited { // an event stream may end and reopen
			body.over = t.live.fail
		}
		resp.Body = body
		return resp, nil
	}
}

func isStream(resp *http.Response) bool {
	return strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
}

// readBody reads the body of a response that is no stream. Instead of a body that exceeds a limit, the
// SDK gets an error for the request, so that the session continues.
func (t *authTransport) readBody(ctx context.Context, req *http.Request, resp *http.Response) error {
	limited := &limitedBody{ReadCloser: resp.Body, ctx: ctx, left: maxMessage}
	body, err := io.ReadAll(limited)
	_ = resp.Body.Close()
	if limited.fault == nil && gateway.ReserveResult(ctx, len(body), limited.scan.Values) != nil {
		limited.fault = memoryFault()
	}
	if limited.fault == nil {
		if isSessionLost(req, resp, body) {
			resp.StatusCode, body = http.StatusNotFound, nil // the SDK's error is then sdk.ErrSessionMissing
			if lost, ok := ctx.Value(lostKey{}).(*atomic.Bool); ok {
				lost.Store(true)
			}
		}
		keepRaw(ctx, body)
		resp.Body = &partialBody{bytes.NewReader(body), err}
		return nil
	}
	sent := []byte("{}")
	if req.GetBody != nil {
		if again, err := req.GetBody(); err == nil {
			sent, _ = io.ReadAll(again)
		}
	}
	id := jsonscan.Scan(sent).ID()
	if id == nil {
		return errTooLong
	}
	message, err := json.Marshal("the gateway does not read the answer: the server " + limited.fault.what)
	if err != nil {
		return err
	}
	body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id,
		jsonrpc.CodeInternalError, message)
	resp.StatusCode, resp.Body, resp.ContentLength = http.StatusOK, io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Set("Content-Type", "application/json")
	return nil
}

// keepRaw stores the raw result of a request in its context, as a [wire] does. The SDK decodes it too.
func keepRaw(ctx context.Context, message []byte) {
	r, wanted := ctx.Value(rawResultKey{}).(*rawResult)
	if !wanted {
		return
	}
	if m := readResponse(trimLine(message)); m != nil {
		r.result, r.structured = splitStructured(m.Result)
	}
}

// partialBody is a body that was read, and the error at its end.
type partialBody struct {
	*bytes.Reader
	err error
}

// Read implements io.Reader.
func (b *partialBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) && b.err != nil {
		err = b.err
	}
	return n, err
}

// Close implements io.Closer.
func (b *partialBody) Close() error { return nil }

// largeStream is the number of values from which a stream reserves memory, and largeStreamBytes that of
// bytes. A stream reserves the most at once: streams that wait for one another hold none.
const (
	largeStream      = 20_000
	largeStreamBytes = 1 << 20
)

// limitedBody ends a response that exceeds a limit, before the rest of it is stored. A stream reserves
// memory.
type limitedBody struct {
	io.ReadCloser
	ctx      context.Context //nolint:containedctx // of the request
	left     int
	isStream bool // of events
	scan     jsonscan.Scanner
	last     byte
	data     []byte // of the current event
	reserved bool
	fault    *serverFault       // the exceeded limit, or nil
	over     func(*serverFault) // called at a limit; may be nil
}

var errTooLong = errors.New("the server's answer exceeds a limit")

// Read implements io.Reader.
func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, b.end(newServerFault("sent an answer of more than %d MiB", maxMessage>>20))
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	b.count(p[:n])
	if excess := excessOf(&b.scan); excess != "" {
		return 0, b.end(newServerFault("sent an answer with %s", excess))
	}
	if b.isStream && !b.reserved && (b.scan.Values > largeStream || maxMessage-b.left > largeStreamBytes) {
		b.reserved = true
		if gateway.ReserveResult(b.ctx, maxMessage, 0) != nil {
			return 0, b.end(memoryFault())
		}
	}
	return n, err
}

func memoryFault() *serverFault {
	return newServerFault("sent a large answer, and answers of other calls take the memory of the gateway")
}

// count counts the values of the next part. The blank line that ends an event begins a new count.
func (b *limitedBody) count(part []byte) {
	for len(part) > 0 {
		line := part
		if end := bytes.IndexByte(part, '\n'); end >= 0 {
			line = part[:end+1]
		}
		if b.isStream && b.last == '\n' && len(bytes.Trim(line, "\r\n")) == 0 {
			b.scan = jsonscan.Scanner{}
			keepRaw(b.ctx, bytes.TrimPrefix(b.data, []byte("data:")))
			b.data = nil
		} else if b.isStream && (b.last != '\n' && b.data != nil || bytes.HasPrefix(line, []byte("data:"))) {
			b.data = append(b.data, line...)
		}
		_, _ = b.scan.Write(line)
		b.last, part = line[len(line)-1], part[len(line):]
	}
}

// end ends the response, and a stream's session too.
func (b *limitedBody) end(f *serverFault) error {
	if b.fault = f; b.over != nil {
		b.over(f)
	}
	return errTooLong
}
