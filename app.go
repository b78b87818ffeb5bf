package aai

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// BuiltinApp is the id of the app that stands for the gateway itself: its guides,
// its list of apps, its history and its consents are tools of this app.
const BuiltinApp = "aai"

// DesktopApp is the id of the app that stands for the screen: its tools see and
// operate the windows of every program.
const DesktopApp = "desktop"

// DefaultTimeout is how long a tool may run when nobody said otherwise.
const DefaultTimeout = 30 * time.Second

// An App is something on this computer, or on the web, that has tools.
// It is not changed after the catalog has published it, so it may be read by
// many goroutines at once.
type App struct {
	ID          string // reverse DNS, such as "org.gnome.Calculator"; "aai" and "desktop" are the gateway's own
	Name        string // for people; several languages are joined by "|"
	Description string
	Version     string   // of the descriptor, as its author counts
	Aliases     []string // other names by which a caller may ask for it
	Tools       []*Tool  // in the order of the descriptor
	Platform    string   // whose section of the descriptor the tools come from, such as "linux"

	// Origin is where the descriptor was fetched, such as "https://example.com"; empty
	// for an app that a person placed on this computer.
	Origin string
	// BaseURL is where the calls of a web app go, such as "https://api.example.com/v1";
	// empty for any other app.
	BaseURL string
	// Auth is how the person is known to a web app; nil: not at all. It is the one of
	// its tools' recipes.
	Auth *AuthRecipe
	// Hosts are the hosts that calls, logins and pages for logging in go to, in lower
	// case and with a port that is not 443, sorted. Those of the origin's own site
	// (the same registrable domain) are left out: what remains a person should see
	// before anything is sent there. Without an Origin it is all of them.
	Hosts []string

	// Digest names the exact descriptor, in hexadecimal SHA-256. Consent is
	// bound to it. Empty for the gateway's own app.
	Digest string
	// Source is where the descriptor was found, for people.
	Source string
	// Modified is when the descriptor was last written; zero where nobody knows.
	Modified time.Time
	// PID is the process of a program that runs, where the app stands for that;
	// otherwise zero.
	PID int
	// Launch says how the call starts the program, where the app stands for one that it is to
	// start; otherwise nil.
	Launch *Launch
	// Server is how the app is reached where it says itself what tools it has; nil: the
	// descriptor says. A driver has found it right.
	Server *Recipe
	// Unprobed says that the server has not said yet what it has: nobody has started it.
	Unprobed bool
	// Descriptor is the descriptor as its author wrote it, or nil.
	Descriptor json.RawMessage

	// FindTarget finds the app that a call really touches, by the name in the
	// parameter that Tool.Target names, where that is no app of the catalog but a
	// program whose windows are operated; a call that does not name one touches
	// this app itself. A target without a process is one that the call is to start.
	// Nil means that the catalog knows the app, and that it must be named. What
	// Targets cannot tell it may ask, by an *Error with Questions.
	FindTarget func(ctx context.Context, call *Call, name string) (*App, error)
	// Ping looks whether the app answers at all, however: only an error with code
	// TIMEOUT says that it does not. It is asked after a call that ended by its
	// deadline. Nil where nobody can look.
	Ping func(ctx context.Context) error
	// LockReason says by which of its windows the program guards the person at this moment,
	// such as "a lock of the screen", as far as that can be seen; "" where it does not. Nil
	// means that nobody can look.
	LockReason func(ctx context.Context) string
	// HasTerminal reports whether the program shows a terminal of which nothing tells where in
	// its windows it is: what is done there may run commands. Nil means that none does.
	HasTerminal func() bool
	// HostsCaller says that the caller itself runs in the program: to operate it may end the caller.
	HostsCaller bool
	// ResolveTarget says what a call will act on, such as a button, as far as that is known before
	// the call runs. Call.Target is set. Nil means that the app has no such elements.
	ResolveTarget func(ctx context.Context, call *Call) TargetElement
	// IsTerminalElement reports whether the element that a call of a tool that types is about is a
	// terminal within the target, as far as that is known before the call runs. Call.Target
	// is set. Nil means that nobody can look.
	IsTerminalElement func(ctx context.Context, call *Call) bool
}

// A Launch is a start of a program, as a call asks for it.
type Launch struct {
	CommandLine   string // the whole command, which no other command is written as
	Digest        string // of the program, its desktop entry and the entry's command
	IsBareProgram bool   // the program's own command is the program alone
	HasArgs       bool   // the call gives arguments
	OpensArgs     bool   // these are files or addresses in the place that the entry has for them
	RunsCommands  bool   // the program runs commands that it is given
}

// Names are the app's names for people and its aliases: other apps may have them too.
func (a *App) Names() []string { return append(strings.Split(a.Name, "|"), a.Aliases...) }

// WireName is the app's id as it goes over the wire; see [WireName].
func (a *App) WireName() string { return WireName("app:" + a.ID) }

// HasName reports whether a caller may ask for the app by the name, whatever its case: an
// id, also after "app:", its wire name, or one of [App.Names].
func (a *App) HasName(name string) bool {
	same := func(other string) bool { return strings.EqualFold(name, other) }
	return name != "" && (same(a.ID) || same("app:"+a.ID) || slices.ContainsFunc(a.Names(), same) || same(a.WireName()))
}

// OperatesOthers reports whether the app stands for programs that it operates: a call
// touches one of them, or the app itself where it names none.
func (a *App) OperatesOthers() bool { return a.FindTarget != nil }

