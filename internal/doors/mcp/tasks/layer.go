// Package tasks lets a tool call outlast its request: the client gets a handle, checks the
// call when it likes, and fetches the result once.
//
// MCP has two forms of this, which share no message. In the core of version 2025-11-25 the
// client requests a task ("task" in the parameters of tools/call), and tasks/result blocks.
// From 2026-07-28 on it is the extension io.modelcontextprotocol/tasks (SEP-2663): the
// server decides which call becomes a task, and tasks/get contains the result. A [Layer]
// serves both from one store, as middleware of the official Go SDK, which has neither. A
// task's call uses the same handler as other calls.
//
// Tasks are kept in memory for their time to live. Only the owner of a task can find it,
// and it ends with its session.
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

// Support tells whether a call of a tool may become a task.
type Support string

// The kinds of support, in the protocol's words.
const (
	UnknownTool Support = "" // there is no such tool
	Forbidden   Support = "forbidden"
	Optional    Support = "optional"
	Required    Support = "required"
)

// Config holds the dependencies and settings of a Layer.
type Config struct {
	// Support returns the support of a tool, by any name that clients may call it by. It is
	// safe for concurrent use.
	Support func(tool string) Support
	// Owner names the owner of the tasks of a request: the same for all requests that may
	// see each other's tasks, such as one user, or one session of one user. The clients of
	// a [Connection] are separate without it. Nil means one owner for all. It is safe for
	// concurrent use.
	Owner func(context.Context, *mcp.ServerSession) string
	// ContinueContext copies the values that calls need from the context of a request to
	// that of a task, which has no others. The layer calls release when the work has ended.
	// Nil copies nothing.
	ContinueContext func(request, task context.Context) (ctx context.Context, release func())
	Log             *slog.Logger // nil discards the log
	// SyncTimeout is the time after which a call in the extension's form becomes a task:
	// most calls end sooner, and their clients need not fetch the result later. Questions
	// until then use the form without tasks, as SEP-2663 requires. Zero means
	// DefaultSyncTimeout.
	SyncTimeout time.Duration
	Limits      Limits
}

// DefaultSyncTimeout is the SyncTimeout of a Config without one.
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

// AddMethods adds the methods of tasks to the server: the SDK only needs to know them. Its handlers do
// not get the request's owner, so Receive answers.
func (*Layer) AddMethods(s *mcp.Server) {
	for _, method := range methods() {
		err := mcp.AddReceivingCustomMethod(s, method, func(context.Context, *mcp.ServerSession, *params) (*mcp.ResultBase, error) {
			return nil, methodNotFound()
		})
		if err != nil {
			panic(err) // the SDK has its own tasks now
		}
	}
}

// End cancels the work of every task, forgets all tasks, and waits until the work has
// ended, at most for the given time.
func (l *Layer) End(most time.Duration) { l.store.end(most, nil) }

// A form is one of the two forms of tasks.
type form int

const (
	noForm    form = iota
	core           // that of 2025-11-25
	extension      // that of 2026-07-28
)

const coreVersion = "2025-11-25"

// StatelessVersion is the first protocol version in which requests are independent: there
// are no sessions, a result carries the questions, and the client repeats the call with the
// answers.
const StatelessVersion = "2026-07-28"

// formOf returns the form that the sender of a request may know.
func formOf(req mcp.Request) form {
	versioned, ok := req.(interface{ ProtocolVersion() string })
	if !ok {
		return noForm
	}
	switch version := versioned.ProtocolVersion(); {
	case version >= StatelessVersion:
		return extension
	case version == coreVersion, version != "" && !slices.Contains(mcp.SupportedProtocolVersions(), version):
		// An unknown version was answered with the newest one.
		return core
	}
	return noForm
}

// extensionID is the name of the extension.
const extensionID = "io.modelcontextprotocol/tasks"

// declares reports whether this request declares the extension.
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

// Receive is a step of a server's receiving middleware: it answers the methods of tasks, and passes
// other requests to next, with the names of tools as the client sent them. A task calls next again
// for each round of its questions.
func (l *Layer) Receive(ctx context.Context, method string, req mcp.Request, next mcp.MethodHandler) (mcp.Result, error) {
	switch method {
	case "tools/call":
		call, ok := req.(*mcp.CallToolRequest)
		if !ok || call.Params == nil {
			break
		}
		wanted := takeStashed(call.Params)
		switch form, err := l.taskForm(call, wanted); {
		case err != nil:
			return nil, err
		case form == core:
			return l.callCore(ctx, call, next, wanted)
		case form == extension:
			return l.callExtension(ctx, call, next)
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

// taskForm returns the form of the task that a call may become, or noForm if it cannot; wanted is the
// "task" of its request.
func (l *Layer) taskForm(req *mcp.CallToolRequest, wanted json.RawMessage) (form, error) {
	of := formOf(req)
	if of == noForm {
		return noForm, nil
	}
	support := l.support(req.Params.Name)
	switch {
	case support == UnknownTool, of == core && wanted == nil && support != Required:
		return noForm, nil
	case of == core && (wanted == nil || support == Forbidden):
		return noForm, methodNotFound() // the protocol has this code for both
	case of == extension && support == Required && !declares(req):
		return noForm, missingExtension()
	case of == extension && (support == Forbidden || !declares(req)):
		return noForm, nil
	}
	return of, nil
}

// advertise adds the support of tasks to a result.
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

// methods are the methods of both forms together.
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
	if asked == nil { // the SDK cannot handle a request without params
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

// params are the parameters of the methods, in either form, of any JSON type.
type params struct {
	mcp.ParamsBase
	TaskID         any             `json:"taskId"`
	Cursor         any             `json:"cursor"`
	InputResponses json.RawMessage `json:"inputResponses"`
}

func methodNotFound() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
}

// unknownTask is the error for a task that never existed, has expired, or belongs to
// another owner; the caller cannot tell which.
func unknownTask() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no task of that id; it may have expired"}
}

func invalid(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}
