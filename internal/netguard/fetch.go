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
	fetchTime       = 10 * time.Second // all of it, redirects and body too
	maxFetch        = 256 << 10        // bytes of body, as read after decompression, where nobody says
	maxLongFetch    = 32 << 20         // where somebody does
	longFetchFactor = 6                // for how many times as long a longer body is waited for
)

// Why a fetch was given up.
var (
	errTooManyHops = errors.New("more than 3 redirects")
	errOtherSite   = errors.New("redirected to another site")
	errNoLocation  = errors.New("redirected to nowhere")
	errTooBig      = errors.New("the body is larger than allowed")
)

// A FetchRequest asks for one document.
type FetchRequest struct {
	URL          string // https, or http to this computer itself where it is trusted; a fragment is not sent
	Accept       string // media types; empty means any
	ETag         string // of the copy at hand; empty for none
	LastModified string // of the copy at hand, as its server wrote it; empty for none
	// MaxBytes is how many bytes the body may have after decompression, at most 32 MiB; 0 means
	// 256 KiB. More than that is for what a person names.
	MaxBytes int
}

// A Fetched is a server's answer to a FetchRequest.
type FetchResult struct {
	URL    string // where it came from in the end
	Status int
	Header http.Header
	Body   []byte // only with status 200
}

// Fetch gets a document: at most 10 seconds (a minute for one of more than 256 KiB), 3 redirects within the same
// registrable domain, each judged like a request of its own. Any status is an
// answer. An address that cannot be right is an *aai.Error with code
// INVALID_PARAMS; whatever goes wrong on the way is one with code APP_NOT_RUNNING,
// with one text for all causes (see NetworkFailure), but the end of the caller's
// context is returned as it is; a body that is too large is AAI_JSON_INVALID.
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

// parseTarget reads the address of a FetchRequest.
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
	e := aai.Errorf(aai.InvalidParams, "url: %q is not an address that may be asked: %s", aai.CleanLabel(raw, 200), why)
	e.Hint = "Give an address such as https://example.com, without a user name or password."
	e.Delivery = aai.NotDelivered
	return e
}

// get makes one request of a Fetch.
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

// redirect returns the address that an answer sends to, if it does.
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

// normalizeURL brings an address to the form in which it is sent: its host as it was
// judged, and nothing that is for browsers alone.
func normalizeURL(u *url.URL, h Host) {
	u.Host = h.String()
	u.Fragment, u.RawFragment = "", ""
}

// readBody takes the body of an answer, if it is the document.
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
			Hint:    "Tell the site's owner; nothing can be done here.",
			Err:     errTooBig,
		}
	}
	f.Body = body
	return f, nil
}

// abortError is the error of a fetch that ended on its way.
func (c *Client) abortError(ctx context.Context, h Host, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if known, is := errors.AsType[*aai.Error](err); is {
		if known.Code != aai.AppNotRunning {
			return known
		}
		// Where a redirect led is told to the log alone.
		return unreachable(h, classify(known.Err), !known.RetrySafe())
	}
	return unreachable(h, classify(err), true)
}

// closeBody ends an answer whose body nobody reads any further. The connection ends
// with it: reading on might never end.
func closeBody(resp *http.Response) { _ = resp.Body.Close() }
