package oauth

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// Secrets is where tokens and keys are kept, sealed. It is safe for concurrent
// use, by several processes too.
type Secrets interface {
	// Get returns what is kept under the id, or nil, or an error that is
	// fs.ErrNotExist, where there is nothing.
	Get(ctx context.Context, id string) ([]byte, error)
	// Update replaces what is kept under the id by what edit makes of it, and
	// deletes it where that is nil. No other process updates the same id while edit
	// runs, and old is what is kept at that moment, or nil. When edit fails nothing
	// is changed, and its error is returned. What was written is on disk by the time
	// Update returns.
	Update(ctx context.Context, id string, edit func(old []byte) ([]byte, error)) error
	// Names returns the ids that begin with the prefix, in any order.
	Names(ctx context.Context, prefix string) ([]string, error)
}

// A Site is what a person decided about one web app or authorization server.
type SiteSettings struct {
	// ClientID is the gateway's name with the authorization server; empty: not
	// decided.
	ClientID string
	// SecretID is the id in Secrets of the client's secret; empty: it has none.
	SecretID string
	// RedirectHost and RedirectPort are for servers that compare the address to come
	// back to exactly: "127.0.0.1", "[::1]" or "localhost", and a port that must be
	// free during a login. Zero values: 127.0.0.1, any port.
	RedirectHost string
	RedirectPort int
	// Hosts are hosts of other sites that may take part in this app's logins and
	// calls.
	Hosts []string
}

// Config is what Logins need. Client and Secrets must be set.
type Config struct {
	// Client sends requests. It follows no redirects, whatever it is set to do.
	Client  *http.Client
	Secrets Secrets
	// Browser opens an address in the person's browser; nil where there is none.
	Browser func(ctx context.Context, address string) error
	// HasScreen reports whether the person sees what the browser shows; nil: always. It is
	// asked when a login begins.
	HasScreen func() bool
	// Sites are what a person decided, by the host of the app, by that of the
	// authorization server, each with its port if it is not 443, or by the issuer.
	Sites map[string]SiteSettings
	// ClientDocumentURL is the https address at which the gateway's client metadata document
	// is published (see ClientDocument); empty: nowhere.
	ClientDocumentURL string
	// AllowedEnv are the environment variables that a descriptor on this computer may name
	// for a key, and Getenv reads them.
	AllowedEnv []string
	Getenv     func(string) string
	// AllowedTools returns the tools of an app that a person allowed, for the parameter
	// aai_tools of a login; nil: the tool that is called.
	AllowedTools func(app string) []string
	// ShortLived says that the process ends with the call, and a login that waits with it:
	// then only Login begins one.
	ShortLived bool
	// AllowLoopbackHTTP allows http to servers on this computer.
	AllowLoopbackHTTP bool
	Now               func() time.Time // nil means time.Now
	Log               *slog.Logger     // nil means none
}

// How long things may take.
const (
	flowTime    = 5 * time.Minute  // a login, from the first page to the token
	deviceTime  = 15 * time.Minute // one by a code that is typed elsewhere
	requestTime = 20 * time.Second // one request to an authorization server
)

// Authorizer know the person to web apps. They are safe for concurrent use.
type Authorizer struct {
	cfg    Config
	client *http.Client
	now    func() time.Time
	log    *slog.Logger
	sleep  func(ctx context.Context, d time.Duration) error

	lifetime context.Context // of logins, which outlive the calls that began them
	cancel   context.CancelFunc
	inFlight sync.WaitGroup

	mu       sync.Mutex
	flows    map[string]*flow
	failures map[string]failedLogin
	nonces   map[string]nonce // of DPoP, by origin
}

// New makes Logins. It does no I/O.
func New(c Config) *Authorizer {
	l := &Authorizer{cfg: c, now: c.Now, log: c.Log, sleep: aai.Sleep, flows: make(map[string]*flow), failures: make(map[string]failedLogin), nonces: make(map[string]nonce)}
	if l.now == nil {
		l.now = time.Now
	}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	straight := *c.Client
	straight.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	straight.Jar = nil
	l.client = &straight
	l.lifetime, l.cancel = context.WithCancel(context.Background())
	return l
}

var _ io.Closer = (*Authorizer)(nil)

// Close ends the logins that wait for a person, and waits for refreshes that have
// begun: their answer must not be lost.
func (l *Authorizer) Close() error {
	l.cancel()
	l.inFlight.Wait()
	return nil
}

// Authorize adds to the request what makes the person known to the app, as the
// recipe says. Where that is not at hand a login is begun and waited for, as long
// as ctx has time; then the error is AUTH_REQUIRED with the page to visit, while
// the login goes on. Other errors are AUTH_EXPIRED, AUTH_DENIED, AUTH_INVALID and,
// when the authorization server cannot be reached, APP_NOT_RUNNING. All of them say
// that the request was not delivered.
func (l *Authorizer) Authorize(ctx context.Context, r *aai.Recipe, req *http.Request) error {
	p, err := l.realmOf(ctx, r)
	if err != nil || p == nil {
		return notDelivered(err)
	}
	if err := p.checkDestination(req.URL); err != nil {
		return notDelivered(err)
	}
	switch p.auth.Kind {
	case aai.AuthOAuth2:
		err = l.authorizeOAuth(ctx, p, req)
	case aai.AuthAPIKey, aai.AuthBearer:
		err = l.addKey(ctx, p, req)
	case aai.AuthAppCredential:
		err = l.addBoughtToken(ctx, p, req)
	case aai.AuthCookie:
		err = l.addCookies(ctx, p, req)
	default:
		err = aai.Errorf(aai.AuthInvalid, "auth.type of %s is %q, which this gateway does not know", p.name(), aai.CleanLabel(p.auth.Kind, 60))
	}
	return notDelivered(err)
}

// HandleRefusal reads an answer that refused a request which Authorize passed. Again says
// that the request, passed to Authorize once more, may be admitted now. An error
// says why it may not; without one the refusal is not about the login. The answer's
// body is not read.
func (l *Authorizer) HandleRefusal(ctx context.Context, r *aai.Recipe, resp *http.Response) (again bool, err error) {
	p, err := l.realmOf(ctx, r)
	if err != nil || p == nil || resp.Request == nil {
		return false, notDelivered(err)
	}
	switch p.auth.Kind {
	case aai.AuthOAuth2:
		again, err = l.handleOAuthRefusal(ctx, p, resp)
	case aai.AuthAppCredential:
		again, err = l.dropBoughtToken(ctx, p, resp)
	default:
		if resp.StatusCode == http.StatusUnauthorized {
			err = p.loginRequired(aai.AuthExpired, "%s does not accept the %s it was given", p.name(), p.keyWord())
		}
	}
	return again, notDelivered(err)
}

// notDelivered says of an error that the app did not take the request: it was not
// sent, or turned away at the door, so that it may be made again.
func notDelivered(err error) error {
	if err == nil {
		return nil
	}
	e := *aai.AsError(err)
	e.Delivery = aai.NotDelivered
	return &e
}
