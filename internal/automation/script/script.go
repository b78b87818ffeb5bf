package script

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/projectfile"
	"github.com/gybob/aai-gateway/internal/automation/script/child"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Names of the tools that run a script: of the gateway's own app, and of the desktop.
const (
	BuiltinToolName = "script"
	DesktopToolName = "ax_run_script"
)

// AgentTools returns the names of this package's builtin tools that agents may use.
func AgentTools() []string { return []string{BuiltinToolName} }

// Time limits of a script, without the time for a user's answers.
const (
	maxTime = 5 * time.Minute
	// endGrace is the additional time to end the script and report it.
	endGrace = 10 * time.Second
)

// Config holds the dependencies of the tools that run scripts.
type Config struct {
	// Gateway returns the gateway for the calls. It is called for each script.
	Gateway func() *gateway.Gateway
	// Command returns the command of a process that only runs child.Run on its standard input and
	// output. It inherits nothing else.
	Command func() *exec.Cmd
	// HasSystemTool reports that the desktop has the tool of [SystemTool].
	HasSystemTool bool
}

// Tools returns the tools that run a script: one for the gateway's own app and one for the desktop
// app. With the zero Config each run fails with AUTOMATION_NOT_SUPPORTED.
func Tools(cfg Config) (own, desktop *aai.Tool) {
	s := &toolset{cfg: cfg, places: newSlotPool()}
	return s.tool(BuiltinToolName, aai.BuiltinApp), s.tool(DesktopToolName, aai.DesktopApp)
}

// toolset holds the tools of one gateway.
type toolset struct {
	cfg    Config
	places *slotPool
}

const params = `{"type": "object", "additionalProperties": false, "properties": {
	"script": {"type": "string", "description": "%s"},
	"file": {"type": "string", "description": "Or a .js file of a project's .aai"},
	"args": {"type": "object"},
	"language": {"type": "string", "default": "javascript"},
	"timeout_ms": {"type": "integer", "maximum": 300000, "default": 30000},
	"sandboxed": {"type": "boolean", "description": "Only read"},
	"full_log": {"type": "boolean"}}}`

const returns = `{"type": "object", "properties": {"result": {}, "calls": {"type": "integer"}, "log": {"type": "string"}}}`

const description = "Run JavaScript: many calls in one."

// scriptAPI describes the API of a script.
const scriptAPI = "call(%s) returns a result's data or throws {code, message, hint, delivery}; find(app, query), sleep(ms), log(...), args. Answers with the last expression"

func (s *toolset) tool(name, app string) *aai.Tool {
	usual := "app, tool, args"
	if app == aai.DesktopApp {
		usual = "[app,] tool, args"
	}
	return &aai.Tool{
		Name: name, Title: "Run a script", Description: description,
		Params: schema.MustParse(fmt.Sprintf(params, fmt.Sprintf(scriptAPI, usual))), Returns: aai.Schema{Source: json.RawMessage(returns)},
		// It has the effects of its calls, which pass the gates; its result may contain any of
		// theirs. Only the called tools know the secrets in args, and they have their own records.
		Effect: aai.Destroys, Assess: aai.Always(aai.Assessment{EffectInherent: true, OnlyMakesCalls: true, RunsScript: true, KeepsFocus: true, Concurrency: aai.Independent}), Privacy: aai.Privacy{Secret: []string{"args"}, RecordArgs: recordArgs, Result: true}, Limits: aai.Limits{Timeout: maxTime + endGrace},
		Run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return s.run(ctx, call, app)
		},
	}
}

// callContextKey marks the context of a script's calls.
type callContextKey struct{}

// run runs the script of a call.
func (s *toolset) run(ctx context.Context, call *aai.Call, app string) (*aai.Result, error) {
	if s.cfg.Command == nil || s.cfg.Gateway == nil {
		return nil, notBegunError(aai.AutomationNotSupported, "scripts cannot be run here", "")
	}
	if ctx.Value(callContextKey{}) != nil {
		return nil, notBegunError(aai.PermissionDenied, "a script cannot run another one", "Call the tools themselves.")
	}
	gateway.MarkNotSecret(ctx, "args")
	if s.isSystemScript(call, app) {
		if is, _ := call.Args["sandboxed"].(bool); is {
			ctx = gateway.WithSandbox(ctx)
		}
		return s.runSystemScript(context.WithValue(ctx, callContextKey{}, true), call)
	}
	a, err := argsOf(ctx, call)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	leave, err := s.places.acquire(ctx, slotOwner(call.Caller), a.timeout)
	if err != nil {
		return nil, err
	}
	defer leave()
	if a.sandboxed {
		ctx = gateway.WithSandbox(ctx)
	}
	r := &run{gateway: s.cfg.Gateway(), call: call, args: a, watch: newWatchdog(ctx, begun, a.timeout)}
	return r.execute(context.WithValue(ctx, callContextKey{}, true), s.cfg.Command(), child.Job{Script: a.script, Args: a.args, App: app, CPU: a.seconds()})
}

// scriptArgs are the arguments of a call.
type scriptArgs struct {
	script    string
	args      json.RawMessage
	timeout   time.Duration
	sandboxed bool
	log       bool
}

// seconds returns the limit of processor time: two threads for the timeout, and some for the
// process itself.
func (a scriptArgs) seconds() int { return int(2*a.timeout/time.Second) + 2 }

// maxFile limits a script file, in bytes.
const maxFile = 256 << 10

func argsOf(ctx context.Context, call *aai.Call) (scriptArgs, error) {
	text := func(name string) string { s, _ := call.Args[name].(string); return s }
	is := func(name string) bool { b, _ := call.Args[name].(bool); return b }
	a := scriptArgs{script: text("script"), timeout: milliseconds(call.Args["timeout_ms"]), sandboxed: is("sandboxed"), log: is("full_log")}
	if language := text("language"); language != "" && language != "javascript" {
		return a, notBegunError(aai.AutomationNotSupported, "language: this computer runs no "+aai.CleanLabel(language, 20), `Write it as "javascript", with call(app, tool, args).`)
	}
	if (a.script == "") == (text("file") == "") {
		return a, notBegunError(aai.InvalidParams, "expected either script or file", "")
	}
	var err error
	if a.args, err = json.Marshal(argsOrEmpty(call.Args["args"])); err != nil {
		return a, notBegunError(aai.InvalidParams, "args: expected JSON", "")
	}
	if a.script != "" {
		return a, nil
	}
	source, err := projectfile.Read(ctx, text("file"), projectfile.Kind{Name: "script", Extension: ".js", MaxBytes: maxFile, Otherwise: "Pass the text as script."})
	a.script = string(source)
	return a, err
}

func argsOrEmpty(args any) any {
	if args == nil {
		return map[string]any{}
	}
	return args
}

// milliseconds converts timeout_ms, of any numeric type: 30 seconds if it is missing, at most maxTime.
func milliseconds(v any) time.Duration {
	ms, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	if err != nil {
		ms = 30_000
	}
	return min(max(time.Duration(ms)*time.Millisecond, time.Millisecond), maxTime)
}

// notBegunError returns the error of a script that did not begin.
func notBegunError(code aai.Code, message, hint string) error {
	return &aai.Error{Code: code, Message: message, Hint: hint, Delivery: aai.NotDelivered}
}
