// Package policy decides whether a call may run. Each of its gates answers one
// question of that kind for Gateway.Do; none of them talks to a person, they
// return what has to be asked. The package imports the root package and nothing
// else of ours.
package policy

import (
	"context"
	"slices"

	"aai"
)

// Own is the gate in front of the gateway's own app. What an agent may use of
// the gateway is listed by name; everything else, such as granting consent or
// reading the history, is for the person at this computer.
type Own struct {
	// Open names the tools of the app "aai" that every door may use.
	Open []string
	// Personal names the doors behind which a person sits.
	Personal []string
}

// Check admits calls to other apps, and to the gateway's own app what Own says.
func (o Own) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.App.ID != aai.OwnApp {
		return nil, nil
	}
	if slices.Contains(o.Personal, r.Call.Caller.Door) {
		r.Consent = "own"
		return nil, nil
	}
	if r.Tool.Effect == aai.Reads && slices.Contains(o.Open, r.Tool.Name) {
		r.Consent = "own"
		return nil, nil
	}
	e := aai.Errorf(aai.PermissionDenied, "%s is for the person at this computer, not for %s", r.Tool.Name, r.Call.Caller)
	e.Hint = "Ask the person to run aai-gateway at a terminal; its help lists the commands."
	return nil, e
}
