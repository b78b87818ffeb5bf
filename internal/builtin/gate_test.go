package builtin_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// arguments returns valid arguments for every tool of the gateway.
func arguments() map[string]string {
	return map[string]string{
		builtin.Apps: `{}`, builtin.Guide: `{"app": "memo"}`, builtin.Descriptor: `{"app": "memo"}`, builtin.Scan: `{}`, builtin.Projects: `{}`, builtin.History: `{}`, builtin.Story: `{"call": "c1"}`, builtin.Stats: `{}`, builtin.Totals: `{}`, builtin.ForgetResults: `{"call": "c1"}`, builtin.ListConsents: `{}`,
		builtin.Grant:          `{"app": "memo", "tool": "*", "caller": "*"}`,
		builtin.ImportConsents: `{"caller": "mcp:x", "identity": "/usr/bin/x"}`, builtin.DropNameOnlyGrants: `{}`,
		builtin.Revoke: `{}`, builtin.Mode: `{}`, builtin.SetMode: `{"mode": "normal"}`,
		builtin.Discover: `{"url": "example.com"}`, builtin.NameSite: `{"name": "example", "url": "example.com"}`,
		builtin.Keychain: `{}`, builtin.CheckDesktop: `{}`, builtin.Status: `{}`,
		builtin.Lint:  `{"source": "../../descriptors/org.gnome.Calculator/aai.json"}`,
		builtin.LogIn: `{"app": "org.example.one", "secret": {"key": "k"}}`, builtin.LogOut: `{"app": "memo"}`, builtin.LoginStatus: `{}`,
		builtin.AuditVerify: `{}`, builtin.AuditExport: `{}`,
		builtin.ListUnconfirmed: `{}`, builtin.ConfirmSettings: `{"settings": [{"from": "/c", "key": "dev", "value": true}]}`, builtin.SetPassphrase: `{}`,
	}
}

// tools returns the gateway's own tools.
func (w *world) tools(t *testing.T) []*aai.Tool {
	t.Helper()
	app, err := w.gateway.Catalog.Find(t.Context(), aai.BuiltinApp)
	assert.NilError(t, err)
	return app.Tools
}

// allDoors returns all doors of callers, and some invalid ones.
func allDoors() []string { return []string{aai.DoorMCP, aai.DoorCLI, "", "web", "CLI"} }

func TestAgentsGetOnlyWhatIsOpen(t *testing.T) {
	w := newWorld(t, apps())
	_, err := w.gateway.Do(t.Context(), &aai.Call{ID: "c1", Caller: person(), App: aai.BuiltinApp, Tool: builtin.Apps})
	assert.NilError(t, err)
	open := map[string]bool{builtin.Apps: true, builtin.Guide: true, builtin.Descriptor: true, builtin.Discover: true, builtin.Projects: true, builtin.Status: true}
	for _, tool := range w.tools(t) {
		given, known := arguments()[tool.Name]
		assert.Check(t, known, "%s is new; say here whether agents may use it", tool.Name)
		if tool.Effect != aai.Reads {
			assert.Check(t, !open[tool.Name], "%s is open, and does not only read", tool.Name)
			continue // see TestEveryChangeIsProved
		}
		for _, door := range allDoors() {
			_, err := w.do(t, aai.Caller{Door: door, Name: "claude"}, aai.BuiltinApp, tool.Name, given)
			e, person := aai.AsError(err), door == aai.DoorCLI
			switch {
			case (open[tool.Name] || person) && e != nil:
				t.Errorf("%s is closed to %q: %v", tool.Name, door, e)
			case !open[tool.Name] && !person && (e == nil || e.Code != aai.PermissionDenied):
				t.Errorf("%s is open to %q: %v", tool.Name, door, e)
			case !open[tool.Name] && !person && !strings.Contains(e.Hint, "aai-gateway"):
				t.Errorf("%s: the hint does not say what to do: %q", tool.Name, e.Hint)
			}
		}
	}
	assert.Check(t, is.Len(w.screen.asked, 0), "asked %d times about what only reads", len(w.screen.asked))
}

