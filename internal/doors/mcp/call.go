package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
	"github.com/gybob/aai-gateway/internal/doors/mcp/tasks"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/schema/jsonscan"
)

// The tools of the gateway's own app that the door itself uses.
const (
	guideTool      = "guide"
	descriptorTool = "descriptor"
	discoverTool   = "discover"
)

// execArgs are the arguments of aai_exec.
type execArgs struct {
	App  string          `json:"app"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args,omitempty"`
}

// exec runs a tool of an app.
func (d *Door) exec(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return d.do(ctx, req, d.readExec(req))
}

// run returns the handler of a tool that is listed under its own name.
func (d *Door) run(app, tool string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return d.do(ctx, req, &aai.Call{App: app, Tool: tool, Raw: req.Params.Arguments})
	}
}

// do makes the call, asks its questions if it has any, and converts the outcome. Failures
// of a tool are results, not protocol errors, so that the model can correct itself.
func (d *Door) do(ctx context.Context, req *mcp.CallToolRequest, call *aai.Call) (*mcp.CallToolResult, error) {
	call.ID = aai.NewCallID()
	call.Caller = d.caller(ctx, req.Session, clientOf(req))
	call.Answers = answersOf(req)
	ctx, asking := d.withAssistant(ctx, req, call)
	ctx, end := d.withProgress(ctx, req)
	defer end()
	d.noteApp(req.Session, call)
	said, err := d.applyDescription(req, call)
	o := outcome{call: call, err: err}
	if err == nil {
		o = d.makeCall(ctx, req, call)
	}
	if said != nil {
		o = d.described(ctx, req, o, said)
	}
	if required := asking.required(); required != nil {
		return required, nil
	}
	helped := d.help(ctx, req, o)
	if helped.call != o.call {
		ctx = withHelp(ctx)
	}
	return d.conclude(ctx, req, helped)
}

// An outcome is how a call ended: by its result, by an error, or by a request to the client of a stateless version, which
// repeats the call with the answer.
type outcome struct {
	call   *aai.Call
	result *aai.Result
	err    error
	asks   *mcp.CallToolResult
}

// makeCall makes the call.
func (d *Door) makeCall(ctx context.Context, req *mcp.CallToolRequest, call *aai.Call) outcome {
	log := d.newCallLog(req)
	result, err := d.cfg.Gateway.Do(log.measure(ctx), call)
	log.ended(ctx, call, result, aai.AsError(err))
	return outcome{call: call, result: result, err: err}
}

// conclude asks the questions of a call that has ended, or converts its outcome.
func (d *Door) conclude(ctx context.Context, req *mcp.CallToolRequest, o outcome) (*mcp.CallToolResult, error) {
	if o.asks != nil {
		return o.asks, nil
	}
	if failure := aai.AsError(o.err); failure != nil && len(failure.Questions) > 0 {
		return d.ask(ctx, req, o.call, failure)
	}
	return d.finishCall(ctx, req, o.call, o.result, o.err), nil
}

// finishCall converts the outcome of a call, and asks the person to log in if the call
// needs that.
func (d *Door) finishCall(ctx context.Context, req *mcp.CallToolRequest, call *aai.Call, result *aai.Result, err error) *mcp.CallToolResult {
	if failure := aai.AsError(err); failure != nil && failure.LoginURL != "" {
		if asking, asked := d.askToOpenURL(ctx, req, call, failure); asked {
			return asking
		}
	}
	return d.callResult(ctx, req, call, result, err)
}

// callResult converts the outcome of a call to a result of MCP.
func (d *Door) callResult(ctx context.Context, req *mcp.CallToolRequest, call *aai.Call, result *aai.Result, err error) *mcp.CallToolResult {
	result, err = withNotice(d.noticeOfChanges(req.Session, call), result, err)
	if err == nil {
		return d.success(ctx, req, call, result)
	}
	failure := aai.AsError(err)
	d.logFailure(call, failure)
	return d.failedCall(call, failure)
}

func (d *Door) logFailure(call *aai.Call, e *aai.Error) {
	if e.Code == aai.Internal || e.Code == aai.RecordFailed {
		d.cfg.Log.Error("a call failed in the gateway", "app", call.App, "tool", call.Tool, "code", e.Code, "cause", e.Err)
	}
}

// caller identifies the caller of a request.
func (d *Door) caller(ctx context.Context, session *mcp.ServerSession, client *mcp.Implementation) aai.Caller {
	c := aai.Caller{Door: aai.DoorMCP, Session: d.session, Identity: d.cfg.PeerIdentity}
	x := streamable.FromContext(ctx)
	if x != nil {
		c.Identity, c.Principal = x.Identity(), x.Principal
		switch {
		case x.Conversation != "":
			c.Session = x.Conversation
		case x.Principal != "": // the same principal is one session while the door is open
			c.Session += "/" + x.Principal
		}
	}
	if id := session.ID(); id != "" {
		c.Session = id
	}
	if client == nil {
		if init := session.InitializeParams(); init != nil {
			client = init.ClientInfo
		}
	}
	if client != nil {
		c.Name = client.Name
	}
	if x != nil && x.Conversation == "" && session.ID() == "" {
		c.Session += "/" + c.Name // agents may share a token
	}
	return c
}

