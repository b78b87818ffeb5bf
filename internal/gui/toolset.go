package gui

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gateway/active"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
	"github.com/gybob/aai-gateway/internal/gui/eventlog"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/programs"
	"github.com/gybob/aai-gateway/internal/gui/recording"
	"github.com/gybob/aai-gateway/internal/vision"
	"github.com/gybob/aai-gateway/internal/vision/model"
)

// Config configures the tools.
type Config struct {
	// Open connects to the desktop. The first call of a tool calls it, once, so that the start of
	// the program touches nothing.
	Open func() desktop.Backend
	// InputLock guards the person's pointer, keyboard and focus: actions that may move the focus
	// wait while a question is open. Nil: there are no questions.
	InputLock *inputlock.Lock
	// RefsFolder is the folder for the terminal's refs between its commands, kept for an hour, and for the list of fields
	// with secrets, which all gateways of the person share; "" keeps none. It is created when needed.
	RefsFolder string
	// SessionInfo describes the person's session, for people and as data; nil if there is nothing
	// to describe.
	SessionInfo func(ctx context.Context) (lines []string, data map[string]any)
	// IsScreenLocked reports whether the system says that the person's screen is locked; nil if
	// unknown.
	IsScreenLocked func(context.Context) bool
	// IsCallerHost reports whether the caller runs in the process: its program needs an explicit
	// permission. Nil: unknown.
	IsCallerHost func(pid int) bool
	// IsTerminal reports whether the process shows a terminal. It is used only for programs without a tree, in which a
	// terminal cannot be recognized. Nil: unknown.
	IsTerminal func(pid int) bool
	// DashboardHosts returns the hosts, with ports, of the person's dashboards now: windows that
	// show one can be neither seen nor operated. Nil: there are none.
	DashboardHosts func() ([]string, error)
	// UndoDepth returns the number of the caller's acts that ax_undo can still revert. Nil: unknown.
	UndoDepth func(ctx context.Context, caller aai.Caller) (int, error)
	// SecurityMode returns the mode in effect: normal, safe or sandboxed. Nil: unknown.
	SecurityMode func() string
	// PagesOf returns the ids of the apps of pages with tools that are open in a browser, by its process. Nil: unknown.
	PagesOf func(ctx context.Context, pid int) []string
	// CheckUpload returns an error unless the file may be given to a page. With nil no file is given.
	CheckUpload func(path string) error
	// Baselines keeps the pictures that windows are compared with; nil: none is kept.
	Baselines *vision.Baselines
	// Leases keep agents apart that act in one program; nil: agents do not wait for each other.
	Leases *active.LeaseStore
	// Model is asked about pictures; nil: none is.
	Model *model.Service
	// Recordings record the person's acts; nil: there are none.
	Recordings *recording.Manager
	// Do makes a call through all gates. Nil: no tool makes calls.
	Do  func(context.Context, *aai.Call) (*aai.Result, error)
	Log *slog.Logger // nil: no log
	// ExtraTools are tools of other packages, listed after those of this one.
	ExtraTools []*aai.Tool
}

// engine holds the state that the tools and the views of all calls share.
type engine struct {
	programs.Registry
	refStore     conversation.RefStore
	filled       *conversation.FilledFields
	session      func(context.Context) ([]string, map[string]any)
	pagesOf      func(ctx context.Context, pid int) []string
	checkUpload  func(path string) error
	undoDepth    func(context.Context, aai.Caller) (int, error)
	securityMode func() string
	begun        time.Time
	recorders    *eventlog.Recorders
	words        *vision.Reader
	baselines    *vision.Baselines
	model        *model.Service
	recordings   *recording.Manager
	leases       *active.LeaseStore
	strokes      func() int
	acts, acting atomic.Int64 // calls that do not only read: begun so far, and under way
	do           func(context.Context, *aai.Call) (*aai.Result, error)
}

