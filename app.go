package aai

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// BuiltinApp is the id of the gateway's own app. Its tools give access to guides, the list of
// apps, the history and consents.
const BuiltinApp = "aai"

// DesktopApp is the id of the app for the desktop. Its tools read and operate the windows of
// every program.
const DesktopApp = "desktop"

// PagePrefix begins the id of an app that stands for an open page of a browser; the page's origin follows. Such apps
// come and go with the pages, so lists for agents leave them out; they are found by search and by id.
const PagePrefix = "page:"

// IsPageName reports whether the name has the form of an open page's id, with or without "app:".
func IsPageName(name string) bool {
	return strings.HasPrefix(strings.TrimPrefix(name, "app:"), PagePrefix)
}

// DefaultTimeout is the time limit of a tool that sets none.
const DefaultTimeout = 30 * time.Second

// An App is a program on this computer, or a web service, that has tools. The catalog does not
// change an App after publishing it, so goroutines may read it concurrently.
type App struct {
	ID          string // reverse DNS, such as "org.gnome.Calculator"; "aai" and "desktop" are reserved for the gateway
	Name        string // display name; several languages are joined by "|"
	Description string
	Aliases     []string // other names that callers may use
	Tools       []*Tool  // in the order of the descriptor
	Platform    string   // section of the descriptor that defines the tools, such as "linux"
	// Digest is the SHA-256 of the exact descriptor in hexadecimal. Consent is bound to it. It is
	// empty for the gateway's own app.
	Digest string
	// Source is the place where the catalog found the descriptor, for display.
	Source string
	// PID is the process id if the app stands for a running program, otherwise zero.
	PID int
	// Server is the connection to a server that lists its own tools. Nil means that the
	// descriptor lists them. A driver has checked it.
	Server     *Recipe
	Site       Site       // of a web app
	Descriptor Descriptor // zero for an app without a descriptor
	Process    Process    // of an app that stands for a program
	// Operator is that of an app with tools that operate other programs. Nil means that targets are
	// apps of the catalog and that the parameter Tool.Target is required.
	Operator Operator
}

// A Site describes where the calls of a web app go.
type Site struct {
	// Origin is the origin that served the descriptor, such as "https://example.com". It is empty
	// for an app that a person installed on this computer.
	Origin string
	// BaseURL is the address that receives the calls, such as "https://api.example.com/v1".
	BaseURL string
	// Auth is the login, the same as in the recipes of the tools. Nil means no login.
	Auth *AuthRecipe
	// Logins are requests with the further logins of an app that has several, one for each name.
	Logins []*HTTPRecipe
	// Hosts lists the hosts that receive calls or logins, sorted, in lower case, with any port
	// but 443. It omits hosts on the origin's own site (the same registrable domain); a person
	// should see the rest before anything is sent there. Without an Origin it lists all hosts.
	Hosts []string
}

// A Descriptor describes the aai.json of an app.
type Descriptor struct {
	Version  string          // set by its author
	Modified time.Time       // time of the last write; zero if unknown
	Raw      json.RawMessage // as its author wrote it, or nil
	// Unprobed reports that the app's server has never been started, so its tools are unknown.
	Unprobed bool
	// Relist lists the tools of the app's server again and returns the app with them, or nil if the server does not
	// run. Relist itself is nil without a server that lists its own tools.
	Relist func(ctx context.Context) *App
}

// A Process is a program that an [Operator] found as the target of a call. The zero value has no
// checks.
type Process struct {
	// Launch describes the start of the program if the call is to start it, otherwise nil.
	Launch *Launch
	// Ping checks whether the program responds at all: only an error with code TIMEOUT means that
	// it does not. The gateway calls it after a call that ended by its deadline.
	Ping func(ctx context.Context) error
	// LockReason names the window by which the program currently protects the person, such as "a
	// lock of the screen", or returns "". That of an app with an Operator concerns all programs.
	LockReason func(ctx context.Context) string
	// RunsCommands reports whether input at an unknown place in the program may run commands. Nil
	// means no.
	RunsCommands func() bool
	// Browser is the program that shows an open page, such as "chromium". It is empty for other apps.
	Browser string
	// HostsCaller reports that the caller itself runs in the program, so operating it may end the
	// caller.
	HostsCaller bool
}

