package active

import (
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// callerKey returns the trustworthy part of a caller named by a person: an identity unchanged,
// and for a name with a door the door's identity or prefix. It returns "" for anything else.
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

// unknownCallerError returns the error of a stop that names no valid caller.
func unknownCallerError(said string) *aai.Error {
	e := aai.Errorf(aai.InvalidParams, "caller: %s is no caller; expected an identity, such as /usr/bin/claude or http:work, or mcp: for all agents that have none", aai.CleanLabel(said, 200))
	e.Hint = "Nothing was stopped. List of callers: aai-gateway running. Stop everything: aai-gateway stop"
	e.Delivery = aai.NotDelivered
	return e
}
