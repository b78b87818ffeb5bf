package mcp

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/mcp/messages"
	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
	"github.com/gybob/aai-gateway/internal/doors/mcp/tasks"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// receive is the door's receiving middleware: every message of a client takes these steps, in this
// order, and then those of handle. The transports have decoded the message and checked its size.
func (d *Door) receive(next mcp.MethodHandler) mcp.MethodHandler {
	handle := d.handle(next)
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		gateway.GrowStack()
		// A panic is an error of this message alone; the SDK would let it end the process.
		defer func() {
			if p := recover(); p != nil {
				d.cfg.Log.Error("panic in a request", "method", method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the gateway failed at this request; others are not affected"}
			}
		}()
		// HTTP: the answer is kept alive; the session counts the message, and ends it with itself.
		ctx, end, err := streamable.Begin(ctx, method, req)
		if err != nil {
			return nil, err
		}
		defer end()
		// Stdio: large arguments bypass the SDK.
		messages.RestoreArguments(req, messages.ExtractedArguments(req))
		// Tasks: their methods are answered here, and a call may continue after its answer.
		return d.tasks.Receive(ctx, method, req, handle)
	}
}

// handle returns the steps around the SDK's own handler. A task takes them again for each round of
// questions.
func (d *Door) handle(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if needsApps(method) {
			d.waitForScan(ctx)
		}
		// The request is checked, and changed for the SDK.
		switch r := req.(type) {
		case *mcp.ServerRequest[*mcp.InitializeParams]:
			req = limitVersion(r)
		case *mcp.ServerRequest[*mcp.SetLoggingLevelParams]:
			if err := d.setLevel(r); err != nil {
				return nil, err
			}
		case *mcp.SubscriptionsListenRequest:
			req = d.withKnownResources(r)
		case *mcp.CallToolRequest:
			ctx, req = d.resolveTool(ctx, r)
		}
		result, err := next(ctx, method, req)
		// The answer is completed.
		if call, ok := req.(*mcp.CallToolRequest); ok && err != nil && call.Params != nil {
			return nil, d.recordUnlistedCall(ctx, call, err)
		}
		if err != nil {
			return result, err
		}
		switch r := result.(type) {
		case *mcp.InitializeResult:
			if r.ProtocolVersion >= fullInfoVersion {
				r.ServerInfo = fullInfo(d.cfg.Version)
			}
		case *mcp.DiscoverResult:
			if r.Meta == nil {
				r.Meta = mcp.Meta{}
			}
			r.Meta[mcp.MetaKeyServerInfo] = fullInfo(d.cfg.Version)
		case *mcp.ListToolsResult:
			d.addEntries(r, req)
		}
		return result, nil
	}
}

// needsApps reports whether a method needs the list of apps.
func needsApps(method string) bool {
	switch method {
	case "initialize", "ping", "server/discover", "tools/list", "logging/setLevel":
		return false
	}
	return !strings.HasPrefix(method, "notifications/")
}

// NewestVersion is the newest protocol version that the door speaks.
const NewestVersion = tasks.StatelessVersion

// lastInitializeVersion is the last protocol version that opens with "initialize".
const lastInitializeVersion = "2025-11-25"

// limitVersion lowers a stateless version that a client offers in "initialize" to
// lastInitializeVersion. The SDK would agree on an older version, but answer in the form of the newer
// one.
func limitVersion(req *mcp.ServerRequest[*mcp.InitializeParams]) mcp.Request {
	if req.Params == nil || req.Params.ProtocolVersion < tasks.StatelessVersion {
		return req
	}
	opening, params := *req, *req.Params
	params.ProtocolVersion = lastInitializeVersion
	opening.Params = &params
	return &opening
}

// setLevel notes that a client wants logs. It refuses unknown levels.
func (d *Door) setLevel(req *mcp.ServerRequest[*mcp.SetLoggingLevelParams]) error {
	if req.Params == nil {
		return nil // the SDK reports the error
	}
	if !slices.Contains(levels(), req.Params.Level) {
		return invalid("level: expected one of %v", levels())
	}
	d.clientStateOf(req.Session).wantLogs()
	return nil
}

// withKnownResources removes unknown resources from a subscription: the client learns the
// accepted ones, and an error would cost it the rest.
func (d *Door) withKnownResources(req *mcp.SubscriptionsListenRequest) mcp.Request {
	if req.Params == nil || req.Params.Notifications == nil {
		return req
	}
	narrowed, params, wanted := *req, *req.Params, *req.Params.Notifications
	wanted.ResourceSubscriptions = nil
	for _, uri := range req.Params.Notifications.ResourceSubscriptions {
		if o, _ := d.findResource(uri); o != nil && o.Watch != nil {
			wanted.ResourceSubscriptions = append(wanted.ResourceSubscriptions, uri)
		}
	}
	params.Notifications, narrowed.Params = &wanted, &params
	return &narrowed
}

// resolveTool accepts every name of a tool: as listed, the canonical id
// ("app:org.gnome.Calculator", "aai:exec"), the wire name where canonical ids are listed,
// and "<app id>:<tool>" for unlisted tools.
func (d *Door) resolveTool(ctx context.Context, req *mcp.CallToolRequest) (context.Context, mcp.Request) {
	if req.Params == nil {
		return ctx, req
	}
	renamed, params := *req, *req.Params
	renamed.Params = &params
	params.Name, params.Arguments = d.listedName(params.Name, params.Arguments)
	if app, ok := d.guideOf(params.Name); ok {
		ctx = context.WithValue(ctx, guideKey{}, app)
		params.Name = guideHandlerName
	}
	if len(params.Name) > maxName {
		params.Name = tooLongName // the SDK repeats it in its error
	}
	return ctx, &renamed
}

// recordUnlistedCall also records the call of a tool that is not listed. The SDK answers it
// with a protocol error, as MCP requires; every other failure of a call is a result.
func (d *Door) recordUnlistedCall(ctx context.Context, req *mcp.CallToolRequest, refused error) error {
	name := req.Params.Name
	if name == tooLongName {
		name = ""
	}
	_, _ = d.cfg.Gateway.Do(ctx, &aai.Call{ // Do refuses it; the call only serves the record
		Caller: d.caller(ctx, req.Session, clientOf(req)), Tool: name,
		RequestError: aai.Errorf(aai.ToolNotFound, "no tool of that name is listed"),
	})
	if coded, ok := errors.AsType[*jsonrpc.Error](refused); ok && strings.HasPrefix(coded.Message, "unknown tool ") {
		return d.unknownTool(coded, name)
	}
	return refused
}

// addEntries adds the entries of apps to the tools, all on the first page.
func (d *Door) addEntries(list *mcp.ListToolsResult, req mcp.Request) {
	session, _ := req.GetSession().(*mcp.ServerSession)
	entries, all := d.entriesNow(session)
	list.Tools = slices.DeleteFunc(list.Tools, func(t *mcp.Tool) bool {
		return t.Name == guideHandlerName || all && t.Name == d.toolName(searchID)
	})
	if asked, ok := req.(*mcp.ListToolsRequest); ok && asked.Params != nil && asked.Params.Cursor != "" {
		return
	}
	list.Tools = append(list.Tools, entries...)
	slices.SortFunc(list.Tools, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
}
