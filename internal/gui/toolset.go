package gui

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
	"github.com/gybob/aai-gateway/internal/gui/operate"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/programs"
	"github.com/gybob/aai-gateway/internal/schema"
)

// callTimeout is how long a tool may take, unless it waits for something.
const callTimeout = 10 * time.Second

// Config is what the tools need.
type Config struct {
	// Open connects to the desktop. It is called once, by the first call of a tool,
	// so that a start of the program touches nothing.
	Open func() desktop.Backend
	// InputLock is the person's pointer, keyboard and focus: what may move the focus waits
	// while they are asked something. Nil: nobody asks.
	InputLock *inputlock.Lock
	// RefsFolder is where the terminal's references are kept between its commands,
	// for an hour; nowhere if it is "". The folder is made when it is needed.
	RefsFolder string
	// SessionInfo says what is known of the person's session, for people and for programs;
	// nil where there is nothing to say.
	SessionInfo func() (lines []string, data map[string]any)
	// IsScreenLocked reports whether the person's screen is locked, as far as the system says so;
	// nil where it cannot be asked.
	IsScreenLocked func(context.Context) bool
	// IsCallerHost reports whether the caller runs in the process: its program is operated only where
	// that very thing is allowed. Nil: nobody knows.
	IsCallerHost func(pid int) bool
	// IsTerminal reports whether the process shows a terminal. It is asked of programs without
	// a tree, which does not tell of one. Nil: nobody knows.
	IsTerminal func(pid int) bool
	// DashboardHosts are the hosts, with ports, at which gateways of the person show their own page
	// now: what shows one is neither seen nor operated. Nil: there are none.
	DashboardHosts func() ([]string, error)
	Log            *slog.Logger // nil: nowhere
	// ExtraTools are tools of other rooms that stand behind those of this one.
	ExtraTools []*aai.Tool
}

// A desk is what the tools share.
type toolset struct {
	operate.Engine
	session func() ([]string, map[string]any)
	begun   time.Time
}

// A view is a program as one call sees it, for the tools.
type callView struct{ *operate.View }

// withView is operate.Desk.Look, for the tools.
func (d *toolset) withView(ctx context.Context, call *aai.Call, f func(context.Context, *callView) (*aai.Result, error)) (*aai.Result, error) {
	return d.WithView(ctx, call, func(ctx context.Context, c *operate.View) (*aai.Result, error) { return f(ctx, &callView{c}) })
}

// withViewToAct is operate.Desk.Act, for the tools.
func (d *toolset) withViewToAct(ctx context.Context, call *aai.Call, f func(context.Context, *callView) (*aai.Result, error)) (*aai.Result, error) {
	return d.WithViewToAct(ctx, call, func(ctx context.Context, c *operate.View) (*aai.Result, error) { return f(ctx, &callView{c}) })
}

// withViewUnqueued is operate.Desk.Glance, for the tools.
func (d *toolset) withViewUnqueued(ctx context.Context, call *aai.Call, f func(context.Context, *callView) (*aai.Result, error)) (*aai.Result, error) {
	return d.WithViewUnqueued(ctx, call, func(ctx context.Context, c *operate.View) (*aai.Result, error) { return f(ctx, &callView{c}) })
}

// New returns the desktop as an app. Its tools are safe for concurrent use.
func New(cfg Config) *aai.App {
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	d := &toolset{
		Engine: operate.Engine{Registry: programs.Registry{
			OpenBackend:  sync.OnceValue(func() desktop.Backend { return programs.WithInputLock(cfg.Open(), cfg.InputLock) }),
			IsCallerHost: cfg.IsCallerHost, IsTerminal: cfg.IsTerminal, IsScreenLocked: cfg.IsScreenLocked, DashboardHosts: cfg.DashboardHosts, Log: log, Sessions: conversation.NewSessions(), SelfPID: os.Getpid(),
		}, RefStore: conversation.RefStore{Folder: cfg.RefsFolder}},
		session: cfg.SessionInfo, begun: time.Now(),
	}
	tools := d.tools()
	for _, tool := range tools { // but what says whether there is a screen
		d.redactSecrets(tool)
		if tool.Effect != aai.Reads || tool.TakesScreenshot || tool.Name == listAppsName {
			d.addScreenCheck(tool)
		}
	}
	return &aai.App{
		ID: aai.DesktopApp, Name: "Desktop", Platform: "any",
		Description:       "The windows of every program on this computer, by their accessibility trees: see, find, click, type.",
		Aliases:           []string{"screen", "windows"},
		Tools:             append(tools, cfg.ExtraTools...),
		FindTarget:        d.targets(tools),
		LockReason:        d.DashboardOnScreen,
		ResolveTarget:     d.resolveTarget,
		IsTerminalElement: d.typesIntoShell,
	}
}

