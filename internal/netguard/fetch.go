package netguard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/gybob/aai-gateway"
)

// Limits of a Fetch.
const (
	maxRedirects    = 3
	fetchTime       = 10 * time.Second // in total, with redirects and body
	maxFetch        = 256 << 10        // bytes of body after decompression, by default
	maxLongFetch    = 32 << 20         // highest value of MaxBytes
	longFetchFactor = 6                // factor of the time limit for longer bodies
)

// The reasons for ending a fetch.
var (
	errTooManyHops = errors.New("more than 3 redirects")
	errOtherSite   = errors.New("redirected to another site")
	errNoLocation  = errors.New("redirected to nowhere")
	errTooBig      = errors.New("the body is larger than allowed")
)

// A FetchRequest describes a document to fetch.
type FetchRequest struct {
	URL          string // https, or http to a trusted loopback host; the fragment is not sent
	Accept       string // media types; empty means any
	ETag         string // of the stored copy; may be empty
	LastModified string // of the stored copy, as its server wrote it; may be empty
	// MaxBytes is the limit of the body in bytes after decompression, at most 32 MiB; 0 means 256
	// KiB. Larger values are for documents that a person names.
	MaxBytes int
}

// A FetchResult is a server's answer to a FetchRequest.
type FetchResult struct {
	URL    string // after redirects
	Status int
	Header http.Header
	Body   []byte // only with status 200
}

// Fetch gets a document within 10 seconds, or a minute if MaxBytes exceeds 256 KiB. It follows at
// most 3 redirects within the same registrable domain, each checked like a separate request. Any
// status is a result. An invalid address is an *aai.Error with code INVALID_PARAMS. All failures
// on the way have code APP_NOT_RUNNING and the same text (see IsNetworkError), except that the
// end of the caller's context is returned unchanged. A too large body is AAI_JSON_INVALID.
func (c *Client) Fetch(ctx context.Context, r FetchRequest) (*FetchResult, error) {
	u, h, err := c.parseTarget(r.URL)
	if err != nil {
		return nil, err
	}
	patience := c.fetchTimeout
	if r.MaxBytes > maxFetch {
		patience *= longFetchFactor
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	first := h
	for range maxRedirects + 1 {
		resp, err := c.get(limited, u, r)
		if err != nil {
			return nil, c.abortError(ctx, first, err)
		}
		next, redirected, err := c.redirect(resp, u, first)
		if err != nil {
			closeBody(resp)
			return nil, unreachable(first, &failureCause{kind: refusedByGuard, cause: err}, true)
		}
		if !redirected {
			f, err := readBody(resp, u, r.MaxBytes)
			if err != nil {
				return nil, c.abortError(ctx, first, err)
			}
			return f, nil
		}
		closeBody(resp)
		u = next
	}
	return nil, unreachable(first, &failureCause{kind: refusedByGuard, cause: errTooManyHops}, true)
}

// parseTarget parses and checks the address of a FetchRequest.
func (c *Client) parseTarget(raw string) (*url.URL, Host, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, Host{}, invalidAddress(raw, "expected an https address")
	}
	h, err := hostOf(u)
	if err == nil {
		err = c.guard.admitScheme(u.Scheme, h)
	}
	if err != nil {
		return nil, h, invalidAddress(raw, err.Error())
	}
	normalizeURL(u, h)
	return u, h, nil
}

func invalidAddress(raw, why string) *aai.Error {
	e := aai.Errorf(aai.InvalidParams, "url: %q is not an address that may be fetched: %s", aai.CleanLabel(raw, 200), why)
	e.Hint = "Give an address such as https://example.com, without a user name or password."
	e.Delivery = aai.NotDelivered
	return e
}

// get sends one request of a Fetch.
func (c *Client) get(ctx context.Context, u *url.URL, r FetchRequest) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Accept": r.Accept, "If-None-Match": r.ETag, "If-Modified-Since": r.LastModified, "User-Agent": "aai-gateway",
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	resp, failed := c.send(req)
	if failed != nil {
		return nil, failed
	}
	return resp, nil
}

// redirect returns the target of a redirect, if the answer is one.
func (c *Client) redirect(resp *http.Response, from *url.URL, first Host) (next *url.URL, redirected bool, err error) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, false, nil
	}
	location := resp.Header.Get("Location")
	if location == "" {
		return nil, true, errNoLocation
	}
	next, err = from.Parse(location)
	if err != nil {
		return nil, true, err
	}
	h, err := hostOf(next)
	if err != nil {
		return nil, true, err
	}
	if err := c.guard.admitScheme(next.Scheme, h); err != nil {
		return nil, true, err
	}
	if from.Scheme == "https" && next.Scheme != "https" {
		return nil, true, errNotHTTPS
	}
	if !h.SameSite(first) {
		return nil, true, errOtherSite
	}
	normalizeURL(next, h)
	return next, true, nil
}

// normalizeURL sets the host to the checked form and removes the fragment.
func normalizeURL(u *url.URL, h Host) {
	u.Host = h.String()
	u.Fragment, u.RawFragment = "", ""
}

// readBody reads the body of an answer with status 200.
func readBody(resp *http.Response, u *url.URL, limit int) (*FetchResult, error) {
	defer closeBody(resp)
	f := &FetchResult{URL: u.String(), Status: resp.StatusCode, Header: resp.Header}
	if resp.StatusCode != http.StatusOK {
		return f, nil
	}
	if limit <= 0 {
		limit = maxFetch
	}
	limit = min(limit, maxLongFetch)
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(body) > limit {
		return nil, &aai.Error{
			Code:    aai.DescriptorInvalid,
			Message: fmt.Sprintf("%s: the document is larger than the %d KiB that are allowed from the web", u.Host, limit>>10),
			Hint:    "Only the site's owner can change that.",
			Err:     errTooBig,
		}
	}
	f.Body = body
	return f, nil
}

// abortError returns the error of a failed fetch.
func (c *Client) abortError(ctx context.Context, h Host, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if known, is := errors.AsType[*aai.Error](err); is {
		if known.Code != aai.AppNotRunning {
			return known
		}
		// Only the log contains the target of a redirect.
		return unreachable(h, classify(known.Err), !known.RetrySafe())
	}
	return unreachable(h, classify(err), true)
}

// closeBody closes a body that is not read further, and with it the connection: reading the rest
// might never end.
func closeBody(resp *http.Response) { _ = resp.Body.Close() }
