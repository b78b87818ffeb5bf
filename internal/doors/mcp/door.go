// Package mcp is the door for AI agents: an MCP server, built with the official Go SDK, in
// front of the gateway.
//
// The list of tools is short however many apps are installed: one entry for each app, which
// returns the app's guide, and aai_exec, which runs a tool of any app. Each call becomes an
// aai.Call and goes through Gateway.Do; the door only translates to and from the protocol.
// The stdio transport is here, HTTP in package streamable.
package mcp

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
	"github.com/gybob/aai-gateway/internal/doors/mcp/tasks"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// Config holds the dependencies and settings of a Door.
type Config struct {
	Gateway *gateway.Gateway
	Version string       // of the program, for serverInfo
	Log     *slog.Logger // must not write to the protocol's stream; nil discards it
	// UseCanonicalNames lists the tools by their canonical ids, such as "aai:exec", which
	// the APIs of most models refuse.
	UseCanonicalNames bool
	// DirectApps names apps whose tools are listed under their own names, instead of one
	// entry for the app.
	DirectApps []string
	// PeerIdentity is the aai.Caller.Identity of the client on standard input; empty if unknown.
	PeerIdentity string
	// OnlyDirect lists only the tools of DirectApps, for agents that only operate the screen.
	OnlyDirect bool
	// OwnDesktop says that the windows are those of a desktop that only the agent uses.
	OwnDesktop bool
	// ListWebDiscovery lists the tool that finds the apps of web sites.
	ListWebDiscovery bool
	// ListSearch lists a tool that searches the tools of all apps, if there are too many
	// apps for an entry each.
	ListSearch bool
	// FavouriteApps returns the ids of the apps that have an entry beside the search, the
	// most used first. It must not block; nil means none.
	FavouriteApps func() []string
	// Pinned returns the tools that the person has pinned; see PinID. Nil: none.
	Pinned func() []string
	// ToolGuide returns the guide to a tool of an app, in which words of the app are quoted. Nil: none.
	ToolGuide func(app *aai.App, tool string) string
	// ListCache stores the app entries for a door of a later process, if there are too many apps for an
	// entry each. Nil: every door scans the apps first.
	ListCache ListCache
	// AskForHelp lets the person describe, in a form of the client, an element that was not found, and says there how
	// windows become readable.
	AskForHelp bool
	// ProjectFolder is the root of clients that report none; "": they have none.
	ProjectFolder string
	// HelpTimeout limits the time for an answer to such a form. Zero means 45 seconds.
	HelpTimeout time.Duration
	// OnConversationEnd is called when a session has ended, with the Conversation of its callers; may be nil.
	OnConversationEnd func(key string)
	// Resources are further resources that clients may read and subscribe to, besides those of apps.
	Resources []Resource
	// Tasks limits the resources of calls that outlast their requests.
	Tasks tasks.Limits
	// TaskSyncTimeout is the time after which a call becomes a task, if its client declares the extension
	// for tasks; zero means tasks.DefaultSyncTimeout.
	TaskSyncTimeout time.Duration
}

// A Door serves MCP clients. It is safe for concurrent use.
type Door struct {
	cfg           Config
	session       string // identifies this process where the transport has no sessions
	server        *mcp.Server
	tasks         *tasks.Layer
	resources     []*listedResource
	subscriptions *subscriptions
	outputs       *outputs
	programs      programCache
	clients       clientStates
	scan          firstScan
	lists         lists
}

// A firstScan is the state of the first scan of the apps. lists.mu guards the last three fields.
type firstScan struct {
	allowed   chan struct{} // closed when the scan may begin
	allowOnce sync.Once
	done      chan struct{} // closed after the scan

	isDone    bool                 // done is closed
	requested bool                 // a client has requested the list
	cached    map[string]*mcp.Tool // by app: entries to show before the scan; nil: none
}

// lists hold what is listed to clients.
type lists struct {
	making  sync.Mutex            // held while lists are made; acquired before mu
	mu      sync.Mutex            // guards the following fields
	apps    map[string]listing    // by the app's id
	guides  map[string]guide      // by the tool's name
	tools   map[string]listedTool // those of direct apps, and pinned ones, by name
	changes int                   // of tools, which a client hears of that sees only some apps
	prompts map[string]bool
	shared  entrySelection // of clients without a session id
}

