package ax

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/ax/memory"
	"aai/internal/ax/operate"
	"aai/internal/ax/programs"
	"aai/internal/desktop"
	"aai/internal/schema"
	"aai/internal/seat"
)

// callTimeout is how long a tool may take, unless it waits for something.
const callTimeout = 10 * time.Second

// Config is what the tools need.
type Config struct {
	// Open connects to the desktop. It is called once, by the first call of a tool,
	// so that a start of the program touches nothing.
	Open func() desktop.Backend
	// Seat is the person's pointer, keyboard and focus: what may move the focus waits
	// while they are asked something. Nil: nobody asks.
	Seat *seat.Seat
	// RefsFolder is where the terminal's references are kept between its commands,
	// for an hour; nowhere if it is "". The folder is made when it is needed.
	RefsFolder string
	// Session says what is known of the person's session, for people and for programs;
	// nil where there is nothing to say.
	Session func() (lines []string, data map[string]any)
	// Locked reports whether the person's screen is locked, as far as the system says so;
	// nil where it cannot be asked.
	Locked func(context.Context) bool
	// Host reports whether the caller runs in the process: its program is operated only where
	// that very thing is allowed. Nil: nobody knows.
	Host func(pid int) bool
	// Terminal reports whether the process shows a terminal. It is asked of programs without
	// a tree, which does not tell of one. Nil: nobody knows.
	Terminal func(pid int) bool
	// OwnPages are the hosts, with ports, at which gateways of the person show their own page
	// now: what shows one is neither seen nor operated. Nil: there are none.
	OwnPages func() ([]string, error)
	Log      *slog.Logger // nil: nowhere
	// More are tools of other rooms that stand behind those of this one.
	More []*aai.Tool
}

// A desk is what the tools share.
type desk struct {
	operate.Desk
	session func() ([]string, map[string]any)
	begun   time.Time
}

// A view is a program as one call sees it, for the tools.
type view struct{ *operate.View }

// look is operate.Desk.Look, for the tools.
func (d *desk) look(ctx context.Context, call *aai.Call, f func(context.Context, *view) (*aai.Result, error)) (*aai.Result, error) {
	return d.Look(ctx, call, func(ctx context.Context, c *operate.View) (*aai.Result, error) { return f(ctx, &view{c}) })
}

// act is operate.Desk.Act, for the tools.
func (d *desk) act(ctx context.Context, call *aai.Call, f func(context.Context, *view) (*aai.Result, error)) (*aai.Result, error) {
	return d.Act(ctx, call, func(ctx context.Context, c *operate.View) (*aai.Result, error) { return f(ctx, &view{c}) })
}

// glance is operate.Desk.Glance, for the tools.
func (d *desk) glance(ctx context.Context, call *aai.Call, f func(context.Context, *view) (*aai.Result, error)) (*aai.Result, error) {
	return d.Glance(ctx, call, func(ctx context.Context, c *operate.View) (*aai.Result, error) { return f(ctx, &view{c}) })
}

// New returns the desktop as an app. Its tools are safe for concurrent use.
func New(cfg Config) *aai.App {
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	d := &desk{
		Desk: operate.Desk{Programs: programs.Programs{
			Open: sync.OnceValue(func() desktop.Backend { return programs.Seated(cfg.Open(), cfg.Seat) }),
			Host: cfg.Host, Terminal: cfg.Terminal, Locked: cfg.Locked, OwnPages: cfg.OwnPages, Log: log, Sessions: memory.New(), Self: os.Getpid(),
		}, Memory: memory.Files{Folder: cfg.RefsFolder}},
		session: cfg.Session, begun: time.Now(),
	}
	tools := d.tools()
	for _, tool := range tools { // but what says whether there is a screen
		d.concealing(tool)
		if tool.Effect != aai.Reads || tool.Pictures || tool.Name == listAppsName {
			d.screenless(tool)
		}
	}
	return &aai.App{
		ID: aai.DesktopApp, Name: "Desktop", Platform: "any",
		Description: "The windows of every program on this computer, by their accessibility trees: see, find, click, type.",
		Aliases:     []string{"screen", "windows"},
		Tools:       append(tools, cfg.More...),
		Targets:     d.targets(tools),
		Guards:      d.OwnPageShown,
		Aim:         d.aim,
		Shell:       d.shell,
	}
}

// tools are all of them, in the order in which a newcomer needs them.
func (d *desk) tools() []*aai.Tool {
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
	turn                     func(*aai.Call) aai.Turn               // nil: its own
	vain                     func(context.Context, *aai.Call) error // nil: nobody can look
	run                      aai.Action
}

func (s spec) tool() *aai.Tool {
	required := s.required
	if required == "" {
		required = "[]"
	}
	if s.types {
		s = s.writing()
	}
	timeout := s.timeout
	if timeout == 0 {
		timeout = callTimeout
	}
	params := schema.MustParse(`{"type": "object", "additionalProperties": false, "properties": {` + s.params + `}, "required": ` + required + `}`)
	return &aai.Tool{
		Name: s.name, Title: s.title, Description: s.description,
		Params: params,
		// What tools of our own return is held against it by the tests, not by each call.
		Returns: aai.Schema{Source: json.RawMessage(`{"type": "object", "properties": {` + s.returns + `}}`)},
		Effect:  s.effect, Natural: true, Starts: s.starts, Types: s.types, Pictures: s.pictures, Seizes: asked.InFocus,
		About:  slices.DeleteFunc([]string{"query", "to_query"}, func(name string) bool { return !slices.Contains(params.Order, name) }),
		Target: asked.Target, Secret: s.secret, Plain: s.plain, Private: s.private, Timeout: timeout, Turn: s.turn, Vain: s.vain, Run: s.saying(params.Order),
	}
}

// writing is a tool that gives text, which is looked at before anything else is.
func (s spec) writing() spec {
	vain, run := s.vain, s.run
	s.vain = func(ctx context.Context, call *aai.Call) error {
		if err := asked.Writable(call); err != nil {
			return err
		}
		return vain(ctx, call)
	}
	s.run = func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		if err := asked.Writable(call); err != nil {
			return nil, err
		}
		return run(ctx, call)
	}
	return s
}

// asideOf is the turn of a tool whatever its arguments are.
func asideOf(turn aai.Turn) func(*aai.Call) aai.Turn {
	return func(*aai.Call) aai.Turn { return turn }
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
	deedReturns = `"delivered": {"type": "boolean"}, "verified": {"type": "boolean"}, "way": {"type": "string"},
		"element": {"type": "object"}, "changes": {"type": "array", "items": {"type": "string"}}, "more_changes": {"type": "integer"},
		"came": {"type": "array"}`
	elementReturns = `"element_ref": {"type": "string"}, "role": {"type": "string"}, "title": {"type": "string"}, "value": {"type": "string"}`
	pairReturns    = `{"type": "array", "items": {"type": "integer"}}`
)
