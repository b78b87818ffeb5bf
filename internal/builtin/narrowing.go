package builtin

import (
	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
)

// Rate is the tool of the search by which a person says what they think of an app.
const Rate = "rate"

// Stop is the tool of the room of halts by which a person ends what runs.
const Stop = "stop"

// NarrowingCheck returns what tells whether a call of a tool that does not only read takes
// rights away and gives none, so that nobody has to prove that they want it: who only
// narrows is not to be hindered. To forget a refusal, or to write a file, is more.
func NarrowingCheck(store policy.Store, modes *policy.ModeGate) func(*aai.Request) bool {
	return func(r *aai.Request) bool {
		switch r.Tool.Name {
		case LogOut, Stop, Rate: // what a person thinks of an app allows nothing
			return true
		case AuditExport:
			return text(r.Call, "file") == "" // the lines are the answer
		case SetMode:
			mode, err := policy.ParseMode(text(r.Call, "mode"))
			return err == nil && mode >= modes.Current()
		case Revoke:
			if sessions, _ := r.Call.Args["sessions"].(bool); sessions {
				return true
			}
			return revokesNoDenial(store, text(r.Call, "tool"), text(r.Call, "caller"), text(r.Call, "identity"))
		}
		return false
	}
}

// revokesNoDenial reports whether no refusal is among what is revoked, of whatever app.
func revokesNoDenial(store policy.Store, tool, caller, identity string) bool {
	grants, err := store.Grants()
	if err != nil {
		return false
	}
	for _, g := range grants {
		if g.Decision == policy.Deny && (tool == "" || g.Tool == tool) && (caller == "" || g.Caller == caller) && (identity == "" || g.Identity == identity) {
			return false
		}
	}
	return true
}
