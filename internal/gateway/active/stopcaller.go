package active

import (
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// callerKey is what is certain of the caller that a person names: an identity as it is, and of
// a name, which begins with its door, the door. It is "" of what can be no caller.
func callerKey(said string) string {
	switch door, _, named := strings.Cut(said, ":"); {
	case named && door == aai.DoorCLI:
		return aai.IdentityTerminal
	case named && door == aai.DoorWeb:
		return aai.IdentityPage
	case named && door == aai.DoorMCP:
		return aai.DoorMCP + ":"
	}
	if said == aai.IdentityTerminal || said == aai.IdentityPage || slices.ContainsFunc(aai.IdentityPrefixes(), func(form string) bool { return strings.HasPrefix(said, form) }) {
		return said
	}
	return ""
}

// unknownCallerError is the error of a stop that would stop nobody.
func unknownCallerError(said string) *aai.Error {
	e := aai.Errorf(aai.InvalidParams, "caller: %s is no caller; expected an identity, such as /usr/bin/claude or http:work, or mcp: for all agents that have none", aai.CleanLabel(said, 200))
	e.Hint = "Nothing was stopped. Who calls: aai-gateway running. Everything: aai-gateway stop"
	e.Delivery = aai.NotDelivered
	return e
}
