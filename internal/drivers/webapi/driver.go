package webapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/gybob/aai-gateway"
)

// An Authorizer makes a person known to a web app. It is safe for concurrent use.
type Authorizer interface {
	// Authorize adds to the request what the app asks for: a header, a part of the
	// query or a cookie, and nothing else. Its error has the code AUTH_REQUIRED,
	// AUTH_EXPIRED or AUTH_INVALID, with Visit or Hint.
	Authorize(ctx context.Context, r *aai.Recipe, req *http.Request) error
	// HandleRefusal hears that the server answered 401 or 403, or asked for a DPoP nonce,
	// to what Authorize added; again says that another try may succeed. It leaves
	// the body of the answer alone.
	HandleRefusal(ctx context.Context, r *aai.Recipe, resp *http.Response) (again bool, err error)
}

// The limit of requests to one origin when Config has none.
const (
	defaultRate  = 10 // a second
	defaultBurst = 20
)

// Config is what a Driver must be told.
type Config struct {
	// Client sends everything. Nil means that there is no way to the web: no tool
	// can be used. Its redirects and cookies are not used.
	Client *http.Client
	// Authorizer makes people known to apps. Nil means that nobody can log in.
	Authorizer Authorizer
	// Rate is how many requests a second go to one origin at most, over all calls;
	// Burst is how many may go at once. Zero or less means 10 and 20.
	Rate  float64
	Burst int
}

// A Driver runs tools over HTTP. It is an [aai.Driver], safe for concurrent use.
type Driver struct {
	client     *http.Client
	authorizer Authorizer
	limits     *limits
}

// New makes a Driver. It does no I/O.
func New(config Config) *Driver {
	if config.Rate <= 0 {
		config.Rate = defaultRate
	}
	if config.Burst <= 0 {
		config.Burst = defaultBurst
	}
	d := &Driver{authorizer: config.Authorizer, limits: newLimits(config.Rate, config.Burst)}
	if config.Client != nil {
		client := *config.Client
		client.Jar = nil
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		d.client = &client
	}
	return d
}

// Compile makes the Action of a recipe that has HTTP set. Its error is an
// *aai.Error with code AAI_JSON_INVALID, or PERMISSION_DENIED where there is no way
// to the web; the message begins with the descriptor's field.
//
// The Action's results have in Data a JSON answer as JSON values, with numbers as
// json.Number; what is neither JSON, text nor a picture is {"content_type", "size"}
// and, if it is small, "base64"; the answer to HEAD is {"status", "headers"}. Foreign
// is the origin of the base URL. Errors are *aai.Errors with Delivery set.
func (d *Driver) Compile(r *aai.Recipe) (aai.Action, error) {
	if r.HTTP == nil {
		return nil, aai.Errorf(aai.DescriptorInvalid, "execution: expected an HTTP request")
	}
	if d.client == nil {
		return nil, aai.Errorf(aai.PermissionDenied, "execution: this gateway has no way to the web")
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
	return t.run, nil
}

func methods() []string {
	return []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	}
}

func invalid(field, expected, got string) *aai.Error {
	return aai.Errorf(aai.DescriptorInvalid, "%s: expected %s, got %q", field, expected, aai.CleanLabel(got, 100))
}

// A tool is one request that a descriptor describes.
type tool struct {
	driver         *Driver
	recipe         *aai.Recipe
	method         string
	address        *address
	headers        http.Header           // the descriptor's, the tool's own over those of all
	places         map[string]paramPlace // of the parameters, by name
	unplacedParams []string              // parameters that are not in the path, in the descriptor's order
	defaultPlace   string                // where those go of which nobody says it: "query" or "body"
	body           bodyForm
	bodyIsParam    bool // it is one parameter
	limit          *limit
}

// String names the tool in messages, without the values of a call.
func (t *tool) String() string {
	return t.method + " " + aai.CleanLabel(t.recipe.HTTP.Path, 100) + " of " + t.address.origin
}
