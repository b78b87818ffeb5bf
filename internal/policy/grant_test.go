package policy

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

func TestCoversCaller(t *testing.T) {
	const id = "/usr/bin/x"
	mcp := func(name string) aai.Caller { return aai.Caller{Door: aai.DoorMCP, Name: name, Identity: id} }
	cli := func(name string) aai.Caller { return aai.Caller{Door: aai.DoorCLI, Name: name, Identity: id} }
	for _, c := range []struct {
		grant  string
		caller aai.Caller
		want   bool
	}{
		{"mcp:claude-ai", mcp("claude-ai"), true},
		{"claude-ai", mcp("claude-ai"), true},
		{"claude-ai", aai.Caller{Door: "http", Name: "claude-ai", Identity: id}, true},
		{"*", mcp("claude-ai"), true},
		{"*", cli("terminal"), true},
		{"*", mcp(""), true},
		{"cli:terminal", cli("terminal"), true},
		{"mcp:", mcp(""), true},

		// A bare name is an agent's; the terminal must be named in full.
		{"terminal", cli("terminal"), false},
		{"cli:terminal", mcp("terminal"), false},
		{"cli:terminal", mcp("cli:terminal"), false},
		{"mcp:claude-ai", cli("claude-ai"), false},
		{"mcp:claude-ai", cli("mcp:claude-ai"), false},

		// Names that only look alike.
		{"claude-ai", mcp("claude-a"), false},
		{"claude-ai", mcp("claude-ai2"), false},
		{"claude-ai", mcp("Claude-AI"), false},
		{"mcp:claude-ai", mcp("Claude-AI"), false},
		{"claude-ai", mcp("claude ai"), false},
		{"claude-ai", mcp("cl\u0430ude-ai"), false}, // a Cyrillic a
		{"claude-ai", mcp("mcp:claude-ai"), false},
		{"claude-*", mcp("claude-ai"), false},
		{"*claude-ai", mcp("claude-ai"), false},
		{"claude-ai", mcp("*"), false},
		{"mcp:*", mcp("claude-ai"), false},
		{"mcp", mcp("claude-ai"), false},
		{"mcp:claude", mcp("claude-ai"), false},

		// An empty name matches no caller.
		{"", mcp(""), false},
		{"", mcp("claude-ai"), false},
		{"", aai.Caller{}, false},
		{":", mcp(""), false},
	} {
		got := (Grant{Caller: c.grant, Identity: id, Decision: Allow}).coversCaller(c.caller)
		assert.Check(t, is.Equal(got, c.want), "a grant for %q covers %+v: %v, expected %v", c.grant, c.caller, got, c.want)
	}
}

// TestCoversCallerAsShown checks that a grant matches the cleaned name, as shown to
// people, for any name.
func TestCoversCallerAsShown(t *testing.T) {
	for _, name := range []string{"claude\x1b[31m", "a\nb", "a:b:c", strings.Repeat("x", 500), "\xff\xfe", "\u202eevil"} {
		c := aai.Caller{Door: aai.DoorMCP, Name: name, Identity: "/x"}
		assert.Check(t, (Grant{Caller: c.String(), Identity: "/x"}).coversCaller(c), "the grant for %q does not cover it", c.String())
	}
}

