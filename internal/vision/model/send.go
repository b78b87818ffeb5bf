package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

const (
	// askTimeout limits the wait for an answer.
	askTimeout = 50 * time.Second
	// maxAnswer limits an answer, in bytes.
	maxAnswer = 1 << 20
	// maxQuoted limits the service's own words in an error, in bytes.
	maxQuoted = 200
	// statusOverloaded is the status of an overloaded Anthropic API.
	statusOverloaded = 529
)

// Keys adds the person's keys to requests. [oauth.Authorizer] implements it.
type Keys interface {
	Authorize(ctx context.Context, r *aai.Recipe, req *http.Request) error
	HandleRefusal(ctx context.Context, r *aai.Recipe, resp *http.Response) (again bool, err error)
}

// Ask asks the service. It answers an equal question from its memory.
func (s *Service) Ask(ctx context.Context, q Question) (Answer, error) {
	if s.of == nil {
		return Answer{}, aai.Errorf(aai.Internal, "the backend %s is no service", s.name)
	}
	if s.wrong != nil {
		return Answer{}, s.wrong
	}
	return s.cache.ask(ctx, q, s.send)
}

// send sends the question, and reads the answer.
func (s *Service) send(ctx context.Context, q Question) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	begun := time.Now()
	path, body := s.of.encode(s.of.model, q)
	encoded, err := json.Marshal(body)
	if err != nil {
		return Answer{}, aai.Errorf(aai.Internal, "the question cannot be encoded: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.of.base+path, bytes.NewReader(encoded))
	if err != nil {
		return Answer{}, aai.Errorf(aai.AuthInvalid, "vlm.base_url: expected an address such as http://127.0.0.1:1234/v1")
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range s.of.headers {
		req.Header.Set(name, value)
	}
	recipe, err := s.addKey(ctx, req)
	if err != nil {
		return Answer{}, err
	}
	resp, err := s.cfg.Client.Do(req)
	if err != nil {
		return Answer{}, s.sendError(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := s.read(ctx, recipe, req, resp)
	answer.Took = time.Since(begun)
	return answer, err
}

// addKey adds the key to the request, from the environment or from the person's login. It returns the recipe of the login
// in use, or nil.
func (s *Service) addKey(ctx context.Context, req *http.Request) (*aai.Recipe, error) {
	if name := s.KeyVariable(); name != "" {
		value := strings.TrimSpace(s.cfg.Getenv(name))
		if strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, aai.Errorf(aai.AuthInvalid, "the variable %s: expected one word of visible ASCII characters", name)
		}
		req.Header.Set(s.of.auth.Name, s.of.auth.Prefix+value)
		return nil, nil //nolint:nilnil // no login is in use
	}
	recipe := s.Login(loginPrefix + s.name)
	if recipe == nil || s.cfg.Keys == nil {
		return nil, nil //nolint:nilnil // a server on this computer needs no key
	}
	return recipe, s.cfg.Keys.Authorize(ctx, recipe, req)
}

// read reads the response.
func (s *Service) read(ctx context.Context, recipe *aai.Recipe, req *http.Request, resp *http.Response) (Answer, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case ctx.Err() != nil:
		return Answer{}, s.sendError(ctx, ctx.Err())
	case len(body) > maxAnswer:
		return Answer{}, aai.Errorf(aai.APIRequestFailed, "the answer of %s is larger than %d bytes", s.base.Host, maxAnswer)
	case err != nil:
		e := aai.Errorf(aai.APIRequestFailed, "the answer of %s broke off after %d bytes", s.base.Host, len(body))
		e.Err = err
		return Answer{}, e
	case resp.StatusCode != http.StatusOK:
		return Answer{}, s.statusError(ctx, recipe, req, resp, body)
	}
	answer, err := s.of.decode(body)
	if err != nil {
		e := aai.Errorf(aai.APIRequestFailed, "the answer of %s is not in the protocol of %s; expected a JSON object", s.base.Host, s.name)
		e.Hint, e.Err = "Check vlm.backend and vlm.base_url.", err
		return Answer{}, e
	}
	return answer, nil
}

// sendError returns the error of a request without a response.
func (s *Service) sendError(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case ctx.Err() != nil:
		return aai.Errorf(aai.Timeout, "%s gave no answer within the time of the call", s.base.Host)
	}
	e := aai.Errorf(aai.AppNotRunning, "%s cannot be reached", s.base.Host)
	e.Hint = "Check the network, that the server runs, and vlm.base_url."
	if netguard.IsTLSError(err) {
		e = aai.Errorf(aai.APIRequestFailed, "the certificate of %s does not prove that it is this server; nothing was sent", s.base.Host)
		e.Hint = "Ask the person before you continue: the connection may be intercepted."
	}
	e.Err = err
	return e
}

// statusError returns the error of a response that is no answer.
func (s *Service) statusError(ctx context.Context, recipe *aai.Recipe, req *http.Request, resp *http.Response, body []byte) error {
	said := s.serviceWords(req, body)
	after := retryAfter(resp.Header.Get("Retry-After"), time.Now())
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized && recipe != nil:
		if _, err := s.cfg.Keys.HandleRefusal(ctx, recipe, resp); err != nil {
			return err
		}
	case code == http.StatusUnauthorized && s.KeyVariable() != "":
		e := aai.Errorf(aai.AuthExpired, "%s does not accept the key in %s", s.base.Host, s.KeyVariable())
		e.Hint = "The person sets a valid key there, or removes the variable and runs: aai-gateway auth login " + loginPrefix + s.name
		return e
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return aai.Errorf(aai.AuthDenied, "%s does not allow the request%s", s.base.Host, said)
	case code == http.StatusTooManyRequests:
		e := aai.Errorf(aai.RateLimited, "%s takes no more requests now%s", s.base.Host, said)
		e.RetryAfter, e.Hint = after, "Wait before the next call."
		return e
	case code == http.StatusServiceUnavailable, code == statusOverloaded:
		e := aai.Errorf(aai.AppNotRunning, "%s is overloaded%s", s.base.Host, said)
		e.RetryAfter, e.Hint = after, "Wait before the next call."
		return e
	case code >= 300 && code < 400:
		e := aai.Errorf(aai.APIRequestFailed, "%s sends to another address, which is not followed", s.base.Host)
		e.Hint = "The person sets the right address as vlm.base_url."
		return e
	}
	e := aai.Errorf(aai.APIRequestFailed, "%s answered %d%s", s.base.Host, resp.StatusCode, said)
	e.Hint = "Check vlm.model and vlm.base_url."
	return e
}

// serviceWords returns the service's message in an error, quoted and without the key; "" if it has none.
func (s *Service) serviceWords(req *http.Request, body []byte) string {
	var got struct {
		Error json.RawMessage `json:"error"`
	}
	var inner struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &got) != nil || got.Error == nil {
		return ""
	}
	if json.Unmarshal(got.Error, &inner) != nil && json.Unmarshal(got.Error, &inner.Message) != nil || inner.Message == "" {
		return ""
	}
	key := strings.TrimPrefix(req.Header.Get(s.of.auth.Name), s.of.auth.Prefix)
	text := inner.Message
	if key != "" {
		text = sanitize.NewRedactor([]string{key}).Redact(text)
	}
	return ": it says " + sanitize.Quote(aai.CleanLabel(text, maxQuoted), maxQuoted)
}

// retryAfter returns the time in a Retry-After header, at most an hour; 0 if it has none.
func retryAfter(header string, now time.Time) time.Duration {
	wait := time.Duration(0)
	if n, err := strconv.Atoi(strings.TrimSpace(header)); err == nil {
		wait = time.Duration(min(max(n, 0), 3600)) * time.Second
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now).Round(time.Second)
	}
	return min(max(wait, 0), time.Hour)
}
