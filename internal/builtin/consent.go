package builtin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/policy"
)

// consentTools are the tools that grant and revoke consents in advance.
type consentTools struct {
	store       policy.Store
	revocations *policy.Revocations
	preapproved []policy.Grant
	known       func() Catalog
	keychain    keychainTool
	storeFault  func() error
	unverified  UnverifiedStore
	askedTools  []string // builtin tools that need a person's consent
}

func (t consentTools) list(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	stored, err := t.store.Grants()
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the consents cannot be read: %w", err)
	}
	rows := []answer.Consent{}
	add := func(g policy.Grant, source string) {
		rows = append(rows, answer.Consent{
			Caller: g.Caller, Identity: g.Identity, App: g.App, Tool: g.Tool, Decision: string(g.Decision), GrantedAt: g.GrantedAt,
			ExpiresAt: g.ExpiresAt, Digest: g.Digest, Source: source, Channel: g.Channel, ByName: g.IsNameOnly(),
		})
	}
	for _, g := range t.preapproved {
		add(g, answer.SourcePreapproved)
	}
	for _, g := range stored {
		add(g, answer.SourceStored)
	}
	lying, err := t.unverifiedGrants()
	if err != nil {
		return nil, err
	}
	for _, g := range lying {
		add(g, answer.SourcePlainFile)
		rows[len(rows)-1].Takeover = unverifiedName(g)
	}
	result := &aai.Result{Data: rows}
	if t.keychain.unsealed == nil || t.keychain.unsealed() == "" {
		return result, nil
	}
	// The list is useful without the reason.
	status, _ := t.keychain.vault.Status(ctx)
	result.Warning = "the consents are in a plain file: " + t.keychain.whyUnsealed(status)
	return result, nil
}

func (t consentTools) grant(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	grants, err := t.grantsFromCall(ctx, call)
	if err != nil {
		return nil, err
	}
	if err := t.store.Add(grants...); err != nil {
		return nil, notSavedError(err)
	}
	tools := make([]string, len(grants))
	for i, g := range grants {
		tools[i] = g.Tool
	}
	return &aai.Result{Data: map[string]any{"granted": tools}}, nil
}

// notSavedError reports that a consent could not be saved, and how to fix it.
func notSavedError(err error) error {
	if e, ok := errors.AsType[*aai.Error](err); ok {
		return e
	}
	return aai.Errorf(aai.AutomationFailed, "the consent could not be kept: %w", err)
}

// precheckGrant returns the error that a call to grant would fail with.
func (t consentTools) precheckGrant(ctx context.Context, call *aai.Call) error {
	_, err := t.grantsFromCall(ctx, call)
	if err == nil && t.storeFault != nil {
		err = t.storeFault()
	}
	return err
}

// grantsFromCall returns the grants that a call specifies.
func (t consentTools) grantsFromCall(ctx context.Context, call *aai.Call) (grants []policy.Grant, err error) {
	caller, identity, err := callerAndIdentityArg(text(call, "caller"), text(call, "identity"))
	if err != nil {
		return nil, err
	}
	expires, err := expiry(text(call, "expires"))
	if err != nil {
		return nil, err
	}
	names, err := toolsArg(call)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	for _, name := range names {
		app, permissions, err := t.grantable(ctx, call, text(call, "app"), name)
		if err != nil {
			return nil, err
		}
		named, err := permissionsArg(app, permissions, name)
		if err != nil {
			return nil, err
		}
		if app.ID == aai.BuiltinApp && slices.ContainsFunc(named, func(tool string) bool { return !slices.Contains(t.askedTools, tool) }) {
			// The policy for builtin tools does not use grants.
			return nil, aai.Errorf(aai.PermissionDenied, "the gateway's own tools are open to agents or they are not; no consent changes that")
		}
		for _, tool := range named {
			grants = append(grants, policy.Grant{
				Caller: caller, Identity: identity, App: app.ID, Tool: tool, Digest: app.DigestOf(tool),
				Decision: policy.Allow, GrantedAt: now, ExpiresAt: expires, Channel: policy.ReauthChannel(call),
			})
		}
	}
	return grants, nil
}

// toolsArg returns the tools from the argument "tool" or "tools" of a call to grant.
func toolsArg(call *aai.Call) ([]string, error) {
	list, _ := call.Args["tools"].([]any)
	one := text(call, "tool")
	if (one == "") == (len(list) == 0) {
		return nil, aai.Errorf(aai.InvalidParams, `expected "tool" or "tools", and not both`)
	}
	if one != "" {
		return []string{one}, nil
	}
	names := make([]string, len(list))
	for i, item := range list {
		names[i], _ = item.(string)
	}
	return names, nil
}

// callerArg returns the name if a caller can have it. Callers are compared as aai.Caller formats
// them, so a grant for a name with other characters would match no caller.
func callerArg(name string) (string, error) {
	door, said, found := strings.Cut(name, ":")
	if !found {
		door, said = "", name
	}
	if said == "" || aai.CleanLabel(said, 60) != said || strings.TrimSpace(door) != door || found && door == "" {
		e := aai.Errorf(aai.InvalidParams, "caller: no caller is named %q", aai.CleanLabel(name, 60))
		e.Hint = "Callers are named as in the history, such as mcp:claude-ai; * is anyone."
		return "", e
	}
	return name, nil
}