// TestEveryChangeIsProved checks that every change of the gateway needs reauthentication at every
// door: without a method it is denied, and with one it is asked each time.
func TestEveryChangeIsProved(t *testing.T) {
	w := newWorld(t, apps())
	w.otherApps, w.typed = shops(), "a phrase of this person"
	w.open()
	w.unconfirmed = []reauth.Setting{{From: "/c", Key: "dev", Value: true}}
	deny := policy.Grant{Caller: "mcp:x", App: "org.example.Notes", Tool: "add", Decision: policy.Deny}
	if err := w.store.Add(deny); err != nil { // so that the revocation does more than narrow
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "export")
	// Widening arguments, where the others are not.
	more := map[string]string{builtin.SetMode: `{"mode": "normal"}`, builtin.AuditExport: `{"file": "` + file + `"}`}
	changes := 0
	for _, tool := range w.tools(t) {
		if tool.Effect == aai.Reads {
			continue
		}
		changes++
		given := arguments()[tool.Name]
		if wide, ok := more[tool.Name]; ok {
			given = wide
		}
		for _, door := range allDoors() {
			if tool.Name == builtin.LogOut && door == aai.DoorCLI {
				continue // see TestNarrowingNeedsNoReauthentication
			}
			assert.NilError(t, policy.SetMode(w.deps.Modes.Path, policy.Safe))
			who := aai.Caller{Door: door, Name: "terminal"}
			before := w.allDecisions(t)
			w.screen = screen{none: true}
			_, err := w.do(t, who, aai.BuiltinApp, tool.Name, given)
			e := aai.AsError(err)
			first := tool.Name == builtin.SetPassphrase && door == aai.DoorCLI
			switch {
			case first && (e == nil || e.Code != aai.ConsentRequired || len(e.Questions) != 1 || !slices.Equal(e.Questions[0].Channels, []aai.Channel{aai.Terminal})):
				t.Errorf("%s for %q, and nobody there: %v", tool.Name, door, err)
			case !first && (e == nil || e.Code != aai.PermissionDenied || !strings.Contains(e.Hint, "consent passphrase") || !strings.Contains(e.Hint, policy.RootPolicyPath)):
				t.Errorf("%s for %q, and nobody there: %v", tool.Name, door, err)
			}
			w.screen = screen{answer: "no"}
			if _, err := w.do(t, who, aai.BuiltinApp, tool.Name, given); aai.AsError(err) == nil || aai.AsError(err).Code != aai.PermissionDenied || len(w.screen.asked) != 1 {
				t.Errorf("%s for %q, and the person says no: %v, asked %d times", tool.Name, door, err, len(w.screen.asked))
			}
			for _, q := range w.screen.asked {
				assert.Assert(t, !strings.Contains(q.Title+q.Text, tool.Name), "%s is asked about by its own name: %s\n%s", tool.Name, q.Title, q.Text)
				assert.Assert(t, !strings.Contains(q.Title, tool.Description), "%s is asked about by its own name: %s\n%s", tool.Name, q.Title, q.Text)
			}
			assert.Check(t, is.DeepEqual(before, w.allDecisions(t)), "%s %q", tool.Name, door)
			w.screen = screen{}
			_, err = w.do(t, who, aai.BuiltinApp, tool.Name, given)
			if e := aai.AsError(err); e != nil && e.Code != aai.InvalidParams && tool.Name != builtin.SetPassphrase || len(w.screen.asked) != 1 {
				t.Errorf("%s for %q, and the person says yes: %v, asked %d times", tool.Name, door, err, len(w.screen.asked))
			}
			_ = os.Remove(file)
			assert.NilError(t, w.store.Add(deny))
		}
	}
	assert.Check(t, changes >= 9, "only %d tools change anything", changes)
}

// TestPrecheckComesBeforeTheQuestion checks that a precheck error comes before reauthentication,
// and only for callers that could reauthenticate.
func TestPrecheckComesBeforeTheQuestion(t *testing.T) {
	w := newWorld(t, apps())
	w.otherApps = append(shops(), windows())
	w.open()
	for _, c := range []struct {
		tool, arguments string
		code            aai.Code
	}{
		{builtin.Grant, `{"app": "memo", "tool": "ad", "caller": "*"}`, aai.ToolNotFound},
		{builtin.Grant, `{"app": "memos", "tool": "add", "caller": "*"}`, aai.AppNotFound},
		{builtin.Grant, `{"app": "desktop/mousepad", "tool": "see", "caller": "*"}`, aai.AppNotFound},
		{builtin.Grant, `{"app": "desktop/editor", "tool": "look", "caller": "*"}`, aai.ToolNotFound},
		{builtin.Grant, `{"app": "memo", "tool": "add", "caller": "mcp:claude"}`, aai.InvalidParams},
		{builtin.Grant, `{"app": "memo", "tool": "add", "caller": "*", "identity": "claude"}`, aai.InvalidParams},
		{builtin.Grant, `{"app": "memo", "tool": "add", "caller": "*", "expires": "2001-01-01T00:00:00Z"}`, aai.InvalidParams},
		{builtin.Grant, `{"app": "aai", "tool": "*", "caller": "*"}`, aai.PermissionDenied},
		{builtin.ImportConsents, `{"caller": "mcp:x", "identity": "x"}`, aai.InvalidParams},
		{builtin.ImportConsents, `{"caller": "mcp:x", "identity": "/usr/bin/x"}`, aai.InvalidParams},
		{builtin.LogIn, `{"app": "memo"}`, aai.InvalidParams},
		{builtin.ConfirmSettings, `{"settings": [{"from": "/c", "key": "dev", "value": true}]}`, aai.InvalidParams},
		{builtin.SetPassphrase, `{}`, aai.PermissionDenied}, // no terminal
	} {
		w.screen = screen{}
		if _, err := w.do(t, person(), aai.BuiltinApp, c.tool, c.arguments); aai.AsError(err) == nil || aai.AsError(err).Code != c.code || len(w.screen.asked) != 0 {
			t.Errorf("%s %s: asked %d times, %v", c.tool, c.arguments, len(w.screen.asked), err)
		}
		if c.tool == builtin.SetPassphrase {
			continue // the first one is asked even without a screen
		}
		if c.tool == builtin.Grant { // at every door: it reveals no decision about others
			for _, door := range []string{aai.DoorWeb, aai.DoorMCP} {
				w.screen = screen{}
				who := aai.Caller{Door: door, Name: "x", Identity: "/usr/bin/x"}
				if _, err := w.do(t, who, aai.BuiltinApp, c.tool, c.arguments); aai.AsError(err) == nil || aai.AsError(err).Code != c.code || len(w.screen.asked) != 0 {
					t.Errorf("by %s %s %s: asked %d times, %v", door, c.tool, c.arguments, len(w.screen.asked), err)
				}
			}
		}
		w.screen = screen{none: true}
		_, err := w.do(t, person(), aai.BuiltinApp, c.tool, c.arguments)
		assert.Assert(t, aai.AsError(err) != nil, "%s %s, and nobody could prove it: %v", c.tool, c.arguments, err)
		assert.Equal(t, aai.AsError(err).Code, aai.PermissionDenied, "%s %s %v", c.tool, c.arguments, err)
		assert.Assert(t, is.Contains(aai.AsError(err).Hint, "consent passphrase"), "%s %s %v", c.tool, c.arguments, err)
	}
}

