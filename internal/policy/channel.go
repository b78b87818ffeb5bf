package policy

import (
	"slices"
	"strings"

	"aai"
)

// The risks of what a person may be asked to allow.
type risk int

const (
	readsOnly  risk = iota // R0
	reversible             // R1
	forGood                // R2: sends, deletes, pays, starts programs, or nobody said what
)

// riskOf is the risk of the permission, which may cover more than the tool that
// needs it now: who may act in a window may click on anything there.
func riskOf(r *aai.Request, permission string) risk {
	if r.App.Targets == nil {
		if t := r.App.Tool(permission); t != nil {
			return riskOfEffect(t.Effect)
		}
		return forGood
	}
	if permission == aai.PermissionSee {
		return readsOnly
	}
	return forGood
}

func riskOfEffect(e aai.Effect) risk {
	switch e {
	case aai.Reads:
		return readsOnly
	case aai.Changes:
		return reversible
	case aai.Destroys:
	}
	return forGood
}

// channels are the ways in which the permission may be asked for, best first. The
// client is one only where a person said so for this caller, and only for what
// can be changed back: what comes back from there is a program's word.
func (c *Consent) channels(r *aai.Request, permission string) []aai.Channel {
	if riskOf(r, permission) < forGood && c.trustsClient(r.Call.Caller) && !fromTheWeb(r.App) {
		return []aai.Channel{aai.Client, aai.Native, aai.Terminal}
	}
	return []aai.Channel{aai.Native, aai.Terminal}
}

func (c *Consent) trustsClient(caller aai.Caller) bool {
	return slices.ContainsFunc(c.elicitation, func(who string) bool {
		return who == Every || caller.Identity != "" && who == caller.Identity
	})
}

// fromTheWeb reports whether nobody placed the app on this computer. The id of one
// from the web begins with its host.
func fromTheWeb(app *aai.App) bool { return app.Targets == nil && strings.Contains(app.ID, "/") }
