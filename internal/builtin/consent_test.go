package builtin_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/policy"
)

// isAllowed reports whether the agent may use the tool of the notes now.
func (w *world) isAllowed(t *testing.T, tool string) bool {
	t.Helper()
	args := `{}`
	if tool == "add" {
		args = `{"title": "milk"}`
	}
	_, err := w.do(t, agent(), "org.example.Notes", tool, args)
	assert.Assert(t, err == nil || aai.AsError(err).Code == aai.ConsentRequired, "%s failed otherwise than for consent: %v", tool, err)
	return err == nil
}

func TestGrantOpensOneToolToOneCaller(t *testing.T) {
	w := newWorld(t, apps())
	assert.Assert(t, !w.isAllowed(t, "add"), "the agent was let through before anybody allowed it")
	sameJSON(t, w.callBuiltin(t, builtin.Grant, `{"app": "memo", "tool": "add", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`).Data, `{"granted": ["add"]}`)
	assert.Check(t, w.isAllowed(t, "add"), "what was granted is not open")
	assert.Check(t, !w.isAllowed(t, "list"), "what was not granted is open")
	_ = w.refuses(t, aai.ConsentRequired, aai.Caller{Door: aai.DoorMCP, Name: "claude2"}, "org.example.Notes", "add", `{"title": "milk"}`)
}

func TestGrantOfEveryToolIsOfThoseOfNow(t *testing.T) {
	w := newWorld(t, apps())
	sameJSON(t, w.callBuiltin(t, builtin.Grant, `{"app": "memo", "tool": "*", "caller": "*"}`).Data, `{"granted": ["add", "list"]}`)
	stored, err := w.store.Grants()
	assert.NilError(t, err)
	var tools []string
	for _, g := range stored {
		tools = append(tools, g.Tool)
		assert.Check(t, g.Digest != "", "a grant is not bound to what the person saw: %+v", g)
		assert.Check(t, is.Equal(g.Decision, policy.Allow), "%+v", g)
		assert.Check(t, is.Equal(g.App, "org.example.Notes"), "%+v", g)
		assert.Check(t, is.Equal(g.Channel, aai.DesktopDialog), "%+v", g)
	}
	assert.Check(t, slices.Equal(tools, []string{"add", "list"}), "granted are %q; a star must not be kept", tools)

	// The app gets another tool, and one changes: the grant still covers the rest.
	w.write(t, "org.example.Notes/aai.json", strings.Replace(notes, `{"name": "list"`, `{"name": "burn", "description": "Burns.", "method": "Burn", "parameters": {"type": "object"}}, {"title": "All", "name": "list"`, 1))
	w.open()
	assert.Assert(t, !w.isAllowed(t, "burn"), "what is open is not what the person saw")
	assert.Assert(t, w.isAllowed(t, "list"), "what is open is not what the person saw")
	assert.Assert(t, w.isAllowed(t, "add"), "what is open is not what the person saw")
	w.write(t, "org.example.Notes/aai.json", strings.Replace(notes, `{"name": "list"`, `{"timeout": 7, "returns": {"type": "array", "maxItems": 9}, "name": "list"`, 1))
	w.open()
	assert.Assert(t, !w.isAllowed(t, "list"), "a tool that has changed is open")
	assert.Assert(t, w.isAllowed(t, "add"), "a tool that has changed is open")
}

// TestRevokeMarksGrants checks that a revocation covers session grants of a running gateway; if
// that fails, nothing is revoked.
func TestRevokeMarksGrants(t *testing.T) {
	w := newWorld(t, apps())
	path := filepath.Join(t.TempDir(), "aai", "revoked")
	w.deps.Revocations = policy.NewRevocations(path)
	w.open()
	w.callBuiltin(t, builtin.Grant, `{"app": "memo", "tool": "add", "caller": "*"}`)
	if _, err := os.Stat(path); err == nil {
		t.Error("a grant is no revocation")
	}
	w.callBuiltin(t, builtin.Revoke, `{"app": "memo"}`)
	first, err := os.ReadFile(path)
	assert.NilError(t, err)
	w.callBuiltin(t, builtin.Revoke, `{}`)
	second, err := os.ReadFile(path)
	assert.NilError(t, err, "%q", second)
	assert.Assert(t, string(first) != string(second), "a second revocation is not another: %q, %v", second, err)
}