// tools are all of them, in the order in which a newcomer needs them.
func (d *toolset) tools() []*aai.Tool {
	return []*aai.Tool{
		d.isAccessibleTool(), d.listAppsTool(), d.connectTool(), d.listWindowsTool(),
		d.getTreeTool(), d.findTool(), d.getAttributesTool(), d.getValueTool(), d.assertTool(), d.waitTool(), d.waitIdleTool(), d.screenshotTool(),
		d.clickTool(), d.clickAtTool(), d.typeTool(), d.setValueTool(), d.fillTool(), d.keyPressTool(), d.scrollTool(), d.dragTool(), d.windowTool(),
		d.clipboardTool(), d.sessionInfoTool(),
	}
}

// A spec is how a tool is written down.
type spec struct {
	name, title, description string
	effect                   aai.Effect
	starts                   bool   // it may start a program
	types                    bool   // it gives text or keys
	pictures                 bool   // it takes a picture
	params                   string // the properties of its parameters, as JSON
	required                 string // the names of those that must be given, as JSON
	returns                  string // the properties of its result, as JSON; all may be missing
	secret                   []string
	plain                    func(args map[string]any) []string // those of secret that are none
	private                  bool                               // what it answers is not kept
	timeout                  time.Duration
	concurrency              func(*aai.Call) aai.Concurrency        // nil: its own
	precheck                 func(context.Context, *aai.Call) error // nil: nobody can look
	run                      aai.Action
}

func (s spec) tool() *aai.Tool {
	required := s.required
	if required == "" {
		required = "[]"
	}
	if s.types {
		s = s.withTextCheck()
	}
	timeout := s.timeout
	if timeout == 0 {
		timeout = callTimeout
	}
	args := schema.MustParse(`{"type": "object", "additionalProperties": false, "properties": {` + s.params + `}, "required": ` + required + `}`)
	return &aai.Tool{
		Name: s.name, Title: s.title, Description: s.description,
		Params: args,
		// What tools of our own return is held against it by the tests, not by each call.
		Returns: aai.Schema{Source: json.RawMessage(`{"type": "object", "properties": {` + s.returns + `}}`)},
		Effect:  s.effect, EffectInherent: true, MayStartProgram: s.starts, SendsKeys: s.types, TakesScreenshot: s.pictures, TakesFocus: params.TakesFocus,
		ElementParams: slices.DeleteFunc([]string{"query", "to_query"}, func(name string) bool { return !slices.Contains(args.Order, name) }),
		Target:        params.AppParam, Secret: s.secret, NonSecret: s.plain, PrivateResult: s.private, Timeout: timeout, Concurrency: s.concurrency, Precheck: s.precheck, Run: s.actionWithHints(args.Order),
	}
}

// withTextCheck is a tool that gives text, which is looked at before anything else is.
func (s spec) withTextCheck() spec {
	vain, run := s.precheck, s.run
	s.precheck = func(ctx context.Context, call *aai.Call) error {
		if err := params.CheckText(call); err != nil {
			return err
		}
		return vain(ctx, call)
	}
	s.run = func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		if err := params.CheckText(call); err != nil {
			return nil, err
		}
		return run(ctx, call)
	}
	return s
}

// constantConcurrency is the turn of a tool whatever its arguments are.
func constantConcurrency(turn aai.Concurrency) func(*aai.Call) aai.Concurrency {
	return func(*aai.Call) aai.Concurrency { return turn }
}

// Parameters that several tools have.
const (
	appProp   = `"app": {"type": "string", "description": "Name, alias, id or PID, as ax_list_apps shows"}`
	queryProp = `"query": {"type": "string", "description": "Ref such as e12, name, role:button title:Save, contains:Sav, /regex/ or //button[@name='Save']"}`
	nthProp   = `"nth": {"type": "integer", "minimum": 1, "description": "Which of several matches"}`
	modeProp  = `"mode": {"type": "string", "enum": ["background", "focus"], "default": "background", "description": "focus takes the person's pointer and keyboard"}`
	clickProp = `"click_type": {"type": "string", "enum": ["single", "double", "right", "hover"], "default": "single"}`
)

// Results that several tools have.
const (
	actionReturns = `"delivered": {"type": "boolean"}, "verified": {"type": "boolean"}, "way": {"type": "string"},
		"element": {"type": "object"}, "changes": {"type": "array", "items": {"type": "string"}}, "more_changes": {"type": "integer"},
		"came": {"type": "array"}`
	elementReturns = `"element_ref": {"type": "string"}, "role": {"type": "string"}, "title": {"type": "string"}, "value": {"type": "string"}`
	pairReturns    = `{"type": "array", "items": {"type": "integer"}}`
)
