package builtin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
)

// nameOnlyGrants returns the stored grants that identify the caller by name only, filtered by app, tool and caller if
// given. meant is the same filter, for the store.
func (t consentTools) nameOnlyGrants(call *aai.Call) (found []policy.Grant, meant func(policy.Grant) bool, err error) {
	app, tool, caller := text(call, "app"), text(call, "tool"), text(call, "caller")
	meant = func(g policy.Grant) bool {
		return g.IsNameOnly() && (app == "" || g.App == app) && (tool == "" || g.Tool == tool) && (caller == "" || g.Caller == caller)
	}
	stored, err := t.store.Grants()
	if err != nil {
		return nil, nil, aai.Errorf(aai.AutomationFailed, "the consents cannot be read: %w", err)
	}
	for _, g := range stored {
		if meant(g) {
			found = append(found, g)
		}
	}
	return found, meant, nil
}

// unverifiedGrants returns the grants of a plain file, which have no effect.
func (t consentTools) unverifiedGrants() ([]policy.Grant, error) {
	if t.unverified == nil {
		return nil, nil
	}
	found, err := t.unverified.Unverified()
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the consents cannot be read: %w", err)
	}
	return found, nil
}

// unverifiedName returns the name of an unverified grant: its tool, app, caller and expiry.
func unverifiedName(g policy.Grant) string {
	name := fmt.Sprintf("%s of %s for %s", g.Tool, g.App, g.Caller)
	if g.Identity != "" {
		name += ", " + g.Identity
	}
	if !g.ExpiresAt.IsZero() {
		name += ", until " + g.ExpiresAt.UTC().Format(time.RFC3339)
	}
	return name
}

// selectUnverified returns a predicate for the unverified grants that a call names, by their
// unverifiedName.
func (t consentTools) selectUnverified(call *aai.Call) (func(policy.Grant) bool, error) {
	named, _ := call.Args["file"].([]any)
	found, err := t.unverifiedGrants()
	if err != nil {
		return nil, err
	}
	for _, name := range named {
		if !slices.ContainsFunc(found, func(g policy.Grant) bool { return unverifiedName(g) == name }) {
			e := aai.Errorf(aai.InvalidParams, "file: %q is not among what waits to be taken over", aai.CleanLabel(fmt.Sprint(name), 100))
			e.Hint = "Run aai-gateway consent list, which marks what does."
			return nil, e
		}
	}
	return func(g policy.Grant) bool { return slices.Contains(named, any(unverifiedName(g))) }, nil
}

// precheckTakeover returns the error that a takeover call would fail with.
func (t consentTools) precheckTakeover(_ context.Context, call *aai.Call) error {
	if call.Args["file"] != nil {
		_, err := t.selectUnverified(call)
		return err
	}
	if err := requireNameAndIdentity(call); err != nil {
		return err
	}
	found, _, err := t.nameOnlyGrants(call)
	if err == nil && len(found) == 0 {
		e := aai.Errorf(aai.InvalidParams, "nothing was decided for %q by that name alone", aai.CleanLabel(text(call, "caller"), 60))
		e.Hint = "Run aai-gateway consent list, which marks what was."
		return e
	}
	return err
}

// requireNameAndIdentity returns an error unless the call has a caller and a valid identity.
func requireNameAndIdentity(call *aai.Call) error {
	if text(call, "caller") == "" || text(call, "identity") == "" {
		return aai.Errorf(aai.InvalidParams, `expected "caller" and "identity": the name, and whose it was`)
	}
	_, err := identityArg(text(call, "identity"))
	return err
}

// takeover rebinds grants by name only to an identity, or imports grants of a plain file into the
// store.
func (t consentTools) takeover(_ context.Context, call *aai.Call) (*aai.Result, error) {
	if call.Args["file"] != nil {
		meant, err := t.selectUnverified(call)
		if err != nil {
			return nil, err
		}
		taken, err := t.unverified.Import(meant, policy.ReauthChannel(call))
		if err != nil {
			return nil, notSavedError(err)
		}
		return &aai.Result{Data: map[string]any{"taken": taken}}, nil
	}
	if err := requireNameAndIdentity(call); err != nil {
		return nil, err
	}
	found, meant, err := t.nameOnlyGrants(call)
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i].Identity = text(call, "identity")
		if door, _, full := strings.Cut(found[i].Caller, ":"); !full || door == "" {
			found[i].Caller = aai.DoorMCP + ":" + found[i].Caller
		}
	}
	// Add first: the old grants have no effect, so they may remain if Remove fails.
	if err = t.store.Add(found...); err == nil {
		_, err = t.store.Remove(meant)
	}
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the consents could not be changed: %w", err)
	}
	return &aai.Result{Data: map[string]any{"taken": len(found)}}, nil
}

// drop removes grants by name only.
func (t consentTools) drop(_ context.Context, call *aai.Call) (*aai.Result, error) {
	_, meant, err := t.nameOnlyGrants(call)
	if err != nil {
		return nil, err
	}
	dropped, err := t.store.Remove(meant)
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the consents could not be changed: %w", err)
	}
	return &aai.Result{Data: map[string]any{"dropped": dropped}}, nil
}

// identityArg returns the identity if a caller can have it.
func identityArg(identity string) (string, error) {
	if aai.IsIdentity(identity) {
		return identity, nil
	}
	e := aai.Errorf(aai.InvalidParams, "identity: %q is nobody's", aai.CleanLabel(identity, 60))
	e.Hint = `It is the program that asks, such as "/usr/bin/node /opt/agent/cli.js", or "http:NAME" for a token: questions, refusals and the record name it.`
	return "", e
}

// callerAndIdentityArg returns the validated caller and identity. A name alone is an error,
// because any caller can use any name.
func callerAndIdentityArg(caller, identity string) (string, string, error) {
	if caller == "" && identity != "" {
		caller = policy.Wildcard
	}
	name, err := callerArg(caller)
	if err != nil {
		return "", "", err
	}
	if (policy.Grant{Caller: name, Identity: identity}).IsNameOnly() {
		e := aai.Errorf(aai.InvalidParams, "caller: %q is only what a caller calls itself; expected its identity too", name)
		e.Hint = "The refusal that the caller got names it, as does audit export. Allow * to mean anyone."
		return "", "", e
	}
	if identity == "" {
		return name, "", nil
	}
	identity, err = identityArg(identity)
	return name, identity, err
}
