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

// maxHeader is how many bytes of header an answer may have.
const maxHeader = 16 << 10

// minFailureTime is how long every failure to reach a stranger's host takes at least,
// so that the time does not tell an address that was refused from a name that
// does not exist.
const minFailureTime = 400 * time.Millisecond

// A Config says what a person allows beyond the public web. The zero Config
// allows nothing beyond it.
type Config struct {
	// AllowPrivate are the hosts that a person trusts to be on a private network,
	// each "host", for the ports 80 and 443, or "host:port". An entry that
	// CheckTrusted finds fault with trusts nobody. A loopback host in it may be
	// spoken to over http.
	AllowPrivate []string
	// TrustLoopback trusts this computer's own servers at any port, over http too.
	TrustLoopback bool
	// RootCAs are the authorities that certificates are held against; nil means
	// the system's.
	RootCAs *x509.CertPool
	// Resolver looks up names; nil means the system's.
	Resolver *net.Resolver
}

// A Client is the way out. It is safe for concurrent use.
type Client struct {
	guard        guard
	transport    *http.Transport
	minFailure   time.Duration // how long a failure takes at least
	fetchTimeout time.Duration // how long a fetch takes at most
}

// New makes a Client. It connects to nothing.
func New(c Config) *Client {
	g := newGuard(c)
	return &Client{
		guard:        g,
		minFailure:   minFailureTime,
		fetchTimeout: fetchTime,
		transport: &http.Transport{
			Proxy:                  nil, // a proxy would dial in our place, unguarded
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

// HTTP returns a client for API calls and logins. It follows no redirects: the
// answer that asks for one is returned as it is. It keeps no cookies and has no
// deadline but the request's context. Whoever reads the body must limit it. A host that
// is refused or cannot be reached is an *aai.Error with code APP_NOT_RUNNING
// within the *url.Error, with one text for all causes; its Delivery says whether
// anything may have been sent. The end of the request's context is returned as
// it is.
func (c *Client) HTTP() *http.Client {
	return &http.Client{
		Transport:     c,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Close ends the connections that are kept for the next request.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// RoundTrip makes one request that the guard admits; see HTTP.
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

// send is RoundTrip whose error always says how far the request came.
func (c *Client) send(req *http.Request) (*http.Response, *aai.Error) {
	begun := time.Now()
	h, err := c.admit(req)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // a RoundTripper must; nothing was read
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

// admit judges a request by what it says. What it does not say, such as the
// address behind a name, is judged when it is dialled.
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

// admitScheme allows https, and http to this computer itself where it is trusted.
func (g guard) admitScheme(scheme string, h Host) error {
	if scheme == "https" || scheme == "http" && g.trust(h) == loopbackHost {
		return nil
	}
	return errNotHTTPS
}

// hostOf returns the host of an address; it may say no user or password.
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
