package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/events"
)

// Secrets stores values of servers' variables and permissions in encrypted form.
type Secrets interface {
	// Get returns the value under the id, or nil if there is none.
	Get(ctx context.Context, id string) ([]byte, error)
	// Update replaces the value under the id with the result of edit; nil removes it.
	Update(ctx context.Context, id string, edit func(old []byte) ([]byte, error)) error
}

// Authorizer adds the user's credentials to requests for a server at a URL; see webapi.Authorizer.
type Authorizer interface {
	Authorize(ctx context.Context, r *aai.Recipe, req *http.Request) error
	HandleRefusal(ctx context.Context, r *aai.Recipe, resp *http.Response) (again bool, err error)
}

// Config configures a Driver. Do not change it after New.
type Config struct {
	Folder       string                   // of the listing cache
	Home         string                   // working directory of servers with none in the recipe
	Getenv       func(name string) string // variables of this process; nil: none
	Secrets      Secrets                  // nil: no values are stored
	GuardCommand []string                 // this program's command that supervises a process; see process.Limits
	Asker        aai.Asker                // shows servers' questions in a window; nil: none
	Client       *http.Client             // for servers at addresses; nil: no web access
	Authorizer   Authorizer               // nil: no login
	Version      string                   // of the gateway, sent to servers
	ToolTimeout  time.Duration            // of servers' tools; zero means aai.DefaultTimeout
	Events       *events.Recorders        // of servers' notifications; nil: they cannot be read
	IdleTimeout  time.Duration            // before an unused server is stopped; zero means five minutes
	Log          *slog.Logger             // receives the standard error of servers; nil discards it
}

// defaultIdleTimeout is the default of Config.IdleTimeout.
const defaultIdleTimeout = 5 * time.Minute

// Driver runs the tools of MCP servers. It implements [aai.Driver] and is safe for concurrent use.
type Driver struct {
	config Config
	cache  listingCache
	log    *slog.Logger

	mu      sync.Mutex
	servers map[string]*server    // by app and recipe
	apps    map[string]*servedApp // by app
	closed  bool

	listeners aai.Listeners
}

// New returns a Driver. It does no I/O: the first call that needs a server starts it.
func New(config Config) *Driver {
	if config.Getenv == nil {
		config.Getenv = func(string) string { return "" }
	}
	if config.IdleTimeout <= 0 {
		config.IdleTimeout = defaultIdleTimeout
	}
	if config.ToolTimeout <= 0 {
		config.ToolTimeout = aai.DefaultTimeout
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	return &Driver{config: config, cache: listingCache{config.Folder}, log: config.Log, servers: make(map[string]*server),
		apps: make(map[string]*servedApp)}
}

// Close ends every server. Calls in flight end with delivery unknown, and later ones with
// APP_NOT_RUNNING.
func (d *Driver) Close() error {
	d.mu.Lock()
	d.closed = true
	servers := d.servers
	d.servers = make(map[string]*server)
	d.mu.Unlock()
	var all sync.WaitGroup
	for _, s := range servers {
		all.Go(s.close)
	}
	all.Wait()
	return nil
}

// Compile returns the Action of a recipe that has MCP set. If the recipe names no tool, the Action
// starts the server and returns its listing. The error is an *aai.Error with code
// AAI_JSON_INVALID, or PERMISSION_DENIED without web access; its message begins with the
// descriptor's field. The Action's errors are *aai.Errors with Delivery set; its results name the
// server in UntrustedSource.
func (d *Driver) Compile(r *aai.Recipe) (aai.Action, error) {
	switch {
	case r.MCP == nil || (r.MCP.Command == "") == (r.MCP.URL == ""):
		return nil, aai.Errorf(aai.DescriptorInvalid, "execution: expected an MCP server, by its command or its url")
	case r.MCP.URL != "" && d.config.Client == nil:
		return nil, aai.Errorf(aai.PermissionDenied, "url: this gateway has no web access")
	case r.MCP.Tool == "":
		return func(ctx context.Context, _ *aai.Call) (*aai.Result, error) { return d.start(ctx, r) }, nil
	}
	return func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		return d.serverOf(r).call(ctx, call, r.MCP.Tool, "")
	}, nil
}

// serverOf returns the server of a recipe. It does not start it.
func (d *Driver) serverOf(r *aai.Recipe) *server {
	digest := recipeDigest(r)
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.servers[r.App+"\x00"+digest]
	if s == nil {
		s = &server{driver: d, recipe: r, digest: digest, closed: d.closed}
		if !d.closed {
			d.servers[r.App+"\x00"+digest] = s
		}
	}
	return s
}

// recipeDigest returns the digest of the server's command or address, without the tool.
func recipeDigest(r *aai.Recipe) string {
	whole := *r.MCP
	whole.Tool = ""
	b, err := json.Marshal(whole)
	if err != nil {
		return "" // strings always encode
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
