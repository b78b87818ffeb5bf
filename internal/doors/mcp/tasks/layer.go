package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Support says whether a call of a tool may become a task.
type Support string

// The kinds of support. The words are those of the protocol.
const (
	UnknownTool Support = "" // there is no such tool
	Forbidden   Support = "forbidden"
	Optional    Support = "optional"
	Required    Support = "required"
)

// Config is what a Layer needs.
type Config struct {
	// Support says it of a tool, by any name it may be called by. It is safe for
	// concurrent use.
	Support func(tool string) Support
	// Owner names who sends the request of the context: the same for all that may
	// see each other's tasks, such as one user, or one session of one user. The
	// clients of a [Connection] are told apart without it. Nil: all are one. It is
	// safe for concurrent use.
	Owner func(context.Context, *mcp.ServerSession) string
	// ContinueContext brings what calls need of the context of a request into that of a task,
	// which has nothing else of it. The layer calls release when the work is over.
	// Nil: nothing.
	ContinueContext func(request, task context.Context) (ctx context.Context, release func())
	Log             *slog.Logger // nil: nowhere
	// SyncTimeout is how long a call of the extension's form runs before it becomes
	// a task: most end sooner, and then nobody has to come back for the result.
	// What a client must be asked until then is asked in the way without tasks,
	// as SEP-2663 wants it. Zero: DefaultPatience.
	SyncTimeout time.Duration
	Limits      Limits
}

// DefaultSyncTimeout is the patience where a Config has none.
const DefaultSyncTimeout = 2 * time.Second

// A Layer adds tasks to a server. It is safe for concurrent use.
type Layer struct {
	support         func(string) Support
	owner           func(context.Context, *mcp.ServerSession) string
	continueContext func(request, task context.Context) (context.Context, func())
	log             *slog.Logger
	syncTimeout     time.Duration
	store           *store
	connections     atomic.Uint64
}

// New returns a layer without tasks.
func New(cfg Config) *Layer {
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	patience := cfg.SyncTimeout
	if patience <= 0 {
		patience = DefaultSyncTimeout
	}
	owner, carry := cfg.Owner, cfg.ContinueContext
	if owner == nil {
		owner = func(context.Context, *mcp.ServerSession) string { return "" }
	}
	if carry == nil {
		carry = func(_, task context.Context) (context.Context, func()) { return task, func() {} }
	}
	return &Layer{
		support: cfg.Support, owner: owner, continueContext: carry, log: log, syncTimeout: patience,
		store: newStore(cfg.Limits.withDefaults()),
	}
}

// Install adds the layer to the server. Middleware that a task's call shall go
// through is added before; it gets the names of tools as the client sent them.
func (l *Layer) Install(s *mcp.Server) {
	for _, method := range methods() {
		// The SDK only needs to know that there is such a method: what its handlers
		// are given does not say who asks.
		err := mcp.AddReceivingCustomMethod(s, method, func(context.Context, *mcp.ServerSession, *params) (*mcp.ResultBase, error) {
			return nil, methodNotFound()
		})
		if err != nil {
			panic(err) // the SDK has tasks of its own now
		}
	}
	s.AddReceivingMiddleware(l.receive)
	s.AddSendingMiddleware(l.send)
}

// End cancels the work of every task, forgets them, and waits until that is over,
// at most for the time.
func (l *Layer) End(most time.Duration) { l.store.end(most, nil) }

// A form is one of the two forms of tasks.
type form int

const (
	noForm    form = iota
	core           // that of 2025-11-25
	extension      // that of 2026-07-28
)

const coreVersion = "2025-11-25"

// StatelessVersion is the first version of the protocol whose requests stand by themselves:
// there are no sessions, a result carries the questions, and the client makes the call
// again with the answers.
const StatelessVersion = "2026-07-28"

// formOf says which form the sender of a request may know.
func formOf(req mcp.Request) form {
	versioned, ok := req.(interface{ ProtocolVersion() string })
	if !ok {
		return noForm
	}
	switch version := versioned.ProtocolVersion(); {
	case version >= StatelessVersion:
		return extension
	case version == coreVersion, version != "" && !slices.Contains(mcp.SupportedProtocolVersions(), version):
		// A version that nobody knows was answered with the newest one.
		return core
	}
	return noForm
}

