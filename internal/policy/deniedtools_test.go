package policy_test

import (
	"errors"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
)

// grantsOf is a store that has these grants, or is unreadable.
type grantsOf struct {
	policy.Store
	grants []policy.Grant
	err    error
}

func (g grantsOf) Grants() ([]policy.Grant, error) { return g.grants, g.err }

// TestDeniedTools checks that refused tools and listed apps are denied, but not tools that
// need a question, nor tools that were refused to other callers.
func TestDeniedTools(t *testing.T) {
	notes := &aai.App{ID: "org.example.Notes", Name: "Notes", Digest: "new", Tools: []*aai.Tool{{Name: "add"}, {Name: "wipe"}}}
	other := &aai.App{ID: "org.example.Other", Name: "Other", Tools: []*aai.Tool{{Name: "add"}}}
	desktop := &aai.App{ID: aai.DesktopApp, Tools: []*aai.Tool{{Name: "ax_click"}}}
	mine := aai.Caller{Door: aai.DoorMCP, Name: "claude", Identity: "/usr/bin/claude"}
	others := aai.Caller{Door: aai.DoorMCP, Name: "codex", Identity: "/usr/bin/codex"}
	store := grantsOf{grants: []policy.Grant{
		{Caller: "mcp:claude", Identity: "/usr/bin/claude", App: notes.ID, Tool: "wipe", Digest: "old", Decision: policy.Deny},
		{Caller: "mcp:claude", Identity: "/usr/bin/claude", App: notes.ID, Tool: "add", Digest: "old", Decision: policy.Allow},
		{Caller: "*", App: other.ID, Tool: "add", Decision: policy.Deny, ExpiresAt: time.Now().Add(-time.Hour)},
	}}
	lists := policy.AppLists{Denied: []string{"org.example.Blocked"}}
	blocked := &aai.App{ID: "org.example.Blocked", Tools: []*aai.Tool{{Name: "add"}}}
	for _, c := range []struct {
		who  aai.Caller
		app  *aai.App
		tool string
		want bool
	}{
		{mine, notes, "wipe", true}, {mine, notes, "add", false}, {others, notes, "wipe", false},
		{mine, other, "add", false}, {mine, blocked, "add", true}, {others, blocked, "add", true}, {mine, desktop, "ax_click", false},
	} {
		assert.Check(t, is.Equal(policy.DeniedTools(store, lists)(c.who)(c.app, c.app.Tool(c.tool)), c.want), "%s %s %s", c.tool, c.app.ID, c.who)
	}
	unread := policy.DeniedTools(grantsOf{err: errors.New("locked")}, lists)(mine)
	assert.Assert(t, !unread(notes, notes.Tool("wipe")), "where refusals cannot be read, what the lists say is all")
	assert.Assert(t, unread(blocked, blocked.Tool("add")), "where refusals cannot be read, what the lists say is all")
}
