package webapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/gybob/aai-gateway"
)

// Authorizer adds a user's credentials to requests. It is safe for concurrent use.
type Authorizer interface {
	// Authorize adds the credentials that the app expects: a header, a query parameter or a
	// cookie. Its error has the code AUTH_REQUIRED, AUTH_EXPIRED or AUTH_INVALID, with Visit or
	// Hint.
	Authorize(ctx context.Context, r *aai.Recipe, req *http.Request) error
	// HandleRefusal handles a 401, a 403 or a DPoP nonce request for the credentials that Authorize added. again means
	// that another try may succeed. HandleRefusal does not read the response body.
	HandleRefusal(ctx context.Context, r *aai.Recipe, resp *http.Response) (again bool, err error)
}

// Default limit of requests to one origin.
const (
	defaultRate  = 10 // per second
	defaultBurst = 20
)

// Config configures a Driver.
type Config struct {
	// Client sends all requests. If it is nil, the gateway has no web access and no tool compiles. The driver follows no
	// redirects and keeps no cookies.
	Client *http.Client
	// Authorizer adds credentials. If it is nil, no user can log in.
	Authorizer Authorizer
	// KeptResult returns the kept result of a call of the caller as JSON, or nil if there is none; nil: no
	// result is kept.
	KeptResult func(ctx context.Context, call string, by aai.Caller) ([]byte, error)
	// SecretFiles lists further files that are never sent.
	SecretFiles []string
	// Rate is the maximum of requests per second to one origin, over all calls. Burst is the
	// maximum at once. Zero or less means 10 and 20.
	Rate  float64
	Burst int
}

// Driver runs tools over HTTP. It implements [aai.Driver] and is safe for concurrent use.
type Driver struct {
	client     *http.Client
	authorizer Authorizer
	keptResult func(ctx context.Context, call string, by aai.Caller) ([]byte, error)
	secret     []string // files that are never sent
	limits     *limits
}

// New returns a Driver. It does no I/O.
func New(config Config) *Driver {
	if config.Rate <= 0 {
		config.Rate = defaultRate
	}
	if config.Burst <= 0 {
		config.Burst = defaultBurst
	}
	d := &Driver{authorizer: config.Authorizer, keptResult: config.KeptResult, secret: config.SecretFiles, limits: newLimits(config.Rate, config.Burst)}
	if config.Client != nil {
		client := *config.Client
		client.Jar = nil
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		d.client = &client
	}
	return d
}

// Compile returns the Action of a recipe that has HTTP set. Its error is an *aai.Error with code
// AAI_JSON_INVALID, or PERMISSION_DENIED without web access. The message begins with the
// descriptor's field.
//
// Data of a result holds a JSON response as JSON values, with numbers as json.Number. Other
// content is {"content_type", "size"}, with "base64" if it is small; text and pictures leave
// Data empty. A HEAD request returns {"status", "headers"}. UntrustedSource is the origin of
// the base URL. Errors are *aai.Errors with Delivery set.
func (d *Driver) Compile(r *aai.Recipe) (aai.Action, error) {
	t, err := d.compile(r)
	if err != nil {
		return nil, err
	}
	return t.run, nil
}

func (d *Driver) compile(r *aai.Recipe) (*tool, error) {
	if r.HTTP == nil {
		return nil, aai.Errorf(aai.DescriptorInvalid, "execution: expected an HTTP request")
	}
	if d.client == nil {
		return nil, aai.Errorf(aai.PermissionDenied, "execution: this gateway has no web access")
	}
	if !slices.Contains(methods(), r.HTTP.Method) {
		return nil, invalid("method", "GET, HEAD, POST, PUT, PATCH or DELETE", r.HTTP.Method)
	}
	for i, name := range r.Params {
		if slices.Contains(r.Params[:i], name) {
			return nil, invalid("parameters", "every name once", name)
		}
	}
	switch r.OutputParser {
	case "", parseJSON, parseString:
	default:
		return nil, invalid("output_parser", `"json", "string" or none`, r.OutputParser)
	}
	t := &tool{driver: d, recipe: r, method: r.HTTP.Method}
	var err error
	if t.address, err = newAddress(r); err != nil {
		return nil, err
	}
	if err := t.setHeaders(); err != nil {
		return nil, err
	}
	if err := t.setPlaces(); err != nil {
		return nil, err
	}
	t.limit = d.limits.of(t.address.origin)
	return t, nil
}

func methods() []string {
	return []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	}
}

func invalid(field, expected, got string) *aai.Error {
	return aai.Errorf(aai.DescriptorInvalid, "%s: expected %s, got %q", field, expected, aai.CleanLabel(got, 100))
}

// tool is one request that a descriptor defines.
type tool struct {
	driver         *Driver
	recipe         *aai.Recipe
	method         string
	address        *address
	headers        http.Header           // from the descriptor; the tool's headers override the app's
	places         map[string]paramPlace // of the parameters, by name
	unplacedParams []string              // parameters outside the path, in the descriptor's order
	defaultPlace   string                // place of parameters without a declared place: "query" or "body"
	body           bodyForm
	bodyIsParam    bool // one parameter is the entire body
	limit          *limit
}

// String returns the tool's name for messages, without the arguments of a call.
func (t *tool) String() string {
	return t.method + " " + aai.CleanLabel(t.recipe.HTTP.Path, 100) + " of " + t.address.origin
}
