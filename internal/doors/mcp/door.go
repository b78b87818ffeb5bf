package mcp

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/mcp/messages"
	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
	"github.com/gybob/aai-gateway/internal/doors/mcp/tasks"
)

// Config is what a Door needs.
type Config struct {
	Gateway *aai.Gateway
	Version string       // of the program, for serverInfo
	Log     *slog.Logger // never writes to the protocol's own stream; nil: nowhere
	// UseCanonicalNames lists the tools by their canonical ids, such as "aai:exec",
	// which the APIs of most models refuse.
	UseCanonicalNames bool
	// DirectApps names apps whose tools are listed themselves, under their own names,
	// in the place of the app's one entry.
	DirectApps []string
	// PeerIdentity is the identity of who asks on standard input; empty where it is not known.
	PeerIdentity string
	// OnlyDirect lists nothing else, for agents that only drive the screen.
	OnlyDirect bool
	// ListWebDiscovery lists the tool that finds the apps of web sites.
	ListWebDiscovery bool
	// ListSearch lists, where there are too many apps for an entry each, a tool that finds the
	// tools of all of them, by the own app's search.
	ListSearch bool
	// FavouriteApps are the ids of the apps that have an entry all the same, those that the
	// person uses most first. It does not block; nil: there are none.
	FavouriteApps func() []string
	// ListCache keeps what is shown where apps are too many for an entry each, so that a later
	// door shows it before it has looked at the apps; nil: each looks first.
	ListCache ListCache
	// Resources are what clients may read and follow, besides those of apps.
	Resources []Resource
	// Tasks bounds what calls that outlast their requests take.
	Tasks tasks.Limits
	// TaskSyncTimeout is how long a client that knows tasks waits for a result before
	// the call becomes one; zero means tasks.DefaultPatience.
	TaskSyncTimeout time.Duration
}

// A Door serves MCP clients. It is safe for concurrent use.
type Door struct {
	gateway        *aai.Gateway
	log            *slog.Logger
	canonical      bool
	server         *mcp.Server
	tasks          *tasks.Layer
	direct         []string
	onlyDirect     bool
	web, hasSearch bool
	favourites     func() []string
	listCache      ListCache
	version        string
	scanned        chan struct{} // closed when the apps have been looked at
	readyToScan    chan struct{} // closed when the apps may be looked at
	allowScanOnce  sync.Once
	peer           string
	session        string // stands for this process where the transport has no sessions
	resources      []*listedResource
	descriptors    *listedResource // of apps that are listed
	subscriptions  *subscriptions
	outputs        *outputs
	programs       programCache
	clients        clientStates

	listing                      sync.Mutex           // held while lists are made; taken before sync
	sync                         sync.Mutex           // guards what is listed
	listed                       map[string]listing   // by the app's id
	guides                       map[string]guide     // by the tool's name
	listedTools                  map[string]*aai.Tool // those of direct apps, by name
	listedPrompts                map[string]bool
	sharedSelection              entrySelection           // of clients without a session of their own
	supported                    map[string]tasks.Support // by tool, where it is not the door's to say
	cachedEntries                map[string]*mcp.Tool     // by app: what is shown of them until they are looked at; nil: nothing
	firstScanDone, listRequested bool                     // ready is closed; a client has asked for the list
}

// firstScanTimeout is how long a new connection waits for the first look at the apps.
// A list that is complete from the start needs no list_changed, which many
// clients ignore; but a slow disk must not keep a client from its handshake.
const firstScanTimeout = 2 * time.Second

// New returns a door to the gateway. It does no I/O.
func New(cfg Config) *Door { return newDoor(cfg, func(*mcp.ServerOptions) {}) }

// newDoor is New; alter has the last word on how the server is made.
func newDoor(cfg Config, alter func(*mcp.ServerOptions)) *Door {
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	d := &Door{
		listCache: cfg.ListCache, version: cfg.Version, scanned: make(chan struct{}), readyToScan: make(chan struct{}),
		gateway: cfg.Gateway, log: log, canonical: cfg.UseCanonicalNames,
		session: rand.Text(), listed: make(map[string]listing), guides: make(map[string]guide), listedTools: make(map[string]*aai.Tool),
		direct: cfg.DirectApps, onlyDirect: cfg.OnlyDirect, peer: cfg.PeerIdentity, web: cfg.ListWebDiscovery, hasSearch: cfg.ListSearch, favourites: cfg.FavouriteApps,
		listedPrompts: make(map[string]bool), outputs: newOutputs(), clients: clientStates{of: make(map[*mcp.ServerSession]*clientState)},
	}
	d.subscriptions = d.newSubscriptions()
	options := d.serverOptions()
	alter(options)
	d.server = mcp.NewServer(shortInfo(cfg.Version), options)
	if !d.onlyDirect {
		d.server.AddTool(d.execTool(), d.exec)
	}
	if cfg.ListWebDiscovery && !d.onlyDirect {
		d.server.AddTool(d.discoverTool(), d.discover)
	}
	if d.canSearch() {
		d.server.AddTool(d.searchTool(), d.run(aai.BuiltinApp, searchToolName))
	}
	d.addResources(cfg.Resources)
	d.addOutputResource()
	d.tasks = tasks.New(tasks.Config{
		Support: d.taskSupport, Owner: d.taskOwner, ContinueContext: streamable.ContinueContext, Log: log,
		SyncTimeout: cfg.TaskSyncTimeout, Limits: cfg.Tasks,
	})
	// The last one added is the first to see a request.
	d.server.AddReceivingMiddleware(limitInitializeVersion, withFullInfo(cfg.Version))
	d.server.AddReceivingMiddleware(d.waitForApps, d.canonicalNames, d.withGuides, d.setLevel, d.filterListen)
	d.server.AddSendingMiddleware(d.filterNotifications)
	d.tasks.Install(d.server)
	d.server.AddReceivingMiddleware(streamable.Middleware, restoreArguments)
	d.server.AddReceivingMiddleware(d.recoverPanics)
	return d
}