// extensionID is what the extension is advertised by.
const extensionID = "io.modelcontextprotocol/tasks"

// declares reports whether the sender says, in this very request, that it knows
// the extension.
func declares(req mcp.Request) bool {
	if params := req.GetParams(); params != nil {
		// The SDK would decode all of it.
		if said, ok := params.GetMeta()[mcp.MetaKeyClientCapabilities].(map[string]any); ok {
			extensions, _ := said["extensions"].(map[string]any)
			_, declared := extensions[extensionID]
			return declared
		}
	}
	capable, ok := req.(interface {
		ClientCapabilities() *mcp.ClientCapabilities
	})
	if !ok {
		return false
	}
	caps := capable.ClientCapabilities()
	if caps == nil {
		return false
	}
	_, declared := caps.Extensions[extensionID]
	return declared
}

// receive is the middleware for what clients ask.
func (l *Layer) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "tools/call":
			if call, ok := req.(*mcp.CallToolRequest); ok && call.Params != nil {
				return l.call(ctx, call, next)
			}
		case "subscriptions/listen":
			if takeStashed(req.GetParams()) != nil && !declares(req) {
				return nil, missingExtension()
			}
		case "initialize", "server/discover", "tools/list":
			result, err := next(ctx, method, req)
			if err != nil {
				return nil, err
			}
			return l.advertise(req, result), nil
		}
		if slices.Contains(methods(), method) {
			return l.answer(ctx, method, req)
		}
		return next(ctx, method, req)
	}
}

// advertise adds to a result what it has to say of tasks.
func (l *Layer) advertise(req mcp.Request, result mcp.Result) mcp.Result {
	switch result := result.(type) {
	case *mcp.InitializeResult:
		if result.ProtocolVersion == coreVersion {
			return newCoreInitializeResult(result)
		}
	case *mcp.DiscoverResult:
		with := *result
		var caps mcp.ServerCapabilities
		if with.Capabilities != nil {
			caps = *with.Capabilities
		}
		caps.Extensions = maps.Clone(caps.Extensions)
		caps.AddExtension(extensionID, nil)
		with.Capabilities = &caps
		return &with
	case *mcp.ListToolsResult:
		if formOf(req) == core {
			return newCoreTools(result, l.support)
		}
	}
	return result
}

// methods are those that both forms together have.
func methods() []string {
	return []string{"tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update"}
}

// answer answers one of the methods.
func (l *Layer) answer(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
	typed, ok := req.(*mcp.ServerRequest[*params])
	if !ok {
		return nil, methodNotFound()
	}
	asked := typed.Params
	if asked == nil { // the SDK cannot look into such a request
		asked = &params{}
		typed = &mcp.ServerRequest[*params]{Session: typed.Session, Params: asked, Extra: typed.Extra}
	}
	switch formOf(typed) {
	case core:
		return l.answerCore(ctx, method, l.ownerOf(ctx, typed.Session), asked)
	case extension:
		return l.answerExtension(ctx, method, typed, asked)
	default:
		return nil, methodNotFound()
	}
}

// params are what the methods take, in either form, and whatever else is sent in
// their place.
type params struct {
	mcp.ParamsBase
	TaskID         any             `json:"taskId"`
	Cursor         any             `json:"cursor"`
	InputResponses json.RawMessage `json:"inputResponses"`
}

func methodNotFound() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
}

// unknownTask is said of a task that never was, is no more, or is another's: who
// asks cannot tell which.
func unknownTask() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no task of that id; it may have expired"}
}

func invalid(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// call runs a tool, as a task if that is what the client wants or, in the form
// of the extension, what takes long.
func (l *Layer) call(ctx context.Context, req *mcp.CallToolRequest, next mcp.MethodHandler) (mcp.Result, error) {
	wanted := takeStashed(req.Params)
	switch formOf(req) {
	case core:
		return l.callCore(ctx, req, next, wanted)
	case extension:
		return l.callExtension(ctx, req, next)
	default:
		return next(ctx, "tools/call", req)
	}
}
