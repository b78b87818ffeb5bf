package aai

import (
	"slices"
	"sync"
)

// A Request is a call on its way: its app and tool are found and its arguments
// are right.
type Request struct {
	Call *Call // with defaults applied to Args, and its Target, by which gates decide
	App  *App
	Tool *Tool
	// Outer is the request whose Action makes the call, with its context; nil where a
	// door makes it. What a gate keeps for that one, such as a slot, is for both.
	Outer *Request
	// Sandboxed says that it may only read, whatever the mode; see [WithSandbox].
	Sandboxed bool
	Consent   string // a gate that admits says here on whose word, for the record
	// Deferred says that it is admitted with others, to run later: who counts what is done counts
	// it then.
	Deferred bool
	// Destructive is what a gate sets that takes an act on a window for one that
	// cannot be taken back.
	Destructive bool
	// DestructiveReason says what made the gate do so, as it is known by: the word that is to be read, or
	// the key. It is the gateway's own word or the person's, and no stranger's; "" where
	// there is none to name.
	DestructiveReason string
	// Element is what the call will act on in a window, as far as that is known; see Aim.
	Element TargetElement
	// RunsCommand is what a gate sets where what the act gives a window would be run as a
	// command, such as text typed into a terminal, or where it starts what runs commands.
	RunsCommand bool

	// AdmittedPermission is the permission with which every gate has admitted the request; ""
	// before. A gate that is asked once more, because the call had to wait, asks
	// nobody again for what it has admitted.
	AdmittedPermission string

	// Since is what a gate that admits by a person's answer notes, to see when it is asked once
	// more whether that was taken back since.
	Since string

	// dryRun says that only the gates' word is wanted; nothing will run.
	dryRun          bool
	targetResolved  bool // the Action has said what it hits
	reservations    reservations
	nonSecretParams []string // secret parameters that are none, as the Action says
}

// The permissions for the windows of an app: one approval covers the app and not
// every button.
const (
	PermissionSee = "see" // what only reads
	PermissionAct = "act" // the rest
	// PermissionStart is to start a program by its own command, with files or addresses that
	// it opens. Other arguments need an answer for each call, or a grant of the configuration
	// for "start" and the whole command.
	PermissionStart = "start"
	// PermissionDestroy is an act that looks as if it could not be taken back, such
	// as a click on "Delete". To act does not include it.
	PermissionDestroy = "destroy"
	// PermissionRun is to type into a terminal, or to start one or an interpreter, and so to
	// run any command. No other permission includes it, nor does "every".
	PermissionRun = "run"
	// PermissionHost is to see and operate the program that the caller itself runs in,
	// which may end it. No other permission includes it, nor does "every".
	PermissionHost = "host"
)

// Permission names what a person allows or refuses when the request asks: the
// tool, or for an app whose tools operate the windows of others, to see them or
// to act on them, or to start a program that does not run yet, or to do any of that to
// the one that the caller runs in.
func (r *Request) Permission() string {
	switch {
	case !r.App.OperatesOthers():
		return r.Tool.Name
	case r.StartsProgram() && r.RunsCommand:
		return PermissionRun
	case r.StartsProgram():
		return PermissionStart
	case r.RunsCommand && r.Tool.Effect != Reads:
		return PermissionRun
	case !r.IsWholeScreen() && r.Call.Target.HostsCaller:
		return PermissionHost
	case r.Tool.Effect == Reads:
		return PermissionSee
	case r.Destructive:
		return PermissionDestroy
	}
	return PermissionAct
}

// IsWholeScreen reports whether the call is about the screen as it is, or what lies across
// all of it such as the clipboard, and about no program in particular.
func (r *Request) IsWholeScreen() bool { return r.App.OperatesOthers() && r.Call.Target == r.App }

// StartsProgram reports whether the call starts a program that has windows.
func (r *Request) StartsProgram() bool {
	return r.App.OperatesOthers() && !r.IsWholeScreen() && r.Call.Target.PID == 0
}

// Effect is what the call does to the world: what its tool does, or more where it
// is to start a program.
func (r *Request) Effect() Effect {
	if r.StartsProgram() {
		return Destroys
	}
	return r.Tool.Effect
}

// Digest names what a permission is bound to: the descriptor that offers the
// tool, or the program whose windows are operated.
func (r *Request) Digest() string {
	if !r.App.OperatesOthers() {
		return r.App.DigestOf(r.Tool.Name)
	}
	if r.StartsProgram() && r.Call.Target.Launch != nil {
		return r.Call.Target.Launch.Digest
	}
	return r.Call.Target.Digest
}

// reservations is what gates keep for a call until it has ended.
type reservations struct {
	mu       sync.Mutex
	list     []reservation // in the order in which gates took it
	released bool
}

// reservation is what a gate keeps for a call.
type reservation struct {
	gate    Gate
	release func()
}

// Reserve notes that the gate keeps something for the call, such as one of a few
// slots: release is called once, when the call has ended in whatever way, also by a
// refusal. By is a pointer.
func (r *Request) Reserve(by Gate, release func()) {
	r.reservations.mu.Lock()
	over := r.reservations.released
	if !over {
		r.reservations.list = append(r.reservations.list, reservation{by, release})
	}
	r.reservations.mu.Unlock()
	if over { // the call was given up meanwhile
		release()
	}
}

// HasReservation reports whether the gate keeps something for the call already: gates are
// asked again when a person has answered. What is only supposed needs nothing kept.
func (r *Request) HasReservation(by Gate) bool {
	if r.dryRun {
		return true
	}
	r.reservations.mu.Lock()
	defer r.reservations.mu.Unlock()
	return slices.ContainsFunc(r.reservations.list, func(k reservation) bool { return k.gate == by })
}

// release gives back what gates kept.
func (r *Request) release() {
	r.reservations.mu.Lock()
	given := r.reservations.list
	r.reservations.list, r.reservations.released = nil, true
	r.reservations.mu.Unlock()
	for _, k := range slices.Backward(given) {
		k.release()
	}
}