func (d *Door) serverOptions() *mcp.ServerOptions {
	return &mcp.ServerOptions{
		Instructions:            d.instructions(),
		CompletionHandler:       d.complete,
		SubscribeHandler:        d.subscribe,
		UnsubscribeHandler:      d.unsubscribe,
		RootsListChangedHandler: d.rootsChanged,
		Logger:                  slog.New(warnings{d.log.Handler()}),
		PageSize:                10_000,
		// Which apps somebody has is nobody else's business.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
		Capabilities: &mcp.ServerCapabilities{
			Tools:       &mcp.ToolCapabilities{ListChanged: true},
			Resources:   &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true},
			Prompts:     &mcp.PromptCapabilities{ListChanged: true},
			Logging:     &mcp.LoggingCapabilities{},
			Completions: &mcp.CompletionCapabilities{},
		},
	}
}

// shutdownTimeout is how long calls that are running when the door must close have to
// end. After that they are left behind.
const shutdownTimeout = 2 * time.Second

// ServeStdio serves one client: it reads requests from in and writes to out, a
// message a line. It returns when in ends and everything asked until then is
// answered. When out cannot be written, or ctx ends, it cancels what is running and
// returns an error, the context's there, at the latest two seconds later.
func (d *Door) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	stop := d.watchApps(ctx)
	defer stop()
	t := newStdio(in, out)
	client := d.tasks.Connect(t.notify)
	ended := make(chan error, 1)
	go func() {
		// The SDK would wait for every call, and for answers that cannot be written.
		err := d.server.Run(client.Context(context.WithoutCancel(ctx)), t)
		client.End(shutdownTimeout)
		ended <- err
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	case <-t.writeFailed:
	}
	_ = t.Close() // never fails
	select {
	case <-ended:
	case <-time.After(shutdownTimeout):
		client.End(0)
		d.log.Warn("the door closes although calls are still running")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.cause
}

// restoreArguments gives calls the arguments that went around the SDK on their way from stdio.
func restoreArguments(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		return next(ctx, method, messages.RestoreArguments(req, messages.ExtractedArguments(req)))
	}
}

// HTTP returns a server for the door. It follows the list of apps until Close.
func (d *Door) HTTP(cfg streamable.Config) (*streamable.Server, error) {
	var unfollow func()
	served, err := streamable.New(cfg, streamable.Backend{
		Server: d.server, Log: d.log, SDKLog: slog.New(warnings{d.log.Handler()}),
		Shutdown: func(late context.Context) {
			unfollow()
			deadline, _ := late.Deadline()
			d.tasks.End(time.Until(deadline)) // those without a session, too
		},
	})
	if err != nil {
		return nil, err
	}
	unfollow = d.watchApps(context.Background())
	return served, nil
}

// watchApps lists the apps, now and after each change, until stop. It waits for the first
// look at them, unless it is known what to show before.
func (d *Door) watchApps(ctx context.Context) (stop func()) {
	known := d.showCached()
	if !known {
		d.allowScan()
	}
	late := time.AfterFunc(maxScanDelay, d.allowScan)
	stop = d.gateway.Catalog.OnChange(d.list)
	listed := make(chan struct{})
	go func() {
		defer close(listed)
		defer late.Stop()
		select {
		case <-d.readyToScan:
			d.list()
		case <-ctx.Done():
		}
	}()
	if known {
		return stop
	}
	select {
	case <-listed:
	case <-time.After(firstScanTimeout):
		d.log.Warn("the first look at the apps is slow; serving without them until it is done")
	case <-ctx.Done():
	}
	return stop
}

// warnings lets through what the SDK has to say from warnings up. Its news of
// every connection would fill the logs of clients, which show them to people.
type warnings struct{ slog.Handler }

// Enabled implements slog.Handler.
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}