func TestGrantLasts(t *testing.T) {
	w := newWorld(t, apps())
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	w.callBuiltin(t, builtin.Grant, `{"app": "memo", "tool": "add", "caller": "mcp:claude", "identity": "/usr/bin/claude", "expires": "`+until+`"}`)
	w.open()
	assert.Check(t, w.isAllowed(t, "add"), "the grant did not outlive the process")
	var rows []struct {
		ExpiresAt time.Time `json:"expires_at"`
		GrantedAt time.Time `json:"granted_at"`
	}
	decodeInto(t, w.callBuiltin(t, builtin.ListConsents, "").Data, &rows)
	assert.Assert(t, is.Len(rows, 1))
	assert.Equal(t, rows[0].ExpiresAt.UTC().Format(time.RFC3339), until)
	assert.Assert(t, time.Since(rows[0].GrantedAt) <= time.Minute, "the list says %+v", rows)
}

func TestGrantRefuses(t *testing.T) {
	w := newWorld(t, apps())
	for _, c := range []struct {
		name, args string
		want       aai.Error
	}{
		{"unknown tool", `{"app": "memo", "tool": "ad", "caller": "*"}`,
			aai.Error{Code: aai.ToolNotFound, Message: `org.example.Notes has no tool "ad"`, Candidates: []string{"add"}}},
		{"past", `{"app": "memo", "tool": "add", "caller": "*", "expires": "2020-01-01T00:00:00Z"}`,
			aai.Error{Code: aai.InvalidParams, Message: "expires: 2020-01-01T00:00:00Z is in the past"}},
		{"the gateway itself", `{"app": "aai", "tool": "consent_grant", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`,
			aai.Error{Code: aai.PermissionDenied, Message: "the gateway's own tools are open to agents or they are not; no consent changes that"}},
		{"nobody's name", `{"app": "memo", "tool": "add", "caller": "mcp:"}`,
			aai.Error{Code: aai.InvalidParams, Message: `caller: no caller is named "mcp:"`}},
		{"no caller's name", `{"app": "memo", "tool": "add", "caller": "mcp:claude  code"}`,
			aai.Error{Code: aai.InvalidParams, Message: `caller: no caller is named "mcp:claude code"`}},
		{"a name of no door", `{"app": "memo", "tool": "add", "caller": ":claude"}`,
			aai.Error{Code: aai.InvalidParams, Message: `caller: no caller is named ":claude"`}},
	} {
		t.Run(c.name, func(t *testing.T) { w.expectRefused(t, builtin.Grant, c.args, c.want) })
	}
	for _, expires := range []string{"tomorrow", "2027-01-01", "2027-13-01T00:00:00Z", "30d", " "} {
		e := w.refuses(t, aai.InvalidParams, person(), aai.BuiltinApp, builtin.Grant, `{"app": "memo", "tool": "add", "caller": "*", "expires": "`+expires+`"}`)
		assert.Assert(t, strings.HasPrefix(e.Message, "expires: "), "%+v", e)
	}
	_, err := os.Stat(w.consent)
	assert.Check(t, err != nil, "a refused grant left something in the store")
}

func TestGrantOfAnAppWithoutTools(t *testing.T) {
	w := newWorld(t, map[string]string{"org.example.Bare": `{
		"schema_version": "1.0", "appId": "org.example.Bare", "name": "Bare", "description": "Has nothing.", "version": "1.0",
		"platforms": {"linux": {"automation": "dbus", "service": "org.example.Bare", "object": "/b", "interface": "org.example.Bare", "tools": []}}}`})
	w.expectRefused(t, builtin.Grant, `{"app": "org.example.Bare", "tool": "*", "caller": "*"}`,
		aai.Error{Code: aai.ToolNotFound, Message: `org.example.Bare has no tool "*"`})
}