// Tool finds a tool of the app by its exact name, or returns nil.
func (a *App) Tool(name string) *Tool {
	for _, t := range a.Tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// DigestOf names what consent to the permission is bound to: the tool of that
// name, how a program is started, or the whole app.
func (a *App) DigestOf(permission string) string {
	if a.Launch != nil && permission == PermissionStart {
		return a.Launch.Digest
	}
	if t := a.Tool(permission); t != nil && t.Digest != nil {
		if digest := t.Digest(); digest != "" {
			return digest
		}
	}
	return a.Digest
}

// IsRunnable reports whether any of the app's tools can run on this computer.
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

// A Tool is one thing an app can do: a description plus an Action.
type Tool struct {
	Name, Title, Description string
	Group                    string // the part of the app it is of, such as "orders"; empty: none is said

	Params  Schema
	Returns Schema // what the result's Data promises to be; the zero Schema promises nothing

	Effect          Effect
	EffectInherent  bool // Effect follows from how the tool works, such as an HTTP GET; false: somebody says so
	Kind            Kind // what limits and modes know it by, where that is not its effect
	MayStartProgram bool // with some arguments it starts a program, whatever its effect is otherwise
	SendsKeys       bool // it gives the target text or keys, which a terminal would run
	// TakesScreenshot says that it takes a picture of its target, or of the whole screen.
	TakesScreenshot bool
	// ElementParams names the parameters that say which element of a window it acts on; nil: any
	// may.
	ElementParams []string
	// TakesFocus reports whether a call that acts takes the person's pointer and keyboard;
	// nil: each may.
	TakesFocus func(call *Call) bool
	Target     string // the parameter that names the app which is really touched; empty: the tool's own app
	// Secret are parameters whose values the journal must not keep; "fields.value" is what is
	// called value in any of the fields.
	Secret []string
	// NonSecret names those of Secret that are none with such arguments, such as the key of a
	// shortcut; nil: there are no such arguments.
	NonSecret func(args map[string]any) []string
	// ShowSecrets says that the person who is asked sees its secret parameters, but those whose own
	// name says that they are secret: only the record goes without all of them.
	ShowSecrets   bool
	PrivateResult bool // what it answers must not be kept, such as the clipboard's contents
	// AllowUnaudited says that the tool tells a person of the gateway itself, such as what is
	// wrong with its record, or stops it. Where nothing can be put on record it runs all the
	// same for the command line, and its answer says so. It counts only of the gateway's own
	// app.
	AllowUnaudited bool
	// Timeout is how long a call may take, from when it came in to when Run has ended,
	// without what a person takes for answers; zero means DefaultTimeout.
	Timeout time.Duration
	// BackgroundTimeout is how long a call may take that outlasts its request; see [WithBackgroundTimeout]. Zero
	// means Timeout.
	BackgroundTimeout time.Duration
	// MaxArgs is how many bytes the arguments may have as JSON, where that is more than
	// usual, such as for a tool that takes a file; zero means a MiB.
	MaxArgs int
	// OnlyMakesCalls says that all its Action does is to make calls of its own, with its context: while
	// a person is asked about those, its time stands still. Each of them passes every gate, so
	// of the gateway's own tools nobody is asked about the outer one. No descriptor can say it.
	OnlyMakesCalls bool
	// Concurrency says how a call goes together with others to the same program; nil: InTurn.
	Concurrency func(call *Call) Concurrency

	// Precheck says why a call would come to nothing, as far as that is known before it runs,
	// so that no person is asked for what fails anyway. It changes nothing, and is asked
	// only where a person would be; about the windows of a program only for a caller who
	// may see them, about the screen for all. Call.Target is set. Nil means that nobody can look.
	Precheck func(ctx context.Context, call *Call) error
	// PrecheckPublic says that of the gateway's own tool Vain tells nothing that was decided for
	// others, so that every caller may hear it.
	PrecheckPublic bool

	// Run does it. Nil means that the tool cannot run on this computer: Do answers
	// Unavailable, or AUTOMATION_NOT_SUPPORTED where that is nil too.
	Run         Action
	Unavailable *Error // such as a bus that the person has not switched on

	// Digest names exactly what the tool says of itself and what it would run, in
	// hexadecimal SHA-256. Consent to the tool is bound to it; where it is nil or
	// gives nothing, to App.Digest. It is a function because most tools are never
	// called; it is safe for concurrent use and always gives the same.
	Digest func() string
	// Implementation says in one line what stands behind the name, for people, such as
	// "D-Bus org.example.Notes /org/example/Notes Wipe".
	Implementation string
}

// An Action does what a tool says. It gets a call that was resolved, validated,
// admitted and recorded, with defaults applied, and a context that ends at the
// tool's deadline. It is called from many goroutines at once. An error that is
// not an *Error is reported as AUTOMATION_FAILED.
type Action func(ctx context.Context, call *Call) (*Result, error)

// A Kind is a sort of tool that modes and limits are about.
type Kind string

// The kinds.
const (
	KindScript Kind = "script" // runs a script, which may do anything
	KindVision Kind = "vision" // asks a model to look at pictures
)

// Effect says what running a tool does to the world. The zero value is the most
// dangerous one, so that forgetting to set it is safe.
type Effect int

// The effects, from the most dangerous to the least.
const (
	Destroys Effect = iota // sends, deletes, pays, or nobody said what
	Changes                // changes something that can be changed back
	Reads                  // leaves everything as it was
)

// String returns the word a descriptor uses for the effect.
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

// A Schema says which values are right: a JSON Schema, draft-07, as somebody
// wrote it, and the check made from it.
type Schema struct {
	// Source is the schema as written, or nil for none.
	Source json.RawMessage
	// Order holds the names in the schema's "properties" in the order they are
	// written, which is the order of positional arguments.
	Order []string
	// Check returns the value with the schema's defaults filled in, or an *Error
	// with code INVALID_PARAMS that names the place in the value and what was
	// expected there. It does not change its argument. Safe for concurrent use.
	Check func(value any) (any, error)
}