// grantable returns the app and the permissions that can be granted for it: its tools, or seeing
// and acting for a program with windows or for the desktop app. PermissionStart applies to the
// installed program; the others apply to the running program or, if it does not run, to the
// installed one.
func (t consentTools) grantable(ctx context.Context, call *aai.Call, name, permission string) (*aai.App, []string, error) {
	windows := []string{aai.PermissionSee, aai.PermissionAct}
	if permission == aai.PermissionDestroy || permission == aai.PermissionRun || permission == aai.PermissionHost || strings.HasPrefix(permission, aai.PermissionPicture+" ") {
		windows = append(windows, permission) // "*" does not include it
	}
	if strings.HasPrefix(name, aai.DesktopApp+"/") {
		desktop, err := t.known().Find(ctx, aai.DesktopApp)
		if err != nil {
			return nil, nil, err
		}
		as := *call
		if permission == aai.PermissionStart {
			windows = []string{aai.PermissionStart}
			as.Args = map[string]any{"launch": true, "arguments": []any{}} // as ax_connect starts it
		}
		program, err := desktop.Operator.FindTarget(ctx, &as, name)
		if e := aai.AsError(err); e != nil && e.Code == aai.AppNotFound && permission != aai.PermissionStart {
			program, err = installedApp(ctx, desktop, *call, name, err)
		}
		if err == nil && program.ID != name {
			// A grant needs the full name, so that it matches no other program.
			e := aai.Errorf(aai.AppNotFound, "no program %q is running", aai.CleanLabel(name, 60))
			e.Candidates = []string{program.ID}
			return nil, nil, e
		}
		return program, windows, err
	}
	app, err := t.known().Find(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	if app.OperatesOthers() {
		return app, windows, nil
	}
	tools := make([]string, len(app.Tools))
	for i, tool := range app.Tools {
		tools[i] = tool.Name
	}
	return app, tools, nil
}

// permissionsArg returns the permission of that name, or all current permissions for "*".
func permissionsArg(app *aai.App, all []string, name string) ([]string, error) {
	if slices.Contains(all, name) {
		return []string{name}, nil
	}
	if name == policy.Wildcard && len(all) > 0 {
		return all, nil
	}
	e := aai.Errorf(aai.ToolNotFound, "%s has no tool %q", app.ID, aai.CleanLabel(name, 60))
	if slices.Contains(all, aai.PermissionSee) || slices.Contains(all, aai.PermissionStart) {
		all = []string{aai.PermissionSee, aai.PermissionAct, aai.PermissionDestroy, aai.PermissionRun}
		if app.ID != aai.DesktopApp {
			all = append(all, aai.PermissionHost, aai.PermissionStart)
		}
		e = aai.Errorf(aai.ToolNotFound, "%s: expected %s, or %s for see and act; not %q",
			app.ID, strings.Join(all, ", "), policy.Wildcard, aai.CleanLabel(name, 60))
	}
	e.Candidates = aai.Nearest(name, all, 5)
	return nil, e
}

func expiry(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, aai.Errorf(aai.InvalidParams, "expires: expected a time as in RFC 3339: %w", err)
	}
	if !t.After(time.Now()) {
		return time.Time{}, aai.Errorf(aai.InvalidParams, "expires: %s is in the past", s)
	}
	return t, nil
}

func (t consentTools) revoke(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	app, tool, caller, identity := text(call, "app"), text(call, "tool"), text(call, "caller"), text(call, "identity")
	sessions, _ := call.Args["sessions"].(bool)
	if sessions && app+tool+caller+identity != "" {
		return nil, aai.Errorf(aai.InvalidParams, "sessions: expected it alone; what was allowed for sessions is taken back as a whole")
	}
	// An alias is resolved. An app that is gone matches by its id, even if another app now has
	// that id as an alias.
	apps := []string{app}
	if found, err := t.known().Find(ctx, app); err == nil {
		apps = append(apps, found.ID)
	}
	// Session grants go first: if this fails, nothing is partly revoked.
	if t.revocations != nil {
		if err := t.revocations.Revoke(); err != nil {
			return nil, aai.Errorf(aai.AutomationFailed, "what was allowed for sessions could not be taken back: %w", err)
		}
	}
	if sessions {
		return &aai.Result{Text: "What was allowed for sessions is taken back, in every gateway.", Data: map[string]any{"revoked": 0}}, nil
	}
	revoked, err := t.store.Remove(func(g policy.Grant) bool {
		return (app == "" || slices.Contains(apps, g.App)) && (tool == "" || g.Tool == tool) && (caller == "" || g.Caller == caller) && (identity == "" || g.Identity == identity)
	})
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the consents could not be changed: %w", err)
	}
	return &aai.Result{Data: map[string]any{"revoked": revoked}}, nil
}
