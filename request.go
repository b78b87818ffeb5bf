package aai

import (
	"context"
	"slices"
	"sync"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// A Gate decides whether a call may run. It never talks to people: it returns questions, and
// finds the answers in Request.Call.Answers when the call is made again. A Gate is safe for
// concurrent use.
type Gate interface {
	// Check checks a request: it admits it (nil, nil), returns questions, or refuses it
	// with an *Error.
	Check(ctx context.Context, r *Request) ([]Question, error)
}

// A QuestionMerger is a Gate that can merge its questions about several calls into one.
type QuestionMerger interface {
	Gate
	// MergeQuestions returns one question that replaces the asked ones, which concern different
	// requests and share an ID. It returns false if each must be asked. The check of each request
	// receives the answer.
	MergeQuestions(asked []PendingQuestion) (q Question, joined bool)
}

// PendingQuestion is a gate's unanswered question about a request.
type PendingQuestion struct {
	Request  *Request
	Question Question
}

// A Meter counts calls on receipt, before they are decoded. It is safe for concurrent use.
type Meter interface {
	// CountReceived counts a call with the given bytes of arguments, or refuses it with an
	// *Error.
	CountReceived(c Caller, bytes int) error
}

// A Request is a call in progress with its app, tool and validated arguments.
type Request struct {
	Call *Call // with defaults applied to Args, and with the Target that gates judge
	App  *App
	Tool *Tool
	// Outer is the request of the Action that makes this call; nil for a call from a door. A
	// gate's reservation for Outer, such as a slot, covers both.
	Outer *Request
	// Sandboxed restricts the call to reading in any mode; see gateway.WithSandbox.
	Sandboxed bool
	Consent   string // basis of the consent for the record, set by the gate that admits
	// Deferred reports that the call is admitted with others and runs later; counting gates count
	// it then.
	Deferred bool
	Judgement
	// AdmittedPermission is the permission that every gate has admitted; "" before that. A gate
	// that checks again after a wait asks no question about it.
	AdmittedPermission string

	// LastRevocation identifies the last revocation before a person's answer admitted the call. The gate
	// sets it, and detects by it a later revocation when it checks again.
	LastRevocation string

	// DryRun asks the gates for a decision only; nothing will run.
	DryRun bool

	// Secrets are the secrets of the person that the Action will get. Each needs a consent of its own. Do sets them.
	Secrets []SecretUse
	// AdmittedSecrets holds the digests of the secrets that a person's answer admitted for this call alone. The gate sets
	// it, for a check after a wait.
	AdmittedSecrets []string
	// Secret makes the request ask for the permission to fill this secret, in place of the permission to make the call.
	// Gates set it in a request of their own.
	Secret *SecretUse

	reservations reservations
}

// A Judgement holds the facts about a call that operates another program, by which gates decide.
type Judgement struct {
	// Element is the element that the call will act on, as far as known; see ResolveTarget.
	Element TargetElement
	// TargetResolved reports that Element is the one that the Action reported in place of the one
	// that the gates had judged. The gates then judge Element and search no more.
	TargetResolved bool
	// Destructive is set by a gate that considers the action irreversible.
	Destructive bool
	// DestructiveReason names the word or key that made the gate set Destructive. It is text of
	// the gateway or the person, never of a third party; "" if there is none.
	DestructiveReason string
	// RunsCommand is set by a gate if the input would run as a command, such as text typed into a
	// terminal. It is also set if the call starts a program that runs commands.
	RunsCommand bool
}

// The permissions for the windows of an app. One approval covers the app, not a single button.
const (
	PermissionSee = "see" // tools that only read
	PermissionAct = "act" // all other tools
	// PermissionStart allows starting a program by its own command, with files or addresses that
	// it opens. Other arguments need an answer for each call, or a grant in the configuration for
	// "start" and the whole command.
	PermissionStart = "start"
	// PermissionDestroy allows an action that looks irreversible, such as a click on "Delete".
	// PermissionAct does not include it.
	PermissionDestroy = "destroy"
	// PermissionRun allows typing into a terminal, or starting one or an interpreter, and so
	// running any command. No other permission includes it, nor does "every".
	PermissionRun = "run"
	// PermissionHost allows seeing and operating the program that the caller runs in, which may
	// end the caller. No other permission includes it, nor does "every".
	PermissionHost = "host"
	// PermissionPicture and a host, after a space, allow sending pictures and texts of the windows to a model there, and
	// showing its answers to the caller. No other permission includes it, nor does "every".
	PermissionPicture = "picture"
	// PermissionSecret and the name of a secret, after a space, allow filling the secret. No other permission includes it,
	// nor does "every".
	PermissionSecret = "secret"
)

// Permission returns the permission that a person allows or refuses for the request. It is the
// tool's name, or, for an app that operates others, one of the Permission constants.
func (r *Request) Permission() string {
	switch {
	case r.Secret != nil:
		return PermissionSecret + " " + r.Secret.Name
	case !r.App.OperatesOthers():
		return r.Tool.Name
	case r.StartsProgram() && r.RunsCommand:
		return PermissionRun
	case r.StartsProgram():
		return PermissionStart
	case r.RunsCommand && r.Tool.Effect != Reads:
		return PermissionRun
	case r.Assessment().PicturesGoTo != "":
		return PermissionPicture + " " + r.Assessment().PicturesGoTo
	case !r.IsWholeScreen() && r.Call.Target.Process.HostsCaller:
		return PermissionHost
	case r.Tool.Effect == Reads:
		return PermissionSee
	case r.Destructive:
		return PermissionDestroy
	}
	return PermissionAct
}

// IsWholeScreen reports whether the call concerns the whole screen, or shared state such as the
// clipboard, and no particular program.
func (r *Request) IsWholeScreen() bool { return r.App.OperatesOthers() && r.Call.Target == r.App }

// StartsProgram reports whether the call starts a program that has windows.
func (r *Request) StartsProgram() bool {
	return r.App.OperatesOthers() && !r.IsWholeScreen() && r.Call.Target.PID == 0
}

// Assessment returns the assessment of the call.
func (r *Request) Assessment() Assessment { return r.Tool.Assessment(r.Call) }

// Effect returns the effect of the call: that of its tool, or Destroys if the call starts a
// program.
func (r *Request) Effect() Effect {
	if r.StartsProgram() {
		return Destroys
	}
	return r.Tool.Effect
}

// Digest returns the digest that a permission is bound to: of the app's descriptor or tool, or of
// the program that is operated.
func (r *Request) Digest() string {
	if r.Secret != nil {
		return r.Secret.Digest + ":" + (&Request{Call: r.Call, App: r.App, Tool: r.Tool}).Digest()
	}
	if !r.App.OperatesOthers() {
		return r.App.DigestOf(r.Tool.Name)
	}
	if r.StartsProgram() && r.Call.Target.Process.Launch != nil {
		return r.Call.Target.Process.Launch.Digest
	}
	return r.Call.Target.Digest
}

// ResolveTarget returns the element that the call will act on, as far as known, and stores it in
// Element.
func (r *Request) ResolveTarget(ctx context.Context) TargetElement {
	if r.App.Operator != nil && !r.TargetResolved {
		r.Element = r.App.Operator.ResolveTarget(ctx, r.Call)
	}
	return r.Element
}

// SecretParams returns the tool's parameters that are secret in this call.
func (r *Request) SecretParams() []string {
	if r.Tool == nil || len(r.Tool.Privacy.Secret) == 0 {
		return nil
	}
	if r.Tool.Privacy.NonSecret == nil {
		return r.Tool.Privacy.Secret
	}
	others := r.Tool.Privacy.NonSecret(r.Call.Args)
	return slices.DeleteFunc(slices.Clone(r.Tool.Privacy.Secret), func(name string) bool { return slices.Contains(others, name) })
}

// RedactedArgs returns the call's arguments for display: without the values of secret parameters,
// and of members at any depth with names that mark secrets. The caller must not change the map.
func (r *Request) RedactedArgs() map[string]any {
	shown, _ := r.RecordedArgs()
	return sanitize.Redact(shown, r.SecretParams(), func(any) any { return sanitize.Redacted })
}

// RecordedArgs returns the arguments as Privacy.RecordArgs shows them, and the texts that recorded
// messages must not repeat.
func (r *Request) RecordedArgs() (shown map[string]any, secrets []string) {
	if r.Tool == nil || r.Tool.Privacy.RecordArgs == nil {
		return r.Call.Args, nil
	}
	return r.Tool.Privacy.RecordArgs(r.Call.Args)
}

// reservations holds the reservations of gates for a call until it ends.
type reservations struct {
	mu       sync.Mutex
	list     []reservation // in the order of Reserve
	released bool
}

// reservation is one gate's hold for a call.
type reservation struct {
	gate    Gate
	release func()
}

// Reserve registers a gate's hold for the call, such as one of a few slots. release runs once,
// when the call ends in any way, including a refusal. The gate by must be a pointer.
func (r *Request) Reserve(by Gate, release func()) {
	r.reservations.mu.Lock()
	over := r.reservations.released
	if !over {
		r.reservations.list = append(r.reservations.list, reservation{by, release})
	}
	r.reservations.mu.Unlock()
	if over { // the call was cancelled meanwhile
		release()
	}
}

// HasReservation reports whether the gate already holds a reservation for the call, since gates
// check again after a person's answer. A dry run needs none, so it reports true.
func (r *Request) HasReservation(by Gate) bool {
	if r.DryRun {
		return true
	}
	r.reservations.mu.Lock()
	defer r.reservations.mu.Unlock()
	return slices.ContainsFunc(r.reservations.list, func(k reservation) bool { return k.gate == by })
}

// Release releases all reservations, the last one first. The gateway calls it when the call ends.
func (r *Request) Release() {
	r.reservations.mu.Lock()
	given := r.reservations.list
	r.reservations.list, r.reservations.released = nil, true
	r.reservations.mu.Unlock()
	for _, k := range slices.Backward(given) {
		k.release()
	}
}
