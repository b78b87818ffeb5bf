package answer

import (
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// An ActiveCall describes a call in progress.
type ActiveCall struct {
	Call     string    `json:"call" column:"8,call"`
	Parent   string    `json:"parent,omitempty"`
	Door     string    `json:"door"`
	Caller   string    `json:"caller" column:"2,caller"` // door and name, such as mcp:claude
	Identity string    `json:"identity,omitempty" column:"9,identity"`
	App      string    `json:"app" column:"3,app"`
	Tool     string    `json:"tool" column:"4,tool"`
	Target   string    `json:"target,omitempty" column:"5,target"`
	On       string    `json:"on,omitempty"`
	Stage    string    `json:"stage" column:"6,stage" enum:"finding,deciding,asking,waiting,recording,running"`
	Since    time.Time `json:"since" column:"1,since"`
	Done     float64   `json:"done,omitempty"`
	Total    float64   `json:"total,omitempty"`
	Message  string    `json:"message,omitempty" column:"7,progress"`
	Process  int       `json:"process"` // id of the gateway's process
}

// A Stop is a stop of one call, of a caller's calls, or of everything if it names neither.
type Stop struct {
	Call string `json:"call,omitempty"`
	// Caller is an identity, or "mcp:" for all callers of that door without one: a name is the
	// caller's claim, which it could change.
	Caller string    `json:"caller,omitempty"`
	At     time.Time `json:"at"`
	Door   string    `json:"door"` // of the person's stop
}

// IsEverything reports whether the stop applies to all calls.
func (s Stop) IsEverything() bool { return s.Call == "" && s.Caller == "" }

// IsUnidentified reports whether the stop applies to all callers of one door that have no identity.
func (s Stop) IsUnidentified() bool { return strings.HasSuffix(s.Caller, ":") }

// maxShownCaller limits the shown part of an identity, in bytes.
const maxShownCaller = 2000

// String describes the scope of the stop.
func (s Stop) String() string {
	switch {
	case s.Call != "":
		return "the call " + aai.CleanLabel(s.Call, 100)
	case s.IsUnidentified():
		return "all calls by " + aai.CleanLabel(strings.TrimSuffix(s.Caller, ":"), 100) + " of callers without a verified identity"
	case s.Caller != "":
		return "all calls of " + aai.CleanLabel(s.Caller, maxShownCaller)
	}
	return "everything"
}

// StartCommand returns the command that ends the stop.
func (s Stop) StartCommand() string {
	switch {
	case s.Call != "":
		return sanitize.ShellJoin("aai-gateway", "start", "--call", s.Call)
	case s.Caller != "":
		return sanitize.ShellJoin("aai-gateway", "start", "--caller", s.Caller)
	}
	return "aai-gateway start"
}

// ActiveCalls lists the active calls, which are of type ActiveCall or of a type that contains it.
type ActiveCalls[Call any] struct {
	Calls []Call `json:"calls"`
	// Stops lists the active stops; one without a scope stops everything. It omits stops of ended
	// calls, which stay in force because the call may be repeated.
	Stops []Stop `json:"stops"`
	// Leases lists the agents that work in programs.
	Leases []Lease `json:"leases,omitempty"`
	// Unreadable is the reason why the stops are unknown, or "".
	Unreadable string `json:"unreadable,omitempty" about:"Why the stop list cannot be read; everything is stopped then"`
	Omitted    int    `json:"more,omitempty"` // number of calls not listed
	Version    string `json:"version"`
}

// A Lease tells which agent works in which program.
type Lease struct {
	App      string    `json:"app"`
	PID      int       `json:"pid"`
	Caller   string    `json:"caller"` // as in ActiveCall
	Identity string    `json:"identity,omitempty"`
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
	Given    bool      `json:"given,omitempty" about:"The person gave it to the agent"`
	Yours    bool      `json:"yours,omitempty" about:"The caller has it"`
}

// Holder returns the agent that has the lease, for people.
func (l Lease) Holder() string {
	if l.Identity == "" {
		return l.Caller
	}
	return l.Caller + " (" + aai.CleanLabel(l.Identity, 200) + ")"
}

// String describes the lease in a clause, with times of day.
func (l Lease) String() string {
	given := ""
	if l.Given {
		given = ", when the person let it"
	}
	const clock = "15:04:05"
	return aai.CleanLabel(l.Holder()+" works in "+l.App+" since "+l.Since.Local().Format(clock)+given+", until "+l.Until.Local().Format(clock), 500)
}