// allDecisions returns all decisions of the person.
func (w *world) allDecisions(t *testing.T) any {
	t.Helper()
	grants, err := w.store.Grants()
	assert.NilError(t, err)
	return []any{grants, w.deps.Modes.Current(), w.web.names, w.deps.Passphrase.IsSet(t.Context())}
}

// TestNarrowingNeedsNoReauthentication checks that only forgetting a denial needs it.
func TestNarrowingNeedsNoReauthentication(t *testing.T) {
	w := newWorld(t, apps())
	for _, c := range []struct {
		tool, arguments string
		free            bool
	}{
		{builtin.SetMode, `{"mode": "safe"}`, true},
		{builtin.SetMode, `{"mode": "sandboxed"}`, true},
		{builtin.SetMode, `{"mode": "sandboxed"}`, true},
		{builtin.SetMode, `{"mode": "safe"}`, false},
		{builtin.LogOut, `{"app": "memo"}`, true},
		{builtin.AuditExport, `{}`, true},
		{builtin.Revoke, `{"caller": "mcp:y"}`, true},
		{builtin.Revoke, `{"caller": "mcp:x"}`, false},
		{builtin.Revoke, `{"tool": "list"}`, true},
		{builtin.Revoke, `{"app": "org.example.Other"}`, false}, // it may be an alias
		{builtin.Revoke, `{}`, false}, {builtin.Revoke, `{"sessions": true}`, true},
	} {
		assert.NilError(t, w.store.Add(policy.Grant{Caller: "mcp:x", App: "org.example.Notes", Tool: "add", Decision: policy.Deny}))
		w.screen = screen{answer: "no"}
		_, err := w.do(t, person(), aai.BuiltinApp, c.tool, c.arguments)
		assert.Check(t, is.Equal(err == nil && len(w.screen.asked) == 0, c.free), "%s %s %v", c.tool, c.arguments, err)
	}
}

func TestEveryToolSaysWhatItDoes(t *testing.T) {
	w := newWorld(t, nil)
	app, err := w.gateway.Catalog.Find(t.Context(), aai.BuiltinApp)
	assert.NilError(t, err)
	assert.Check(t, is.Len(app.Tools, len(arguments())), "%d tools, but %d are known to the tests", len(app.Tools), len(arguments()))
	for _, tool := range app.Tools {
		changes := tool.Name == builtin.Grant || tool.Name == builtin.Revoke || tool.Name == builtin.ImportConsents || tool.Name == builtin.DropNameOnlyGrants || tool.Name == builtin.SetMode || tool.Name == builtin.NameSite ||
			tool.Name == builtin.LogIn || tool.Name == builtin.LogOut || tool.Name == builtin.AuditExport || tool.Name == builtin.ForgetResults || tool.Name == builtin.ConfirmSettings || tool.Name == builtin.SetPassphrase
		assert.Check(t, is.Equal((tool.Effect == aai.Changes), changes), "%s %s", tool.Name, tool.Effect)
		assert.Check(t, (tool.Effect == aai.Reads) != changes, "%s %s", tool.Name, tool.Effect)
		assert.Assert(t, tool.Description != "", "%s is not complete", tool.Name)
		assert.Assert(t, tool.Run != nil, "%s is not complete", tool.Name)
		assert.Assert(t, tool.Params.Check != nil, "%s is not complete", tool.Name)
	}
}
