package own

import (
	"context"
	"strings"

	"aai"
	"aai/internal/policy"
)

// ofBefore returns the stored grants that say nothing of the caller but its name, of one
// app, tool and caller where those are named.
func (t consentTools) ofBefore(call *aai.Call) (found []policy.Grant, meant func(policy.Grant) bool, err error) {
	app, tool, caller := text(call, "app"), text(call, "tool"), text(call, "caller")
	meant = func(g policy.Grant) bool {
		return g.ByName() && (app == "" || g.App == app) && (tool == "" || g.Tool == tool) && (caller == "" || g.Caller == caller)
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

// cannotTakeOver says why a call to take over would come to nothing.
func (t consentTools) cannotTakeOver(_ context.Context, call *aai.Call) error {
	if _, err := identityNamed(text(call, "identity")); err != nil {
		return err
	}
	found, _, err := t.ofBefore(call)
	if err == nil && len(found) == 0 {
		e := aai.Errorf(aai.InvalidParams, "nothing was decided for %q by that name alone", aai.CleanLabel(text(call, "caller"), 60))
		e.Hint = "Run aai-gateway consent list, which marks what was."
		return e
	}
	return err
}

// takeover gives what was decided for a name to the one whose name it was.
func (t consentTools) takeover(_ context.Context, call *aai.Call) (*aai.Result, error) {
	identity, err := identityNamed(text(call, "identity"))
	if err != nil {
		return nil, err
	}
	found, meant, err := t.ofBefore(call)
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i].Identity = identity
		if door, _, full := strings.Cut(found[i].Caller, ":"); !full || door == "" {
			found[i].Caller = aai.DoorMCP + ":" + found[i].Caller
		}
	}
	// First what holds from now on: until the others are gone, they admit nothing.
	if err = t.store.Add(found...); err == nil {
		_, err = t.store.Remove(meant)
	}
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the consents could not be changed: %w", err)
	}
	return &aai.Result{Data: map[string]any{"taken": len(found)}}, nil
}

// drop forgets what was decided for a name alone.
func (t consentTools) drop(_ context.Context, call *aai.Call) (*aai.Result, error) {
	_, meant, err := t.ofBefore(call)
	if err != nil {
		return nil, err
	}
	dropped, err := t.store.Remove(meant)
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the consents could not be changed: %w", err)
	}
	return &aai.Result{Data: map[string]any{"dropped": dropped}}, nil
}

// identityNamed returns the identity if it can be some caller's.
func identityNamed(identity string) (string, error) {
	if aai.IsIdentity(identity) {
		return identity, nil
	}
	e := aai.Errorf(aai.InvalidParams, "identity: %q is nobody's", aai.CleanLabel(identity, 60))
	e.Hint = `It is the program that asks, such as "/usr/bin/node /opt/agent/cli.js", or "http:NAME" for a token: questions, refusals and the record name it.`
	return "", e
}

// whoNamed returns the caller and the identity that a person named. A name alone is
// nobody: any caller may call itself so.
func whoNamed(caller, identity string) (string, string, error) {
	if caller == "" && identity != "" {
		caller = policy.Every
	}
	name, err := callerNamed(caller)
	if err != nil {
		return "", "", err
	}
	if (policy.Grant{Caller: name, Identity: identity}).ByName() {
		e := aai.Errorf(aai.InvalidParams, "caller: %q is only what a caller calls itself; expected its identity too", name)
		e.Hint = "The refusal that the caller got names it, as does audit export. Allow * to mean anyone."
		return "", "", e
	}
	if identity == "" {
		return name, "", nil
	}
	identity, err = identityNamed(identity)
	return name, identity, err
}
