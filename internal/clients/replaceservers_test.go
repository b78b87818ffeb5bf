package clients_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/clients"
)

// TestTake checks that in each format the named servers are removed, the gateway is added, all
// else stays, no value is shown, and the file is restored byte for byte.
func TestTake(t *testing.T) {
	for id, file := range map[string]struct{ path, text, other string }{
		"claude-code": {".claude.json", `{"a": 1, "mcpServers": {"one": {"command": "x", "env": {"K": "canary"}}, "two": {"command": "y"}}, "b": [2]}`, `"two"`},
		"vscode":      {".config/Code/User/mcp.json", "{\n  // mine\n  \"servers\": {\n    \"one\": {\"command\": \"x\", \"args\": [\"canary\"]},\n    \"two\": {\"command\": \"y\"},\n  },\n}\n", "// mine"},
		"codex":       {".codex/config.toml", "model = \"o\"\n\n[mcp_servers.one]\ncommand = \"x\"\n\n[mcp_servers.one.env]\nK = \"canary\"\n\n[mcp_servers.two]\ncommand = \"y\"\n", "[mcp_servers.two]"},
		"goose":       {".config/goose/config.yaml", "extensions:\n  one:\n    type: stdio\n    cmd: x\n    envs:\n      K: canary\n  two:\n    type: stdio\n    cmd: y\nGOOSE_MODEL: m\n", "GOOSE_MODEL: m"},
		"continue":    {".continue/config.yaml", "name: me\nmcpServers:\n  - name: one\n    command: x\n    env:\n      K: canary\n  - name: two\n    command: y\n", "name: two"},
	} {
		t.Run(id, func(t *testing.T) {
			w := newWorld(t, "linux", nil)
			w.file(file.path, file.text)
			servers, of, err := w.room.ServersOf(id)
			assert.NilError(t, err, of)
			assert.Assert(t, strings.HasSuffix(of.File, file.path), of)
			assert.Assert(t, is.DeepEqual([]string{"one", "two"}, slices.Sorted(maps.Keys(servers))))
			plan := w.plan(w.room.ReplaceServers(id, []string{"one"}, serve()))
			assert.Assert(t, !strings.Contains(plan.Diff, "canary"), "it shows\n%s", plan.Diff)
			assert.Assert(t, is.Contains(plan.Diff, command))
			assert.NilError(t, w.room.Apply(t.Context(), plan))
			now := w.has(file.path)
			assert.Assert(t, !strings.Contains(now, "canary"), "the file is\n%s", now)
			assert.Assert(t, is.Contains(now, file.other))
			assert.Assert(t, is.Contains(now, command))
			servers, _, err = w.room.ServersOf(id)
			assert.NilError(t, err)
			assert.Assert(t, is.Len(servers, 1))
			assert.Assert(t, servers["two"] != nil, "left are %v, %v", servers, err)
			w.do(clients.ActionRestore)(w.room.Rollback(id))
			w.is(file.path, file.text)

			_, err = w.room.ReplaceServers(id, []string{"three"}, serve())
			assert.Check(t, err != nil, "a server that is not there is taken")
		})
	}
}

// TestTakeWhereWeAre checks that a client that already starts the gateway, under any name, gets
// no second entry.
func TestTakeWhereWeAre(t *testing.T) {
	w := newWorld(t, "linux", nil)
	w.file(".claude.json", `{"mcpServers": {"one": {"command": "x"}, "apps": {"command": "`+command+`", "args": ["mcp", "serve"]}}}`)
	servers, _, err := w.room.ServersOf("claude-code")
	assert.NilError(t, err)
	assert.Assert(t, is.Len(servers, 1))
	w.do(clients.ActionReplace)(w.room.ReplaceServers("claude-code", []string{"one"}, serve()))
	w.is(".claude.json", `{"mcpServers": {"apps": {"command": "`+command+`", "args": ["mcp", "serve"]}}}`)
}