// A listedTool is a tool that is listed under its own name.
type listedTool struct {
	app   string // its id
	tool  *aai.Tool
	entry string // as JSON
}

// firstScanTimeout is the time that a new connection waits for the first scan of the apps.
// A list that is complete from the start needs no list_changed, which many clients ignore;
// but a slow disk must not delay the handshake for long.
const firstScanTimeout = 2 * time.Second

// New returns a door to the gateway. It does no I/O.
func New(cfg Config) *Door { return newDoor(cfg, func(*mcp.ServerOptions, *tasks.Config) {}) }

// newDoor is New; alter can change the options of the server and of tasks.
func newDoor(cfg Config, alter func(*mcp.ServerOptions, *tasks.Config)) *Door {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	d := &Door{
		cfg: cfg, session: rand.Text(), outputs: newOutputs(), clients: clientStates{of: make(map[*mcp.ServerSession]*clientState)},
		scan: firstScan{allowed: make(chan struct{}), done: make(chan struct{})},
		lists: lists{
			apps: make(map[string]listing), guides: make(map[string]guide),
			tools: make(map[string]listedTool), prompts: make(map[string]bool),
		},
	}
	d.subscriptions = d.newSubscriptions()
	options := d.serverOptions()
	ofTasks := tasks.Config{
		Support: d.taskSupport, Owner: d.taskOwner, ContinueContext: streamable.ContinueContext, Log: cfg.Log,
		SyncTimeout: cfg.TaskSyncTimeout, Limits: cfg.Tasks,
	}
	alter(options, &ofTasks)
	d.server = mcp.NewServer(shortInfo(cfg.Version), options)
	if !d.cfg.OnlyDirect {
		d.server.AddTool(d.execTool(), d.exec)
	}
	if cfg.ListWebDiscovery && !d.cfg.OnlyDirect {
		d.server.AddTool(d.discoverTool(), d.run(aai.BuiltinApp, discoverTool))
	}
	if d.canSearch() {
		d.server.AddTool(d.searchTool(), d.run(aai.BuiltinApp, searchToolName))
	}
	d.addResources(cfg.Resources)
	d.addOutputResource()
	d.tasks = tasks.New(ofTasks)
	d.tasks.AddMethods(d.server)
	d.server.AddReceivingMiddleware(d.receive)
	d.server.AddSendingMiddleware(d.tasks.Send, d.filterNotifications)
	return d
}

// canSubscribe reports whether there are resources to subscribe to.
func (d *Door) canSubscribe() bool {
	return !d.cfg.OnlyDirect || slices.ContainsFunc(d.cfg.Resources, func(r Resource) bool { return r.Watch != nil })
}

func (d *Door) serverOptions() *mcp.ServerOptions {
	options := &mcp.ServerOptions{
		Instructions:            d.instructions(),
		CompletionHandler:       d.complete,
		RootsListChangedHandler: d.rootsChanged,
		Logger:                  slog.New(warnings{d.cfg.Log.Handler()}),
		PageSize:                10_000,
		// The list of a person's apps is private.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
		Capabilities: &mcp.ServerCapabilities{
			Tools:       &mcp.ToolCapabilities{ListChanged: true},
			Resources:   &mcp.ResourceCapabilities{ListChanged: !d.cfg.OnlyDirect}, // the descriptors of apps come and go
			Prompts:     &mcp.PromptCapabilities{ListChanged: true},
			Logging:     &mcp.LoggingCapabilities{},
			Completions: &mcp.CompletionCapabilities{},
		},
	}
	if d.canSubscribe() { // the SDK declares it
		options.SubscribeHandler, options.UnsubscribeHandler = d.subscribe, d.unsubscribe
	}
	return options
}

// shutdownTimeout is the time that running calls have to end when the door closes. After
// that they are abandoned.
const shutdownTimeout = 2 * time.Second

