package builtin

import (
	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
)

// Rate is the name of the tool of internal/catalog/search that records how a person rates an app.
const Rate = "rate"

// Stop is the name of the tool of internal/gateway/active that ends running calls.
const Stop = "stop"

// NarrowingCheck returns a function that reports whether a request only takes rights away. Such a
// request needs no reauthentication. Forgetting a denial and writing a file do not count as
// narrowing.
func NarrowingCheck(store policy.Store, modes *policy.ModeGate) func(*aai.Request) bool {
	return func(r *aai.Request) bool {
		switch r.Tool.Name {
		case LogOut, Stop, Rate: // a rating grants nothing
			return true
		case AuditExport:
			return text(r.Call, "file") == "" // the result holds the lines
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

// revokesNoDenial reports whether the revocation, for any app, includes no denial.
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