// A Launch describes the start of a program by a call.
type Launch struct {
	CommandLine   string // the whole command, quoted so that different commands differ
	Digest        string // of the program, its desktop entry and the entry's command
	IsBareProgram bool   // the program's own command has no arguments
	HasArgs       bool   // the call gives arguments
	OpensArgs     bool   // the arguments are files or addresses, at the place that the entry has for them
	RunsCommands  bool   // the program runs commands that it receives
}

// An Operator finds and judges the programs that an app's tools operate. It is safe for concurrent
// use.
type Operator interface {
	// FindTarget finds the program that a call operates, by the name in the parameter
	// Tool.Target. For a call without that parameter the name is empty, and FindTarget returns the
	// program that the call means, which it adds to the arguments, or nil for this app itself. A target
	// with PID zero is started by the call. If the choice needs a person, FindTarget returns an *Error with
	// Questions.
	FindTarget(ctx context.Context, call *Call, name string) (*App, error)
	// ResolveTarget returns the element that a call will act on, such as a button, as far as it
	// is known before the call runs. Call.Target is set.
	ResolveTarget(ctx context.Context, call *Call) TargetElement
	// RunsCommand reports whether the input of a typing tool's call would run as a command at its
	// place in the target, as far as that is known before the call runs. Call.Target is set.
	RunsCommand(ctx context.Context, call *Call) bool
}

// Names returns the app's display names and aliases; other apps may share them.
func (a *App) Names() []string { return append(strings.Split(a.Name, "|"), a.Aliases...) }

// WireName returns the app's id in wire form; see [WireName].
func (a *App) WireName() string { return WireName("app:" + a.ID) }

// HasName reports whether name, in any case, means the app: its id, with or without "app:", its
// wire name, or one of [App.Names].
func (a *App) HasName(name string) bool {
	same := func(other string) bool { return strings.EqualFold(name, other) }
	return name != "" && (same(a.ID) || same("app:"+a.ID) || slices.ContainsFunc(a.Names(), same) || same(a.WireName()))
}

// IsPage reports whether the app stands for an open page of a browser.
func (a *App) IsPage() bool { return IsPageName(a.ID) }

// OperatesOthers reports whether the app's tools operate other programs. A call then targets one
// of them, or the app itself if it names none.
func (a *App) OperatesOthers() bool { return a.Operator != nil }