// clientOf returns the client's name in this request, or nil without one. Like the SDK, the
// door prefers the request to the session.
func clientOf(req *mcp.CallToolRequest) *mcp.Implementation {
	said, ok := req.Params.Meta[mcp.MetaKeyClientInfo].(map[string]any)
	if !ok {
		return nil
	}
	name, _ := said["name"].(string)
	return &mcp.Implementation{Name: name}
}

// readExec converts the arguments of aai_exec to a call. If they cannot be read, it sets
// the call's RequestError, so that the journal records it too.
func (d *Door) readExec(req *mcp.CallToolRequest) *aai.Call {
	sent := req.Params.Arguments
	members := make(map[string]json.RawMessage, 3)
	var wrong *aai.Error
	err := jsonscan.EachMember(sent, func(name string, begin, end int) {
		_, twice := members[name]
		known := name == "app" || name == "tool" || name == "args"
		switch {
		case known && !twice:
			members[name] = sent[begin:end:end]
		case wrong == nil && known:
			wrong = execMemberError("the member %q occurs twice", name)
		case wrong == nil:
			wrong = execMemberError("unknown member %q", name)
		}
	})
	if err != nil && len(sent) > 0 {
		return &aai.Call{RequestError: aai.Errorf(aai.InvalidParams, "the arguments of aai_exec are not an object of app, tool and args: %w", err)}
	}
	// The readable part is recorded even if the rest is wrong.
	call := &aai.Call{Raw: members["args"]}
	var noApp, noTool *aai.Error
	call.App, noApp = readText("app", members["app"])
	call.Tool, noTool = readText("tool", members["tool"])
	call.RequestError = cmp.Or(wrong, noApp, noTool)
	return call
}

// execMemberError returns an error for a member of the arguments of aai_exec. Names have one spelling:
// the journal and the person must see the members that the call has.
func execMemberError(problem, name string) *aai.Error {
	e := aai.Errorf(aai.InvalidParams, "aai_exec: "+problem+"; expected app, tool and args, once each", aai.CleanLabel(name, 60))
	e.Hint = execHint
	return e
}

// execHint shows the form of a call.
const execHint = `Call aai_exec with {"app": "…", "tool": "…", "args": {…}}, as the app's guide shows.`

// readText reads a required name. Names are limited to 1 KiB, because the limit for
// arguments does not count them.
func readText(name string, value json.RawMessage) (string, *aai.Error) {
	var text string
	if len(value) > maxName {
		return "", aai.Errorf(aai.InvalidParams, "%s: expected a name of at most 1 KiB", name)
	}
	if json.Unmarshal(value, &text) == nil && text != "" {
		return text, nil
	}
	e := aai.Errorf(aai.InvalidParams, "%s: expected a string that is not empty", name)
	e.Hint = execHint
	return "", e
}

// A progressReporter sends a call's progress to the client. The values grow, and none is
// sent after the call's answer.
type progressReporter struct {
	ctx     context.Context // of the request, which decides where notifications go
	session *mcp.ServerSession
	token   any

	mu          sync.Mutex
	hasReported bool
	last        float64
	ended       bool
}

// maxProgress limits a progress message, in bytes.
const maxProgress = 200

// withProgress returns a context that sends the call's progress to the client, until end.
// Without a progress token the client gets none.
func (d *Door) withProgress(ctx context.Context, req *mcp.CallToolRequest) (_ context.Context, end func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return ctx, func() {}
	}
	r := &progressReporter{ctx: ctx, session: req.Session, token: token}
	return gateway.WithProgress(ctx, r.report), r.end
}

func (r *progressReporter) report(done, total float64, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.hasReported && done <= r.last || total > 0 && done > total {
		return
	}
	r.hasReported, r.last = true, done
	_ = r.session.NotifyProgress(r.ctx, &mcp.ProgressNotificationParams{ // fails if the client has gone
		ProgressToken: r.token, Progress: done, Total: total, Message: aai.CleanLabel(message, maxProgress),
	})
}

func (r *progressReporter) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}

// longCallThreshold is the duration of a directly listed tool from which clients may run
// its calls as tasks. A longer call would exceed the timeout of clients, which is a minute
// or less.
const longCallThreshold = 20 * time.Second

// taskSupport returns whether calls of a tool may become tasks: aai_exec, because the
// duration of apps' tools is unknown, and slow tools. No tool requires tasks, because most
// clients do not support them.
func (d *Door) taskSupport(name string) tasks.Support {
	listed, _ := d.listedName(name, nil)
	if !d.cfg.OnlyDirect && listed == d.toolName(execID) {
		return tasks.Optional
	}
	if !d.cfg.OnlyDirect && listed == d.toolName(discoverID) {
		return tasks.Forbidden // a site has ten seconds
	}
	d.lists.mu.Lock()
	defer d.lists.mu.Unlock()
	if of, ok := d.lists.tools[listed]; ok {
		if of.tool.Limits.AllowsTask || maxDuration(of.tool) > longCallThreshold {
			return tasks.Optional
		}
		return tasks.Forbidden
	}
	if _, ok := d.lists.guides[listed]; ok {
		return tasks.Forbidden // a guide is there at once
	}
	return tasks.UnknownTool
}

func maxDuration(tool *aai.Tool) time.Duration {
	if tool.Limits.Timeout <= 0 {
		return aai.DefaultTimeout
	}
	return tool.Limits.Timeout
}

// taskOwner names the owner of a request's tasks: its conversation.
func (d *Door) taskOwner(ctx context.Context, session *mcp.ServerSession) string {
	return d.caller(ctx, session, nil).Conversation()
}
