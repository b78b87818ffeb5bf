package netguard

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/gybob/aai-gateway"
)

// maxHeader is the limit for the header of an answer in bytes.
const maxHeader = 16 << 10

// minFailureTime is the minimum duration of every failure to reach an untrusted host, so that
// timing does not distinguish a rejected address from a missing name.
const minFailureTime = 400 * time.Millisecond

// A Config lists the permissions of a person beyond the public web. The zero Config has none.
type Config struct {
	// AllowPrivate lists trusted hosts on a private network, each "host", for the ports 80 and
	// 443, or "host:port". Entries that ValidateTrustedHost rejects have no effect. A loopback
	// host in the list may be reached over http.
	AllowPrivate []string
	// TrustLoopback trusts this computer's own servers at any port, over http too.
	TrustLoopback bool
	// RootCAs are the authorities for certificates; nil means the system's.
	RootCAs *x509.CertPool
	// Resolver resolves names; nil means the system's.
	Resolver *net.Resolver
}

// A Client sends guarded requests. It is safe for concurrent use.
type Client struct {
	guard        guard
	transport    *http.Transport
	minFailure   time.Duration // minimum duration of a failure
	fetchTimeout time.Duration // limit for a fetch
}

// New returns a Client. It opens no connection.
func New(c Config) *Client {
	g := newGuard(c)
	return &Client{
		guard:        g,
		minFailure:   minFailureTime,
		fetchTimeout: fetchTime,
		transport: &http.Transport{
			Proxy:                  nil, // a proxy would dial for us, unguarded
			DialContext:            g.dial,
			TLSClientConfig:        &tls.Config{RootCAs: c.RootCAs, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    dialTimeout,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: maxHeader,
			MaxIdleConnsPerHost:    4,
			MaxIdleConns:           64,
			IdleConnTimeout:        30 * time.Second,
		},
	}
}

// HTTP returns a client for API calls and logins. It follows no redirects and returns such an
// answer unchanged. It stores no cookies and has no deadline but the request's context. The
// caller must limit the reading of the body. For a rejected or unreachable host the *url.Error
// wraps an *aai.Error with code APP_NOT_RUNNING, with the same text for all causes; its Delivery
// tells whether anything may have been sent. If the request's context ends, its error is
// returned.
func (c *Client) HTTP() *http.Client {
	return &http.Client{
		Transport:     c,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// RoundTrip sends a request if the guard admits it; see HTTP.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.send(req)
	if err == nil {
		return resp, nil
	}
	if ended := req.Context().Err(); ended != nil {
		return nil, ended
	}
	return nil, err
}

// send is RoundTrip with an error that always contains the delivery.
func (c *Client) send(req *http.Request) (*http.Response, *aai.Error) {
	begun := time.Now()
	h, err := c.admit(req)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // as a RoundTripper must
		}
		return nil, unreachable(h, &failureCause{kind: refusedByGuard, cause: err}, false)
	}
	var sent atomic.Bool
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		WroteHeaders: func() { sent.Store(true) },
	})
	resp, err := c.transport.RoundTrip(req.WithContext(ctx))
	if err == nil {
		return resp, nil
	}
	if c.guard.trust(h) == publicHost {
		wait(req.Context(), c.minFailure-time.Since(begun))
	}
	return nil, unreachable(h, classify(err), sent.Load())
}

// admit checks the URL and the Host header of a request. The address behind a name is checked at
// the time of dialing.
func (c *Client) admit(req *http.Request) (Host, error) {
	h, err := hostOf(req.URL)
	if err != nil {
		return h, err
	}
	if req.Host != "" && req.Host != req.URL.Host {
		return h, errOtherHost
	}
	return h, c.guard.admitScheme(req.URL.Scheme, h)
}

// admitScheme permits https, and http to a trusted loopback host.
func (g guard) admitScheme(scheme string, h Host) error {
	if scheme == "https" || scheme == "http" && g.trust(h) == loopbackHost {
		return nil
	}
	return errNotHTTPS
}

// hostOf returns the host of a URL, which must not contain a user or password.
func hostOf(u *url.URL) (Host, error) {
	if u.User != nil {
		return Host{}, errUserinfo
	}
	host := u.Host
	if u.Port() == "" && u.Scheme == "http" {
		host += ":80"
	}
	return ParseHost(host)
}