// New returns the desktop as an app. Its tools are safe for concurrent use.
func New(cfg Config) *aai.App {
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if cfg.Model == nil {
		cfg.Model = model.New(model.Config{Backend: model.Client})
	}
	filled := &conversation.FilledFields{Repeats: repeatsSecret}
	if cfg.RefsFolder != "" {
		filled.Path = filepath.Join(cfg.RefsFolder, "filled.json")
	}
	d := &engine{
		Registry: programs.Registry{
			OpenBackend: sync.OnceValue(func() desktop.Backend {
				return conversation.WithFilledFields(programs.WithInputLock(measured(cfg.Open()), cfg.InputLock), filled)
			}),
			IsCallerHost: cfg.IsCallerHost, IsTerminal: cfg.IsTerminal, IsScreenLocked: cfg.IsScreenLocked, DashboardHosts: cfg.DashboardHosts, Log: log, Sessions: conversation.NewSessions(), SelfPID: os.Getpid(),
		},
		refStore: conversation.RefStore{Folder: cfg.RefsFolder}, filled: filled,
		session: cfg.SessionInfo, pagesOf: cfg.PagesOf, checkUpload: cfg.CheckUpload, undoDepth: cfg.UndoDepth, securityMode: cfg.SecurityMode, begun: time.Now(), words: &vision.Reader{}, baselines: cfg.Baselines, model: cfg.Model, recordings: cfg.Recordings, leases: cfg.Leases, strokes: cfg.InputLock.Strokes, do: cfg.Do,
	}
	filled.Runs = d.Runs
	d.recorders = eventlog.New(func() eventlog.Config {
		backend := d.OpenBackend()
		return eventlog.Config{
			Backend: backend, State: comparableState, Apps: d.Apps, Current: d.current,
			IsRunning: func(pid int) bool { return backend.Programs == nil || backend.Programs.IsRunning(pid) },
		}
	})
	tools := d.tools()
	return &aai.App{
		ID: aai.DesktopApp, Name: "Desktop", Platform: "any",
		Description: "The windows of every program on this computer, by their accessibility trees: see, find, click, type.",
		Aliases:     []string{"screen", "windows"},
		Tools:       append(tools, cfg.ExtraTools...),
		Process:     aai.Process{LockReason: d.DashboardOnScreen},
		Operator:    operator{d, tools},
	}
}

// tools returns all tools, in the order in which a newcomer needs them.
func (d *engine) tools() (tools []*aai.Tool) {
	for _, s := range []spec{
		d.isAccessibleTool(), d.listAppsTool(), d.connectTool(), d.listWindowsTool(),
		d.getTreeTool(), d.findTool(), d.relocateTool(), d.getAttributesTool(), d.getValueTool(), d.getStateTool(), d.getEventsTool(), d.recordTool(), d.assertTool(), d.waitTool(), d.waitIdleTool(), d.screenshotTool(), d.findVisualTool(), d.askModelTool(), d.visualDiffTool(), d.a11yAuditTool(), d.keyboardAuditTool(),
		d.clickTool(), d.clickAtTool(), d.typeTool(), d.setValueTool(), d.fillTool(), d.keyPressTool(), d.scrollTool(), d.dragTool(), d.windowTool(),
		d.clipboardTool(), d.leaseTool(), d.sessionInfoTool(),
	} {
		tools = append(tools, d.tool(s))
	}
	return tools
}

// operator implements aai.Operator.
type operator struct {
	*engine
	own []*aai.Tool // the tools of this package
}

// FindTarget is ResolveApp for the tools; errors of tools that deliver nothing have no delivery.
func (o operator) FindTarget(ctx context.Context, call *aai.Call, name string) (*aai.App, error) {
	if name == "" {
		if call.Tool != clickAtName && call.Tool != keyPressName && call.Tool != RecordTool {
			return nil, nil //nolint:nilnil // the whole screen
		}
		pid, err := o.onlyConnected(call)
		if err != nil {
			return nil, err
		}
		name = strconv.Itoa(pid)
		call.Args[params.AppParam] = name
	}
	app, err := o.ResolveApp(ctx, call, name)
	if ended := o.endedProgram(call, name, err); ended != nil {
		return ended, nil
	}
	if err == nil || params.Launches(call) || !slices.ContainsFunc(o.own, func(t *aai.Tool) bool { return t.Name == call.Tool && t.Effect == aai.Reads }) {
		return app, err
	}
	e := *aai.AsError(err)
	e.Delivery = ""
	return nil, &e
}

// onlyConnected returns the PID of the conversation's only connected program.
func (d *engine) onlyConnected(call *aai.Call) (int, error) {
	connected, _ := d.Sessions.For(call).Report()
	if len(connected) == 1 {
		return connected[0], nil
	}
	e := aai.Errorf(aai.InvalidParams, "app: the call names no program, and %d programs are connected in this conversation", len(connected))
	e.Delivery = aai.NotDelivered
	e.Hint = "Give the program as app; ax_list_apps shows the names. Without app the call operates the only connected program."
	return 0, e
}

// Parameters that several tools share.
const (
	appProp   = `"app": {"type": "string", "description": "Name, alias, id or PID from ax_list_apps"}`
	queryProp = `"query": {"type": "string", "description": "Ref (e12), name, role:button title:Save, contains:Sav, /regex/ or //button[@name='Save']"}`
	nthProp   = `"nth": {"type": "integer", "minimum": 1, "description": "Which of several matches"}`
	modeProp  = `"mode": {"type": "string", "enum": ["background", "focus"], "default": "background", "description": "focus takes the person's pointer and keyboard"}`
	clickProp = `"click_type": {"type": "string", "enum": ["single", "double", "right", "hover"], "default": "single"}`
)

// Results that several tools share.
const (
	elementReturns = `"element_ref": {"type": "string"}, "role": {"type": "string"}, "title": {"type": "string"}, "value": {"type": "string"}`
	pairReturns    = `{"type": "array", "items": {"type": "integer"}}`
)
