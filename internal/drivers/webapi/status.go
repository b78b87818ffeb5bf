package webapi

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// maxRetryAfter limits the Retry-After value of a server.
const maxRetryAfter = 24 * time.Hour

// codeOf maps an HTTP status to an error code.
func codeOf(status int) aai.Code {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge,
		http.StatusRequestURITooLong:
		return aai.InvalidParams
	case http.StatusUnauthorized:
		return aai.AuthRequired
	case http.StatusForbidden:
		return aai.AuthDenied
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return aai.Timeout
	case http.StatusTooManyRequests:
		return aai.RateLimited
	case http.StatusServiceUnavailable:
		return aai.AppNotRunning
	}
	return aai.APIRequestFailed
}

// refusal returns the failure for a status other than 2xx.
func (x *exchange) refusal(ctx context.Context) *failure {
	status := x.resp.StatusCode
	err := aai.Errorf(codeOf(status), "%s answered %s", x.tool, statusText(status))
	err.Delivery = aai.Delivered
	f := &failure{err: err}
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.retryable = true
	}
	f.wait = retryAfter(x.resp.Header, time.Now())
	if f.retryable {
		err.RetryAfter = f.wait
	}
	x.explain(err)
	if status >= 300 && status < 400 {
		return f // the body only repeats the target
	}
	if words := x.excerpt(ctx); words != "" {
		err.Message += ", with the text: " + strconv.Quote(words)
	}
	return f
}

// statusText returns a text such as "404 Not Found". It ignores the server's reason phrase.
func statusText(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// explain adds the meaning of a status and the next step to the error.
func (x *exchange) explain(err *aai.Error) {
	switch status := x.resp.StatusCode; {
	case status >= 300 && status < 400:
		err.Message += "; redirects are not followed"
		if target := x.redirectOrigin(); target != "" {
			err.Message += ", this one points to " + target
		}
		err.Hint = "The app's descriptor needs the server's new address. Its maintainer can correct it."
	case status == http.StatusUnauthorized && x.recipe.HTTP.Auth == nil:
		err.Hint = "The server requires a login, but the app's descriptor does not describe one."
	case status == http.StatusUnauthorized:
		if !x.secrets.IsEmpty() {
			err.Code = aai.AuthExpired
		}
		err.Hint = "Ask the person to log in to " + x.address.origin + " again."
	case status == http.StatusForbidden:
		err.Hint = "The server does not allow this to the logged-in user."
	case status == http.StatusNotFound || status == http.StatusGone:
		err.Message += ": the requested item was not found"
		err.Hint = "Check the names and ids in the arguments."
	case err.Code == aai.InvalidParams:
		err.Hint = "Correct the arguments, then try again."
	case status == http.StatusConflict || status == http.StatusPreconditionFailed:
		err.Hint = "The item has another state than expected. Read it again before you try again."
	case err.Code == aai.RateLimited || err.Code == aai.AppNotRunning:
		err.Hint = "Wait, then try again."
	case err.Code == aai.Timeout || status >= 500:
		err.Hint = "The server may have carried out the request. Look at its state before you try again."
	}
}

// redirectOrigin returns the origin of a redirect's target. It omits the rest, which may hold
// secrets.
func (x *exchange) redirectOrigin() string {
	location := x.resp.Header.Get("Location")
	if location == "" {
		return ""
	}
	target, err := url.Parse(location)
	if err != nil {
		return ""
	}
	if !target.IsAbs() && target.Host == "" {
		return "another path of the same server"
	}
	if target.Scheme == "" {
		target.Scheme = x.address.scheme
	}
	return aai.CleanLabel(x.secrets.Redact(netguard.Origin(target)), 200)
}

// retryAfter returns the delay that the server requests, in seconds or as a date (RFC 9110,
// section 10.2.3). It compares a date with the server's Date header if there is one.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(maxRetryAfter/time.Second))) * time.Second
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return min(max(until.Sub(now), 0), maxRetryAfter)
}
