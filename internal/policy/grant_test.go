package policy

import (
	"strings"
	"testing"

	"aai"
)

func TestCoversCaller(t *testing.T) {
	mcp := func(name string) aai.Caller { return aai.Caller{Door: aai.DoorMCP, Name: name} }
	cli := func(name string) aai.Caller { return aai.Caller{Door: aai.DoorCLI, Name: name} }
	for _, c := range []struct {
		grant  string
		caller aai.Caller
		want   bool
	}{
		{"mcp:claude-ai", mcp("claude-ai"), true},
		{"claude-ai", mcp("claude-ai"), true},
		{"claude-ai", aai.Caller{Door: "http", Name: "claude-ai"}, true},
		{"*", mcp("claude-ai"), true},
		{"*", cli("terminal"), true},
		{"*", mcp(""), true},
		{"cli:terminal", cli("terminal"), true},
		{"mcp:", mcp(""), true},

		// A bare name is an agent's; the terminal has to be named in full.
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

		// Nobody is nobody.
		{"", mcp(""), false},
		{"", mcp("claude-ai"), false},
		{"", aai.Caller{}, false},
		{":", mcp(""), false},
	} {
		if got := (Grant{Caller: c.grant}).coversCaller(c.caller); got != c.want {
			t.Errorf("a grant for %q covers %+v: %v, expected %v", c.grant, c.caller, got, c.want)
		}
	}
}

// What a caller may use it may use under the name that people saw: the cleaned
// one. A grant can therefore be found again for any name whatever.
func TestCoversCallerAsShown(t *testing.T) {
	for _, name := range []string{"claude\x1b[31m", "a\nb", "a:b:c", strings.Repeat("x", 500), "\xff\xfe", "\u202eevil"} {
		c := aai.Caller{Door: aai.DoorMCP, Name: name}
		if !(Grant{Caller: c.String()}).coversCaller(c) {
			t.Errorf("the grant for %q does not cover it", c.String())
		}
	}
}

func TestCovers(t *testing.T) {
	r := asking(notesApp("d1"), "add")
	r.Target = &aai.App{ID: "org.example.Bank"}
	for _, c := range []struct {
		grant Grant
		want  bool
	}{
		{Grant{Caller: Every, App: "org.example.Bank", Tool: "add"}, true},
		{Grant{Caller: Every, App: "org.example.Bank", Tool: Every}, true},
		{Grant{Caller: Every, App: notes, Tool: "add"}, false}, // it is the target that counts
		{Grant{Caller: Every, App: "org.example.Bank", Tool: "ADD"}, false},
		{Grant{Caller: Every, App: "org.example.Bank", Tool: "add "}, false},
		{Grant{Caller: Every, App: "org.example.Bank", Tool: ""}, false},
		{Grant{Caller: Every, App: "org.example.Ban", Tool: "add"}, false},
		{Grant{Caller: Every, App: "", Tool: "add"}, false},
		{Grant{}, false},
	} {
		if got := c.grant.covers(r); got != c.want {
			t.Errorf("%+v: %v, expected %v", c.grant, got, c.want)
		}
	}
}