// Tool returns the tool with the exact name, or nil.
func (a *App) Tool(name string) *Tool {
	for _, t := range a.Tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// DigestOf returns the digest that consent to the permission is bound to. It is that of the tool
// with that name, of the program start, or of the whole app.
func (a *App) DigestOf(permission string) string {
	if a.Process.Launch != nil && permission == PermissionStart {
		return a.Process.Launch.Digest
	}
	if t := a.Tool(permission); t != nil && t.Implementation.Digest != nil {
		if digest := t.Implementation.Digest(); digest != "" {
			return digest
		}
	}
	return a.Digest
}

// IsRunnable reports whether any of the app's tools can run on this computer. It is true for an
// app with a Server, even if the server's tools are unknown.
func (a *App) IsRunnable() bool {
	if a.Server != nil {
		return true
	}
	for _, t := range a.Tools {
		if t.Run != nil {
			return true
		}
	}
	return false
}

// A Tool is one thing that an app can do: a description plus an Action.
type Tool struct {
	Name, Title, Description string
	Group                    string // part of the app that the tool belongs to, such as "orders"; may be empty

	Params  Schema
	Returns Schema // schema of the result's Data; the zero Schema promises nothing
	Effect  Effect
	// Idempotent reports, of a tool that acts, that the same call again changes nothing more.
	Idempotent bool
	Target     string // parameter that names the app to operate; empty: the tool's own app
	// Assess returns the facts about a call by which the gateway and its gates decide. call is
	// nil for the tool in general. Nil means the zero Assessment; see [Tool.Assessment].
	Assess  func(call *Call) Assessment
	Privacy Privacy
	Limits  Limits
	// Precheck returns the reason why a call would certainly fail, so that no person is asked
	// about it. It changes nothing, and runs only if a person would be asked. For windows of a
	// program it runs only for callers that may see them. Call.Target is set. Nil means that no
	// check exists.
	Precheck func(ctx context.Context, call *Call) error
	// Run executes the tool. Nil means that the tool cannot run on this computer: Do returns
	// Implementation.Unavailable, or AUTOMATION_NOT_SUPPORTED if that is nil too.
	Run            Action
	Implementation Implementation
}

// Assessment returns the assessment of a call, which is nil for the tool in general.
func (t *Tool) Assessment(call *Call) Assessment {
	if t.Assess == nil {
		return Assessment{}
	}
	return t.Assess(call)
}

// Always returns an Assess function for a tool whose calls are all alike.
func Always(a Assessment) func(*Call) Assessment { return func(*Call) Assessment { return a } }

// An Assessment holds the facts about a call, other than its effect, by which the gateway and its
// gates decide. The zero value is the careful one.
type Assessment struct {
	EffectInherent  bool // Effect follows from the mechanism, such as an HTTP GET; false: it is only declared
	Kind            Kind // category for limits and modes, other than the effect
	MayStartProgram bool // some arguments make it start a program, regardless of Effect
	// OnlyMakesCalls declares that the Action does nothing but make calls with its context. While
	// a person is asked about those, its deadline is paused. Each inner call passes every gate,
	// so a builtin outer call needs no consent. Descriptors cannot set it.
	OnlyMakesCalls bool
	// RunsScript declares that the Action runs a script of the caller. The mode "safe" refuses it.
	RunsScript bool
	// AllowUnaudited lets the tool run from the command line even if the journal cannot be
	// written; its answer then contains a warning. It is for tools that report on the gateway
	// itself or stop it, and only counts for the gateway's own app.
	AllowUnaudited bool
	// PrecheckPublic reports that Precheck of a builtin tool reveals no decisions about others,
	// so every caller may receive its error.
	PrecheckPublic  bool
	SendsKeys       bool // it sends text or keys to the target, which a terminal would run
	TakesScreenshot bool // it captures its target or the whole screen
	KeepsFocus      bool // it leaves the person's pointer and keyboard alone
	// ReadsFiles lists the files that the call sends to the app. A person is asked about each call
	// with one.
	ReadsFiles []string
	// FilesGoTo is the address that receives the files.
	FilesGoTo string
	// PicturesGoTo is the host, with its port, of the model that gets pictures of the target; "" if none does.
	PicturesGoTo string
	// RecordsPerson reports that the call begins to record the person's acts. The person is asked about each such call.
	RecordsPerson bool
	// ElementParams lists the parameters that identify the window element; nil means that any
	// may.
	ElementParams []string
	// Concurrency tells how the call may overlap with others to the same program. Exclusive
	// counts as Shared if the target has no process.
	Concurrency Concurrency
}

// Privacy describes the values of a call that the journal must not keep. The zero value keeps all.
type Privacy struct {
	// Secret lists parameters with values that the journal must not keep. "fields.value" means the
	// member "value" in any item of the parameter "fields".
	Secret []string
	// NonSecret returns the members of Secret that are not secret with the given arguments, such
	// as the key of a shortcut. Nil means none.
	NonSecret func(args map[string]any) []string
	// ShowSecrets lets the deciding person see the secret parameters, except those with a name that
	// marks a secret. The journal still omits all of them.
	ShowSecrets bool
	// RecordArgs returns the arguments as the journal and questions show them, in a new map, and
	// texts that recorded messages must not repeat; nil: as they are.
	RecordArgs func(args map[string]any) (shown map[string]any, secrets []string)
	Result     bool // the answer must not be kept, such as the clipboard's contents
	// FillsSecrets reports that the Action of a tool for windows fills {{secret:NAME}} in the parameters of Secret itself,
	// by gateway.FillSecrets.
	FillsSecrets bool
}

// Limits are the limits of one call.
type Limits struct {
	// Timeout limits a call from its receipt to the end of Run, without the time that a person
	// needs to answer. Zero means DefaultTimeout.
	Timeout time.Duration
	// Background limits a call that continues after its request ends; see
	// gateway.WithBackgroundTimeout. Zero means Timeout.
	Background time.Duration
	// Args is the limit of the arguments in bytes of JSON if it exceeds the default, for
	// example for a file. Zero means 1 MiB.
	Args int
	// AllowsTask reports that clients may run the calls as tasks although Timeout is short.
	AllowsTask bool
	// Unlisted keeps the tool out of lists and guides, which every conversation pays for. It serves resources, and is
	// called like any other.
	Unlisted bool
}

// An Implementation describes how a tool is run.
type Implementation struct {
	// Summary describes it in one line for people, such as "D-Bus org.example.Notes
	// /org/example/Notes Wipe".
	Summary string
	// Digest returns the SHA-256 of the tool's description and implementation in hexadecimal.
	// Consent to the tool is bound to it, or to App.Digest if it is nil or returns "". It is a
	// function because most tools are never called. It is safe for concurrent use and always
	// returns the same value.
	Digest      func() string
	Unavailable *Error // the reason why it cannot run, such as a bus that the person has not enabled
	// Watch calls changed, which must not block, after each change of what a reading tool returns for the arguments, until
	// stop. Nil means that changes are not reported. It asks for no consent and reports no content.
	Watch func(args map[string]any, changed func()) (stop func(), err error)
}

// An Action executes a tool. The call has been resolved, validated, admitted and recorded, with
// defaults applied; the context ends at the tool's deadline. Actions run concurrently. The
// gateway reports an error that is not an *Error as AUTOMATION_FAILED.
type Action func(ctx context.Context, call *Call) (*Result, error)

// A Concurrency tells how a call may overlap with other calls to the same app.
type Concurrency int

// The levels of concurrency.
const (
	// Exclusive calls run one at a time on the windows of a program. Apps without windows use
	// Shared by default.
	Exclusive Concurrency = iota
	// Shared calls run beside an Exclusive one, such as a call that waits for the effects of
	// others.
	Shared
	// Independent calls need no response of the app, so they run even if it hangs.
	Independent
)

// A Kind is a category of tools for modes and limits.
type Kind string

// The kinds.
const (
	KindScript Kind = "script" // runs a script, which may do anything
	KindVision Kind = "vision" // sends pictures to a model
)

// Effect is the effect of a tool on the world. The zero value is the most dangerous one, so an
// omitted effect is safe.
type Effect int

// The effects, from the most to the least dangerous.
const (
	Destroys Effect = iota // sends, deletes, pays, or is not declared
	Changes                // makes a change that can be reverted
	Reads                  // changes nothing
)

// String returns the descriptor's word for the effect.
func (e Effect) String() string {
	switch e {
	case Reads:
		return "reads"
	case Changes:
		return "changes"
	case Destroys:
	}
	return "destroys"
}

// A Schema is a JSON Schema (draft-07) as its author wrote it, with the check compiled from it.
type Schema struct {
	// Source is the schema as written, or nil for none.
	Source json.RawMessage
	// Order holds the names in the schema's "properties" as written, which is the order of
	// positional arguments.
	Order []string
	// Check returns the value with the schema's defaults, or an *Error with code INVALID_PARAMS
	// that names the place in the value and the expected type. It does not change its argument.
	// It is safe for concurrent use.
	Check func(value any) (any, error)
	// Unchecked lists the parts of the schema that Check leaves to the app, each with the reason.
	Unchecked []string
}
