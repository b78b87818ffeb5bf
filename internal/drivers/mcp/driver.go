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
)

// Secrets keep values that no file may show.
type Secrets interface {
	// Get returns what is kept under the id, or nil where there is nothing.
	Get(ctx context.Context, id string) ([]byte, error)
	// Update replaces what is kept under the id by what edit makes of it.
	Update(ctx context.Context, id string, edit func(old []byte) ([]byte, error)) error
}

// An Authorizer makes the person known to a server at an address; see webapi's.
type Authorizer interface {
	Authorize(ctx context.Context, r *aai.Recipe, req *http.Request) error
	HandleRefusal(ctx context.Context, r *aai.Recipe, resp *http.Response) (again bool, err error)
}

// Config is what a Driver must be told. It is not changed after New.
type Config struct {
	Folder       string                   // where what servers say of themselves is kept
	Home         string                   // where servers are started whose recipe does not say
	Getenv       func(name string) string // this process's variables; nil: there are none
	Secrets      Secrets                  // nil: no value is kept
	GuardCommand []string                 // the command by which this program guards a process; see leash.Limits
	Asker        aai.Asker                // puts servers' questions in a window; nil: there is none
	Client       *http.Client             // the way to servers at addresses; nil: there is none
	Authorizer   Authorizer               // nil: nobody can log in
	Version      string                   // of the gateway, as it is told to servers
	ToolTimeout  time.Duration            // of servers' tools; zero means aai.DefaultTimeout
	IdleTimeout  time.Duration            // after which a server that nobody uses is stopped; zero means five minutes
	Log          *slog.Logger             // gets what servers write to standard error; nil means nowhere
}

// defaultIdleTimeout is how long a server that nobody uses is kept.
const defaultIdleTimeout = 5 * time.Minute

// A Driver runs the tools of MCP servers. It is an [aai.Driver], safe for concurrent use.
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

// New makes a Driver. It does no I/O: a server is started by the first call that needs it.
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
	return &Driver{config: config, cache: listingCache{config.Folder}, log: config.Log, servers: make(map[string]*server), apps: make(map[string]*servedApp)}
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

// Compile makes the Action of a recipe that has MCP set; of one that names no tool, one that
// starts the server and says what it has. Its error is an *aai.Error with code
// AAI_JSON_INVALID, or PERMISSION_DENIED where there is no way to the web; the message begins
// with the descriptor's field. The Action's errors are *aai.Errors with Delivery set, its
// results name the server in Foreign.
func (d *Driver) Compile(r *aai.Recipe) (aai.Action, error) {
	switch {
	case r.MCP == nil || (r.MCP.Command == "") == (r.MCP.URL == ""):
		return nil, aai.Errorf(aai.DescriptorInvalid, "execution: expected an MCP server, by its command or its url")
	case r.MCP.URL != "" && d.config.Client == nil:
		return nil, aai.Errorf(aai.PermissionDenied, "url: this gateway has no way to the web")
	case r.MCP.Tool == "":
		return func(ctx context.Context, _ *aai.Call) (*aai.Result, error) { return d.start(ctx, r) }, nil
	}
	return func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		return d.serverOf(r).call(ctx, call, r.MCP.Tool, "")
	}, nil
}

// serverOf is the server of a recipe, which need not run.
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

// recipeDigest names what is started or reached, whatever tool of it is meant.
func recipeDigest(r *aai.Recipe) string {
	whole := *r.MCP
	whole.Tool = ""
	b, err := json.Marshal(whole)
	if err != nil {
		return "" // strings can always be written
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
