package webapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// failure is an error, with the data that decides about another try.
type failure struct {
	err       *aai.Error
	retryable bool          // the cause may be temporary
	wait      time.Duration // delay that the server requests, or 0
}

// exchange is a request and its response.
type exchange struct {
	*tool
	secrets sanitize.SecretSet
	trace   trace
	resp    *http.Response
}

// attempt sends the request once. It sends it a second time if the server rejects the credentials
// and the authorizer can renew them.
func (t *tool) attempt(ctx context.Context, m *message) (*aai.Result, *failure) {
	x, f := t.exchange(ctx, m)
	if f != nil {
		return nil, f
	}
	again, f := x.handleRefusal(ctx)
	if f != nil || !again {
		return x.finish(ctx, f)
	}
	_ = x.resp.Body.Close()
	before := &x.secrets
	if x, f = t.exchange(ctx, m); f != nil {
		f.err.Delivery = aai.Delivered
		return nil, f
	}
	x.secrets.Join(before)
	return x.finish(ctx, nil)
}

// exchange sends the request and waits for the response. The caller closes the response body.
func (t *tool) exchange(ctx context.Context, m *message) (*exchange, *failure) {
	if err := t.limit.wait(ctx); err != nil {
		return nil, &failure{err: err}
	}
	x := &exchange{tool: t}
	gateway.RedactCredentials(ctx, &x.secrets)
	req, err := t.request(x.trace.follow(ctx), m)
	if err != nil {
		return nil, &failure{err: undelivered(aai.AsError(err))}
	}
	if err = t.authorize(ctx, req, &x.secrets); err != nil {
		return nil, &failure{err: undelivered(aai.AsError(err))}
	}
	x.resp, err = t.driver.client.Do(req) //nolint:bodyclose // finish and attempt close it
	if err != nil {
		if x.resp != nil {
			_ = x.resp.Body.Close()
		}
		return nil, x.requestFailure(ctx, err)
	}
	return x, nil
}

// undelivered returns a copy of an error that occurred before the request was sent.
func undelivered(e *aai.Error) *aai.Error {
	copied := *e
	copied.Delivery = aai.NotDelivered
	return &copied
}

// authorize adds the credentials to the request, and to secrets.
func (t *tool) authorize(ctx context.Context, req *http.Request, secrets *sanitize.SecretSet) error {
	if t.recipe.HTTP.Auth == nil {
		return nil
	}
	if t.driver.authorizer == nil {
		err := aai.Errorf(aai.AuthRequired, "%s requires a login, and this gateway cannot log in", t.address.origin)
		err.Hint = "Use another app that can do the same."
		return err
	}
	headers, address, host := req.Header.Clone(), *req.URL, req.Host
	if err := t.driver.authorizer.Authorize(ctx, t.recipe, req); err != nil {
		return err
	}
	if req.URL.Scheme != address.Scheme || req.URL.Host != address.Host || req.Host != host ||
		req.URL.EscapedPath() != address.EscapedPath() || req.Method != t.method {
		return aai.Errorf(aai.Internal, "the login for %s changed the request's address; nothing was sent", t.address.origin)
	}
	secrets.AddRequest(headers, address.RawQuery, req)
	return nil
}

// handleRefusal reports a rejected login to the authorizer. again means that another try may succeed.
func (x *exchange) handleRefusal(ctx context.Context) (again bool, f *failure) {
	status := x.resp.StatusCode
	if x.recipe.HTTP.Auth == nil || status != http.StatusUnauthorized && status != http.StatusForbidden {
		return false, nil
	}
	again, err := x.driver.authorizer.HandleRefusal(ctx, x.recipe, x.resp)
	if err == nil {
		return again, nil
	}
	e := *aai.AsError(err)
	e.Delivery = aai.Delivered
	return false, &failure{err: &e}
}

// finish converts the response into the result of the call and closes the body.
func (x *exchange) finish(ctx context.Context, f *failure) (*aai.Result, *failure) {
	defer func() { _ = x.resp.Body.Close() }()
	if f != nil {
		return nil, f
	}
	if x.resp.StatusCode < 200 || x.resp.StatusCode > 299 {
		return nil, x.refusal(ctx)
	}
	body, err := x.read(ctx, maxBody)
	if err != nil {
		return nil, &failure{err: err}
	}
	result := x.result(body)
	result.UntrustedSource = x.address.origin
	return result, nil
}

// rootCause returns the cause of a client error without the URL, because the URL's query may hold
// a key.
func rootCause(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