// TestServersOfAHalfFile checks that the hint of an import is to repair the file, while that of
// an install is also to add the entry by hand.
func TestServersOfAHalfFile(t *testing.T) {
	for _, text := range []string{`{"mcpServers": {"one": {"comm`, `[]`} {
		w := newWorld(t, "linux", nil)
		w.file(".claude.json", text)
		_, _, err := w.room.ServersOf("claude-code")
		e, ok := errors.AsType[*aai.Error](err)
		assert.Assert(t, ok, "%s %v %+v", text, err, e)
		assert.Assert(t, is.Contains(e.Hint, "import again"), "%s %v %+v", text, err, e)
		assert.Assert(t, !strings.Contains(e.Hint, "add the server"), "%s %v %+v", text, err, e)
		w.is(".claude.json", text)
	}
}

// TestScopes checks that the servers of all projects, of each project in the client's own file and of a
// project's file are found, and that an unreadable file costs only its own servers.
func TestScopes(t *testing.T) {
	for name, test := range map[string]struct {
		client string
		files  map[string]string
		want   map[string]string // servers by folder; the home and the project are ~ and ~/p
		fault  string
	}{
		"Claude Code": {client: "claude-code", files: map[string]string{
			".claude.json": `{"mcpServers": {}, "projects": {"/home/u/p": {"allowedTools": [], "mcpServers": {
				"proj": {"type": "stdio", "command": "npx", "args": ["-y", "p"], "env": {}},
				"github": {"type": "http", "url": "https://api.githubcopilot.com/mcp/"}}}, "/home/u/q": {}}}`,
			"p/.mcp.json": `{"mcpServers": {"shared": {"command": "./run"}, "aai": {"command": "aai-gateway"}}}`,
		}, want: map[string]string{"": "", "/home/u/p": "github proj", "~/p": "shared"}},
		"VS Code": {client: "vscode", files: map[string]string{
			"p/.vscode/mcp.json": "{\n  // mine\n  \"servers\": {\"fs\": {\"command\": \"npx\"},},\n}\n",
		}, want: map[string]string{"": "", "~/p": "fs"}},
		"Cursor": {client: "cursor", files: map[string]string{
			".cursor/mcp.json": `{"mcpServers": {"one": {"command": "x"}}}`, "p/.cursor/mcp.json": `{"mcpServers": {"two": {"command": "y"}}}`,
		}, want: map[string]string{"": "one", "~/p": "two"}},
		"a project's file is broken": {client: "cursor", files: map[string]string{
			".cursor/mcp.json": `{"mcpServers": {"one": {"command": "x"}}}`, "p/.cursor/mcp.json": `{"mcpServers": {"two": {"command": y}}}`,
		}, want: map[string]string{"": "one", "~/p": ""}, fault: "~/p/.cursor/mcp.json: line 1, column 36"},
		"the client's own file is broken": {client: "cursor", files: map[string]string{
			".cursor/mcp.json": `{"mcpServers": {`, "p/.cursor/mcp.json": `{"mcpServers": {"two": {"command": "y"}}}`,
		}, want: map[string]string{"": "", "~/p": "two"}, fault: "~/.cursor/mcp.json: INVALID_PARAMS: ~/.cursor/mcp.json: line 2, column 1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "linux", nil)
			for path, text := range test.files {
				w.file(path, text)
			}
			scopes, _, err := w.room.ScopesOf(test.client, w.home+"/p")
			assert.NilError(t, err)
			short := func(s string) string { return strings.ReplaceAll(s, w.home, "~") }
			got, fault := make(map[string]string), ""
			for _, s := range scopes {
				got[short(s.Folder)] = strings.Join(slices.Sorted(maps.Keys(s.Servers)), " ")
				if s.Fault != nil {
					fault += short(s.Place + ": " + s.Fault.Error())
				}
			}
			assert.Check(t, is.DeepEqual(test.want, got))
			assert.Assert(t, strings.HasPrefix(fault, test.fault), "the faults are %q; want %q", fault, test.fault)
			assert.Equal(t, (test.fault == ""), (fault == ""), "%q %q", fault, test.fault)
		})
	}
}
