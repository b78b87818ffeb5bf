package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// maxAnswer limits an authorization server's response, in bytes.
const maxAnswer = 256 << 10

// identity is the gateway's client id at an authorization server.
type identity struct {
	ID       string
	SecretID string // in Secrets; empty for a public client
	// Source is the origin of the ID, such as "registered".
	Source string
}

// serverError is an authorization server's error response (RFC 6749, section 5.2).
type serverError struct {
	Host        string
	Code        string // of the server, or "" if invalid
	Description string // untrusted, cleaned; empty if it held a secret
	Status      int
}

func (e *serverError) Error() string {
	said := e.Code
	if said == "" {
		said = http.StatusText(e.Status)
	}
	if e.Description != "" {
		said += ` (it says: "` + e.Description + `")`
	}
	return e.Host + " answers " + said
}

// unreachable returns the error for a server that does not respond. The stored login remains unchanged.
func unreachable(host string, cause error) *aai.Error {
	e := aai.Errorf(aai.AppNotRunning, "the authorization server %s does not answer", host)
	e.Hint = "The stored login stays. Try again later."
	e.Delivery, e.Err = aai.NotDelivered, cause
	return e
}

// reply is the response of an endpoint.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// post sends a form to an endpoint as the client. It repeats the request once if the server
// requires its nonce in the proof. It follows no redirect. Its error is a *serverError for a
// refusal and an *aai.Error otherwise; neither contains the sent values.
func (l *Authorizer) post(ctx context.Context, endpoint string, form url.Values, who identity, key *proofKey) (*reply, error) {
	if who.ID != "" {
		form.Set("client_id", who.ID)
	}
	if who.SecretID != "" {
		secret, err := l.get(ctx, who.SecretID)
		if err != nil {
			return nil, err
		}
		if len(secret) == 0 {
			e := aai.Errorf(aai.AuthInvalid, "the secret of client %q is not in the keychain", aai.CleanLabel(who.ID, 100))
			e.Hint = "The configuration names it; put it there first."
			return nil, e
		}
		form.Set("client_secret", strings.TrimSpace(string(secret)))
	}
	a, err := l.send(ctx, endpoint, "application/x-www-form-urlencoded", form.Encode(), key)
	if err == nil && key != nil && a.wantsNonce() && l.learnNonce(endpoint, a.header) {
		a, err = l.send(ctx, endpoint, "application/x-www-form-urlencoded", form.Encode(), key)
	}
	if err != nil {
		return nil, err
	}
	if key != nil {
		l.learnNonce(endpoint, a.header)
	}
	return a, a.refusal(hostOf(endpoint), secretsOf(form))
}

// send posts a body once.
func (l *Authorizer) send(ctx context.Context, endpoint, kind, body string, key *proofKey) (*reply, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(body))
	if err != nil {
		return nil, aai.Errorf(aai.AuthInvalid, "the endpoint %q is no address", aai.CleanLabel(endpoint, 200))
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Accept", "application/json")
	if key != nil {
		proof, err := l.proof(key, http.MethodPost, req.URL, "")
		if err != nil {
			return nil, err
		}
		req.Header.Set("DPoP", proof)
	}
	a, err := l.do(req)
	if err == nil && a.status >= 300 && a.status < 400 {
		return nil, aai.Errorf(aai.AuthInvalid, "%s answers with a redirect, which is not followed: the request has secrets", hostOf(endpoint))
	}
	return a, err
}

// do sends a request to an authorization server and reads its response.
func (l *Authorizer) do(req *http.Request) (*reply, error) {
	host := hostOf(req.URL.String())
	resp, err := l.client.Do(req)
	if err != nil {
		return nil, l.requestError(req, host, err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, l.requestError(req, host, err)
	case len(body) > maxAnswer:
		return nil, aai.Errorf(aai.AuthInvalid, "%s answers with more than %d KiB", host, maxAnswer>>10)
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests:
		return nil, unreachable(host, errors.New(resp.Status))
	}
	return &reply{resp.StatusCode, resp.Header, body}, nil
}

// requestError returns the error of a request without a response. It keeps only the cause of an
// *url.Error, because the address may hold a secret.
func (l *Authorizer) requestError(req *http.Request, host string, err error) error {
	if cause := context.Cause(req.Context()); errors.Is(cause, context.Canceled) {
		return cause
	}
	if ours, ok := errors.AsType[*aai.Error](err); ok {
		return ours // error of the network guard
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return unreachable(host, err)
}

// wantsNonce reports whether a token endpoint refused a proof without a nonce (RFC 9449, section
// 8).
func (a *reply) wantsNonce() bool {
	return a.status == http.StatusBadRequest && a.errorCode() == "use_dpop_nonce"
}

func (a *reply) errorCode() string {
	var said struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(a.body, &said) // without JSON there is no code
	return said.Error
}

// refusal returns the *serverError in a response, or nil.
func (a *reply) refusal(host string, secrets []string) error {
	if a.status >= 200 && a.status < 300 {
		return nil
	}
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(a.body, &said)
	e := &serverError{Host: host, Status: a.status, Code: errorCode(said.Error)}
	if !containsSecret(said.Description, secrets) {
		e.Description = aai.CleanLabel(said.Description, 200)
	}
	return e
}

// errorCode returns a server's error code if it consists of letters and "_". Such a code contains
// no secret.
func errorCode(s string) string {
	if len(s) > 40 {
		return ""
	}
	for _, c := range s {
		if c != '_' && (c < 'a' || c > 'z') {
			return ""
		}
	}
	return s
}

// secretsOf returns the form values that must not appear in an error.
func secretsOf(form url.Values) []string {
	var secrets []string
	for _, name := range []string{"code", "code_verifier", "refresh_token", "client_secret", "device_code", "token"} {
		if v := form.Get(name); v != "" {
			secrets = append(secrets, v)
		}
	}
	return secrets
}

func containsSecret(text string, secrets []string) bool {
	for _, s := range secrets {
		if strings.Contains(text, s) || strings.Contains(text, url.QueryEscape(s)) {
			return true
		}
	}
	return false
}

// getJSON reads a public document. found is false if the server has none there.
func (l *Authorizer) getJSON(ctx context.Context, address string, v any) (found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false, aai.Errorf(aai.AuthInvalid, "%q is no address", aai.CleanLabel(address, 200))
	}
	req.Header.Set("Accept", "application/json")
	a, err := l.do(req)
	if err != nil {
		return false, err
	}
	kind, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if a.status != http.StatusOK || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return false, nil // many sites answer every address with a page
	}
	if err := json.Unmarshal(a.body, v); err != nil {
		return false, aai.Errorf(aai.AuthInvalid, "%s is no JSON object as expected", aai.CleanLabel(address, 200))
	}
	return true, nil
}

// seconds is a number of seconds, which some servers encode as a string.
type seconds float64

// UnmarshalJSON implements json.Unmarshaler.
func (s *seconds) UnmarshalJSON(b []byte) error {
	var n json.Number
	if err := json.Unmarshal([]byte(strings.Trim(string(b), `"`)), &n); err != nil {
		return nil //nolint:nilerr // an invalid number counts as absent
	}
	f, err := n.Float64()
	if err == nil && f > 0 {
		*s = seconds(min(f, 10*365*24*3600))
	}
	return nil
}

func (s seconds) duration() time.Duration { return time.Duration(float64(s) * float64(time.Second)) }