// TestIdentityDecides checks that a name alone grants nothing, and denies nothing else.
func TestIdentityDecides(t *testing.T) {
	me := aai.Caller{Door: aai.DoorMCP, Name: "claude-ai", Identity: "/usr/bin/claude"}
	renamed, namesake, unknown := me, me, me
	renamed.Name, namesake.Identity, unknown.Identity = "other", "/home/u/evil", ""
	mine := Grant{Caller: me.String(), Identity: me.Identity, Decision: Allow}
	whatever, anyone, before := mine, mine, mine
	whatever.Caller = Wildcard
	anyone.Caller, anyone.Identity = Wildcard, ""
	before.Identity = ""
	refusal, oldRefusal := mine, before
	refusal.Decision, oldRefusal.Decision = Deny, Deny
	for name, c := range map[string]struct {
		grant                               Grant
		me, renamed, namesake, unknown, old bool
	}{
		"of one identity and name":  {mine, true, false, false, false, false},
		"of one identity":           {whatever, true, true, false, false, false},
		"of anyone":                 {anyone, true, true, true, true, false},
		"of before, by name":        {before, false, false, false, false, true},
		"a refusal":                 {refusal, true, true, false, false, false},
		"a refusal of before":       {oldRefusal, true, false, true, true, true},
		"the terminal's own":        {Grant{Caller: "cli:terminal", Decision: Allow}, false, false, false, false, false},
		"an unknown one's own name": {Grant{Caller: unknown.String(), Decision: Allow}, false, false, false, false, true},
	} {
		got := []bool{c.grant.coversCaller(me), c.grant.coversCaller(renamed), c.grant.coversCaller(namesake), c.grant.coversCaller(unknown), c.grant.IsNameOnly()}
		want := []bool{c.me, c.renamed, c.namesake, c.unknown, c.old}
		assert.Check(t, slices.Equal(got, want), "a grant %s covers %v, expected %v", name, got, want)
	}
}

// TestTheUnknownGetNothingForGood checks that a caller without an identity gets no lasting grant.
func TestTheUnknownGetNothingForGood(t *testing.T) {
	d, app := newDesk(), notesApp("d1")
	unknown := func(tool string) *aai.Request {
		r := asking(app, tool)
		r.Call.Caller.Identity = ""
		return r
	}
	q := d.question(t, unknown("add"))
	var offered []string
	for _, c := range q.Choices {
		offered = append(offered, c.ID)
	}
	want := []string{choiceDeny, choiceOnce, choiceSession, choiceNever}
	assert.Check(t, slices.Equal(offered, want), "offered are %q, expected %q", offered, want)
	for _, choice := range []string{choiceAlways, choiceAll} {
		d.refuses(t, answered(unknown("add"), d.question(t, unknown("add")), choice), aai.PermissionDenied)
	}
	assert.Check(t, is.Len(d.kept.grants, 0))
	d.admits(t, answered(unknown("add"), d.question(t, unknown("add")), choiceSession))
	d.admits(t, unknown("add"))
	other := unknown("add")
	other.Call.Caller.Session = "s2"
	d.question(t, other)
}

func TestCovers(t *testing.T) {
	r := asking(notesApp("d1"), "add")
	r.Call.Target = &aai.App{ID: "org.example.Bank"}
	for _, c := range []struct {
		grant Grant
		want  bool
	}{
		{Grant{Caller: Wildcard, App: "org.example.Bank", Tool: "add"}, true},
		{Grant{Caller: Wildcard, App: "org.example.Bank", Tool: Wildcard}, true},
		{Grant{Caller: Wildcard, App: notes, Tool: "add"}, false}, // the target counts
		{Grant{Caller: Wildcard, App: "org.example.Bank", Tool: "ADD"}, false},
		{Grant{Caller: Wildcard, App: "org.example.Bank", Tool: "add "}, false},
		{Grant{Caller: Wildcard, App: "org.example.Bank", Tool: ""}, false},
		{Grant{Caller: Wildcard, App: "org.example.Ban", Tool: "add"}, false},
		{Grant{Caller: Wildcard, App: "", Tool: "add"}, false},
		{Grant{}, false},
	} {
		assert.Check(t, is.Equal(c.grant.covers(r), c.want), "%+v", c.grant)
	}
}

func TestSessionsAreOfAnIdentity(t *testing.T) {
	d, app := newDesk(), notesApp("d1")
	d.admits(t, d.choose(t, app, "add", choiceSession))
	d.admits(t, asking(app, "add"))
	namesake := asking(app, "add")
	namesake.Call.Caller.Identity = "/home/u/evil"
	d.question(t, namesake)
}