// ServeStdio serves one client: it reads requests from in and writes to out, one message per
// line. It returns when in ends and all requests are answered. If out cannot be written or ctx
// ends, it cancels the running calls. Then it returns an error within two seconds: the
// context's if ctx ended.
func (d *Door) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	stop := d.watchApps(ctx)
	defer stop()
	t := newStdio(in, out)
	client := d.tasks.Connect(t.notify)
	ended := make(chan error, 1)
	go func() {
		// The SDK would wait for every call, and for answers that cannot be written.
		err := d.server.Run(client.Context(gateway.WithClientEnd(context.WithoutCancel(ctx), t.inputEnd)), t)
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
		d.cfg.Log.Warn("the door closes although calls are still running")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.cause
}

// HTTP returns a server that serves any number of clients. It follows the list of apps until its Close.
func (d *Door) HTTP(cfg streamable.Config) (*streamable.Server, error) {
	var unfollow func()
	served, err := streamable.New(cfg, streamable.Backend{
		Server: d.server, Log: d.cfg.Log, SDKLog: slog.New(warnings{d.cfg.Log.Handler()}),
		Shutdown: func(late context.Context) {
			unfollow()
			deadline, _ := late.Deadline()
			d.tasks.End(time.Until(deadline)) // also tasks without a session
		},
	})
	if err != nil {
		return nil, err
	}
	unfollow = d.watchApps(context.Background())
	return served, nil
}

// watchApps lists the apps, now and after each change, until stop. Without a cached list it waits for
// the first scan, at most firstScanTimeout.
func (d *Door) watchApps(ctx context.Context) (stop func()) {
	known := d.showCached()
	if !known {
		d.allowScan()
	}
	late := time.AfterFunc(maxScanDelay, d.allowScan)
	stop = d.cfg.Gateway.Catalog.OnChange(d.list)
	listed := make(chan struct{})
	go func() {
		defer close(listed)
		defer late.Stop()
		select {
		case <-d.scan.allowed:
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
		d.cfg.Log.Warn("the first look at the apps is slow; serving without them until it is done")
	case <-ctx.Done():
	}
	return stop
}

// Refresh lists the apps and tools anew, and notifies clients of changes.
func (d *Door) Refresh() { d.list() }

// warnings passes only the SDK's messages from level warn up. The SDK logs every connection
// at info, which would fill the logs that clients show to people.
type warnings struct{ slog.Handler }

// Enabled implements slog.Handler.
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// clientState is the door's state for one client while it is connected. Most clients need
// none.
type clientState struct {
	mu             sync.Mutex
	wantsLog       bool                   // it has requested logs
	logTokens      float64                // messages that it may get now
	logTokensAt    time.Time              // the time of logTokens
	conversation   atomic.Pointer[string] // of its calls, if that ends with the session; nil before the first
	suppressedLogs int                    // messages dropped since the last sent one
	roots          []aai.Root             // nil: unknown
	rootsVersion   int                    // grows when the roots change
	seen           map[string]*aai.App    // apps of its calls, with the tools that it knows; by id
	selection      entrySelection         // guarded by Door.lists.mu
}

// clientStates maps sessions to their state. It is safe for concurrent use.
type clientStates struct {
	mu sync.Mutex
	of map[*mcp.ServerSession]*clientState
}

// clientStateOf returns the state of a client and creates it if necessary; it is deleted
// when the session ends.
func (d *Door) clientStateOf(session *mcp.ServerSession) *clientState {
	d.clients.mu.Lock()
	defer d.clients.mu.Unlock()
	if g := d.clients.of[session]; g != nil {
		return g
	}
	g := &clientState{}
	d.clients.of[session] = g
	go func() {
		_ = session.Wait() // the error does not matter
		if key := g.conversation.Load(); key != nil && d.cfg.OnConversationEnd != nil {
			d.cfg.OnConversationEnd(*key)
		}
		d.subscriptions.removeAll(session)
		d.clients.mu.Lock()
		defer d.clients.mu.Unlock()
		delete(d.clients.of, session)
	}()
	return g
}

// existingClientState returns the state of a client, or nil if it has none.
func (d *Door) existingClientState(session *mcp.ServerSession) *clientState {
	d.clients.mu.Lock()
	defer d.clients.mu.Unlock()
	return d.clients.of[session]
}
