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

// Secrets stores tokens and keys, sealed. It is safe for concurrent use, also by several
// processes.
type Secrets interface {
	// Get returns the value under the id. If there is none, it returns nil, or an error that is
	// fs.ErrNotExist.
	Get(ctx context.Context, id string) ([]byte, error)
	// Update replaces the value under the id with the result of edit, and deletes it if that is
	// nil. No other process updates the same id while edit runs. old is the current value, or nil.
	// If edit fails, Update changes nothing and returns its error. The value is on disk when
	// Update returns.
	Update(ctx context.Context, id string, edit func(old []byte) ([]byte, error)) error
	// Names returns the ids that begin with the prefix, in any order.
	Names(ctx context.Context, prefix string) ([]string, error)
}

// SiteSettings are the user's settings for one web app or authorization server.
type SiteSettings struct {
	// ClientID is the gateway's client id at the authorization server; empty: not set.
	ClientID string
	// SecretID is the id in Secrets of the client secret; empty: there is none.
	SecretID string
	// RedirectHost and RedirectPort are for servers that compare redirect addresses exactly:
	// "127.0.0.1", "[::1]" or "localhost", and a port that must be free during a login. Zero
	// values: 127.0.0.1, any port.
	RedirectHost string
	RedirectPort int
	// Hosts are hosts of other sites that this app's logins and calls may use.
	Hosts []string
}

// Config configures an Authorizer. Client and Secrets must be set.
type Config struct {
	// Client sends requests. The Authorizer follows no redirects, even if Client would.
	Client  *http.Client
	Secrets Secrets
	// Browser opens an address in the user's browser; nil if there is none.
	Browser func(ctx context.Context, address string) error
	// HasScreen reports whether the user sees the browser; nil: always. The Authorizer calls it at
	// the beginning of a login.
	HasScreen func() bool
	// Sites holds the user's settings. A key is the host of the app or of the authorization server
	// (each with its port if it is not 443), or the issuer.
	Sites map[string]SiteSettings
	// ClientDocumentURL is the https address of the published client metadata document (see
	// ClientMetadataDocument); empty: not published.
	ClientDocumentURL string
	// AllowedEnv lists the environment variables that a local descriptor may name for a key.
	// Getenv reads them.
	AllowedEnv []string
	Getenv     func(string) string
	// CredentialsPage returns the address of a page of the gateway where the person enters the app's credentials now; nil
	// or "": there is none.
	CredentialsPage func(app string) string
	// AllowedTools returns the tools of an app that the user allowed, for the login parameter
	// aai_tools; nil: the called tool.
	AllowedTools func(app string) []string
	// ShortLived means that the process, and so a waiting login, ends with the call. Then only
	// Login begins a login.
	ShortLived bool
	// AllowLoopbackHTTP allows http to servers on this computer.
	AllowLoopbackHTTP bool
	Now               func() time.Time // nil means time.Now
	Log               *slog.Logger     // nil means none
}

// Time limits.
const (
	flowTime    = 5 * time.Minute  // a login, from the first page to the token
	deviceTime  = 15 * time.Minute // a login by device code
	requestTime = 20 * time.Second // one request to an authorization server
)

// Authorizer adds the user's credentials to requests to web apps. It is safe for concurrent use.
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

// New returns an Authorizer. It does no I/O.
func New(c Config) *Authorizer {
	l := &Authorizer{cfg: c, now: c.Now, log: c.Log, sleep: aai.Sleep, flows: make(map[string]*flow),
		failures: make(map[string]failedLogin), nonces: make(map[string]nonce)}
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

// Close cancels the waiting logins and waits for running refreshes, because their result must be
// stored.
func (l *Authorizer) Close() error {
	l.cancel()
	l.inFlight.Wait()
	return nil
}

// Authorize adds the user's credentials to the request, according to the recipe. If there are
// none, it begins a login and waits for it within ctx. After that the error is AUTH_REQUIRED with
// the page to visit, while the login continues. Other errors are AUTH_EXPIRED, AUTH_DENIED,
// AUTH_INVALID and, if the authorization server is unreachable, APP_NOT_RUNNING. All errors have
// Delivery set to NotDelivered.
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
		if err = l.authorizeOAuth(ctx, p, req); err == nil && len(p.auth.Also) > 0 {
			err = l.addKeys(ctx, p, req)
		}
	case aai.AuthAPIKey, aai.AuthBearer:
		err = l.addKeys(ctx, p, req)
	case aai.AuthAppCredential:
		err = l.addBoughtToken(ctx, p, req)
	case aai.AuthCookie:
		err = l.addCookies(ctx, p, req)
	default:
		err = aai.Errorf(aai.AuthInvalid, "auth.type of %s is %q, which this gateway does not know", p.name(),
			aai.CleanLabel(p.auth.Kind, 60))
	}
	return notDelivered(err)
}

// HandleRefusal handles a response that refused a request from Authorize. It returns again if the
// request may succeed after another Authorize. An error explains the refusal. Without an error and
// without again, the refusal is not about the login. HandleRefusal does not read the response
// body.
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
			err = p.loginRequired(aai.AuthExpired, "%s does not accept the %s it got", p.name(), p.keyWord())
		}
	}
	return again, notDelivered(err)
}

// notDelivered marks an error as not delivered: the app did not process the request, so a caller
// may repeat it.
func notDelivered(err error) error {
	if err == nil {
		return nil
	}
	e := *aai.AsError(err)
	e.Delivery = aai.NotDelivered
	return &e
}