func TestConsentListShowsBothSources(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	w := newWorld(t, apps(), policy.Grant{Caller: "*", App: "org.example.Bus", Tool: "*", Decision: policy.Allow, ExpiresAt: at})
	assert.NilError(t, w.store.Add(policy.Grant{Caller: "mcp:x", App: "org.example.Notes", Tool: "add", Digest: "d", Decision: policy.Deny, GrantedAt: at}))
	sameJSON(t, w.callBuiltin(t, builtin.ListConsents, "").Data, `[
		{"caller": "*", "app": "org.example.Bus", "tool": "*", "decision": "allow", "expires_at": "2030-01-02T03:04:05Z", "source": "preapproved"},
		{"caller": "mcp:x", "app": "org.example.Notes", "tool": "add", "decision": "deny", "granted_at": "2030-01-02T03:04:05Z", "digest": "d", "source": "stored", "by_name": true}]`)
}

func TestRevokeChoosesByAppToolAndCaller(t *testing.T) {
	all := []policy.Grant{
		{Caller: "mcp:a", App: "org.example.Notes", Tool: "add", Decision: policy.Allow},
		{Caller: "mcp:a", App: "org.example.Notes", Tool: "list", Decision: policy.Allow},
		{Caller: "mcp:b", App: "org.example.Notes", Tool: "add", Decision: policy.Deny},
		{Caller: "mcp:b", App: "org.example.Mac", Tool: "say", Decision: policy.Allow},
		{Caller: "mcp:b", App: "org.example.Gone", Tool: "go", Decision: policy.Allow},
	}
	for _, c := range []struct {
		name, args string
		left       []int
	}{
		{"app", `{"app": "org.example.Notes"}`, []int{3, 4}},
		{"alias", `{"app": "memo"}`, []int{3, 4}},
		{"letter case", `{"app": "ORG.EXAMPLE.NOTES"}`, []int{3, 4}},
		{"tool", `{"app": "memo", "tool": "add"}`, []int{1, 3, 4}},
		{"caller", `{"caller": "mcp:b"}`, []int{0, 1}},
		{"app and caller", `{"app": "memo", "caller": "mcp:b"}`, []int{0, 1, 3, 4}},
		{"all three", `{"app": "memo", "tool": "list", "caller": "mcp:a"}`, []int{0, 2, 3, 4}},
		{"app that is gone", `{"app": "org.example.Gone"}`, []int{0, 1, 2, 3}},
		{"app that never was", `{"app": "org.example.Never"}`, []int{0, 1, 2, 3, 4}},
		{"part of a name", `{"caller": "mcp"}`, []int{0, 1, 2, 3, 4}},
		{"everything", `{}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, apps())
			assert.NilError(t, w.store.Add(all...))
			result := w.callBuiltin(t, builtin.Revoke, c.args)
			left, err := w.store.Grants()
			assert.NilError(t, err)
			var want []policy.Grant
			for _, i := range c.left {
				grant := all[i]
				grant.Unsealed = true // the store of these tests is a plain file
				want = append(want, grant)
			}
			assert.Check(t, is.DeepEqual(want, append([]policy.Grant(nil), left...)))
			got := jsonOf(t, result.Data).(map[string]any)["revoked"]
			assert.Check(t, is.Equal(got, float64(len(all)-len(want))), "said to be revoked: %v", got)
		})
	}
}

// TestRevokeOfAnAppWhoseIdIsNowAnAlias checks that an app with another's id as its alias does not
// preserve that app's grants.
func TestRevokeOfAnAppWhoseIdIsNowAnAlias(t *testing.T) {
	w := newWorld(t, map[string]string{"org.example.Notes": strings.Replace(notes, `"memo"`, `"org.example.Gone"`, 1)})
	assert.NilError(t, w.store.Add(policy.Grant{Caller: "*", App: "org.example.Gone", Tool: "go", Decision: policy.Allow}))
	sameJSON(t, w.callBuiltin(t, builtin.Revoke, `{"app": "org.example.Gone"}`).Data, `{"revoked": 1}`)
}

func TestRevokeHoldsAtOnce(t *testing.T) {
	w := newWorld(t, apps())
	w.callBuiltin(t, builtin.Grant, `{"app": "memo", "tool": "add", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`)
	assert.Assert(t, w.isAllowed(t, "add"), "what was granted is not open")
	w.callBuiltin(t, builtin.Revoke, `{"app": "memo", "tool": "add"}`)
	assert.Check(t, !w.isAllowed(t, "add"), "what was revoked is open")
}

func TestAStoreThatCannotBeReadIsSaid(t *testing.T) {
	w := newWorld(t, apps())
	assert.NilError(t, os.WriteFile(w.consent, []byte("{"), 0o600))
	for tool, arguments := range map[string]string{
		builtin.ListConsents: `{}`,
		builtin.Grant:        `{"app": "memo", "tool": "add", "caller": "*"}`,
		builtin.Revoke:       `{}`,
	} {
		e := w.refuses(t, aai.AutomationFailed, person(), aai.BuiltinApp, tool, arguments)
		assert.Assert(t, is.Contains(e.Message, "consent"), "%+v", e)
	}
	b, err := os.ReadFile(w.consent)
	assert.NilError(t, err, "%q", b)
	assert.Equal(t, string(b), "{", "%q", b)
}

// TestGrantOfWindows checks that seeing and operating a program's windows are separate
// permissions, for a program with its full name.
func TestGrantOfWindows(t *testing.T) {
	w := newWorld(t, apps())
	w.otherApps = []*aai.App{windows()}
	w.open()
	may := func(tool, args string) bool {
		t.Helper()
		_, err := w.do(t, agent(), aai.DesktopApp, tool, args)
		assert.Assert(t, err == nil || aai.AsError(err).Code == aai.ConsentRequired, "%s failed otherwise than for consent: %v", tool, err)
		return err == nil
	}
	const editor = `{"app": "editor"}`
	sameJSON(t, w.callBuiltin(t, builtin.Grant, `{"app": "desktop/editor", "tool": "see", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`).Data, `{"granted": ["see"]}`)
	assert.Assert(t, may("look", editor), "to see the editor was allowed: it must be open, and nothing else")
	assert.Assert(t, !may("press", editor), "to see the editor was allowed: it must be open, and nothing else")
	assert.Assert(t, !may("look", `{}`), "to see the editor was allowed: it must be open, and nothing else")
	sameJSON(t, w.callBuiltin(t, builtin.Grant, `{"app": "desktop/editor", "tool": "*", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`).Data, `{"granted": ["see", "act"]}`)
	assert.Assert(t, may("press", editor), "to act on the editor was allowed: it must be open, and nothing else")
	assert.Assert(t, !may("press", `{}`), "to act on the editor was allowed: it must be open, and nothing else")
	sameJSON(t, w.callBuiltin(t, builtin.Grant, `{"app": "desktop/painter", "tool": "start", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`).Data, `{"granted": ["start"]}`)
	assert.Check(t, may("press", `{"app": "desktop/painter", "launch": true}`), "to start the painter was allowed, but it is not open")
	sameJSON(t, w.callBuiltin(t, builtin.Grant, `{"app": "desktop", "tool": "see", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`).Data, `{"granted": ["see"]}`)
	assert.Assert(t, may("look", `{}`), "to see the screen was allowed: it must be open, and nothing else")
	assert.Assert(t, !may("press", `{}`), "to see the screen was allowed: it must be open, and nothing else")
	w.expectRefused(t, builtin.Grant, `{"app": "desktop/edit", "tool": "see", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`,
		aai.Error{Code: aai.AppNotFound, Message: `no program "desktop/edit" is running`, Candidates: []string{"desktop/editor"}})
	w.expectRefused(t, builtin.Grant, `{"app": "desktop/viewer", "tool": "see", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`,
		aai.Error{Code: aai.AppNotFound, Message: `no program "desktop/viewer" is running`})
	w.expectRefused(t, builtin.Grant, `{"app": "desktop/editor", "tool": "look", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`,
		aai.Error{Code: aai.ToolNotFound, Message: `desktop/editor: expected see, act, destroy, run, host, start, or * for see and act; not "look"`})
	w.expectRefused(t, builtin.Grant, `{"app": "desktop", "tool": "press", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`,
		aai.Error{Code: aai.ToolNotFound, Message: `desktop: expected see, act, destroy, run, or * for see and act; not "press"`})
}

// TestDecisionsByNameAreSettled checks that grants by name only have no effect, are marked, and
// are taken over or dropped, once.
func TestDecisionsByNameAreSettled(t *testing.T) {
	w := newWorld(t, apps())
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	add := func(caller, tool string, d policy.Decision) policy.Grant {
		g := policy.Grant{Caller: caller, App: "org.example.Notes", Tool: tool, Decision: d, GrantedAt: at}
		app, err := w.gateway.Catalog.Find(t.Context(), g.App)
		assert.NilError(t, err)
		g.Digest = app.DigestOf(tool)
		assert.NilError(t, w.store.Add(g))
		return g
	}
	add("mcp:claude", "add", policy.Allow)
	add("mcp:other", "add", policy.Allow)
	add("cli:terminal", "add", policy.Allow)
	add("*", "list", policy.Allow)
	assert.Assert(t, !w.isAllowed(t, "add"), "a grant by name alone admits")
	w.expectRefused(t, builtin.ImportConsents, `{"caller": "mcp:claude", "identity": "mcp:claude"}`,
		aai.Error{Code: aai.InvalidParams, Message: `identity: "mcp:claude" is nobody's`})
	sameJSON(t, w.callBuiltin(t, builtin.ImportConsents, `{"caller": "mcp:claude", "identity": "/usr/bin/claude"}`).Data, `{"taken": 1}`)
	assert.Check(t, w.isAllowed(t, "add"), "what was taken over does not hold")
	for _, stranger := range []aai.Caller{
		{Door: aai.DoorMCP, Name: "claude", Identity: "/usr/bin/other"}, {Door: aai.DoorMCP, Name: "other", Identity: "/usr/bin/claude"},
		{Door: aai.DoorMCP, Name: "claude"},
	} {
		_, err := w.do(t, stranger, "org.example.Notes", "add", `{"title": "milk"}`)
		assert.Assert(t, err != nil, "%+v uses what another one was given: %v", stranger, err)
		assert.Equal(t, aai.AsError(err).Code, aai.ConsentRequired, "%+v %v", stranger, err)
	}
	sameJSON(t, w.callBuiltin(t, builtin.DropNameOnlyGrants, `{}`).Data, `{"dropped": 1}`)
	sameJSON(t, w.callBuiltin(t, builtin.DropNameOnlyGrants, `{}`).Data, `{"dropped": 0}`)
	left, err := w.store.Grants()
	assert.NilError(t, err)
	assert.Assert(t, is.Len(left, 3))
	assert.Assert(t, !slices.ContainsFunc(left, policy.Grant.IsNameOnly), "left are %+v, %v", left, err)
}

// TestNoGrantForANameAlone checks that a name alone gets no grant, because any caller can use it.
func TestNoGrantForANameAlone(t *testing.T) {
	w := newWorld(t, apps())
	for _, name := range []string{"mcp:claude", "claude"} {
		w.expectRefused(t, builtin.Grant, `{"app": "memo", "tool": "add", "caller": "`+name+`"}`,
			aai.Error{Code: aai.InvalidParams, Message: `caller: "` + name + `" is only what a caller calls itself; expected its identity too`})
	}
	w.callBuiltin(t, builtin.Grant, `{"app": "memo", "tool": "add", "identity": "/usr/bin/claude"}`)
	assert.Check(t, w.isAllowed(t, "add"), "what an identity was given under any name does not hold")
	sameJSON(t, w.callBuiltin(t, builtin.Revoke, `{"identity": "/usr/bin/claude"}`).Data, `{"revoked": 1}`)
}
