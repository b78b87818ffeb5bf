package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// The agents of these tests: each starts the gateway in its argument, is named "agent", calls one
// tool, and prints the result.
const (
	nodeAgent = `#!/usr/bin/env node
const readline = require('readline');
const g = require('child_process').spawn(process.argv[2], process.argv.slice(3), {stdio: ['pipe', 'pipe', 'inherit']});
const send = m => g.stdin.write(JSON.stringify({jsonrpc: '2.0', ...m}) + '\n');
readline.createInterface({input: g.stdout}).on('line', line => {
  const m = JSON.parse(line);
  if (m.id === 1) {
    send({method: 'notifications/initialized'});
    send({id: 2, method: 'tools/call', params: {name: 'aai_exec', arguments: {app: 'org.example.App', tool: 'nothing', args: {}}}});
  } else if (m.id === 2) {
    console.log(JSON.stringify(m.result));
    g.stdin.end();
  }
});
send({id: 1, method: 'initialize', params: {protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {name: 'agent', version: '1'}}});
`
	pythonAgent = `import json, subprocess, sys
g = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def send(**m):
    g.stdin.write(json.dumps({'jsonrpc': '2.0', **m}) + '\n')
    g.stdin.flush()
def answer(id):
    for line in g.stdout:
        m = json.loads(line)
        if m.get('id') == id:
            return m['result']
send(id=1, method='initialize', params={'protocolVersion': '2025-06-18', 'capabilities': {}, 'clientInfo': {'name': 'agent', 'version': '1'}})
answer(1)
send(method='notifications/initialized')
send(id=2, method='tools/call', params={'name': 'aai_exec', 'arguments': {'app': 'org.example.App', 'tool': 'nothing', 'args': {}}})
print(json.dumps(answer(2)))
g.stdin.close()
g.wait()
`
)

// agentAnswer is the output of an agent.
type agentAnswer struct {
	IsError           bool `json:"isError"`
	StructuredContent struct {
		Type       string `json:"type"`
		Suggestion string `json:"suggestion"`
	} `json:"structuredContent"`
}

// asks runs an agent to its end, and returns the code of its call, "" for success, and its
// identity for the gateway.
func (h home) asks(t *testing.T, args ...string) (code, identity string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], append(args[1:], string(h.binary))...)
	cmd.Env, cmd.Stderr = append(h.env, "npm_config_cache="+filepath.Join(h.folder, ".npm")), t.Output()
	out, err := cmd.Output()
	var got agentAnswer
	assert.NilError(t, err, "%q %s", args, out)
	assert.NilError(t, json.Unmarshal(out, &got), "%q %s", args, out)
	_, identity, _ = strings.Cut(got.StructuredContent.Suggestion, " --identity ")
	return got.StructuredContent.Type, strings.Trim(identity, "'")
}

func (h home) script(t *testing.T, name, text string) string {
	t.Helper()
	h.write(t, name, text)
	path, err := filepath.EvalSymlinks(filepath.Join(h.folder, name))
	if err == nil {
		err = os.Chmod(path, 0o700)
	}
	assert.NilError(t, err)
	return path
}

// mcpCallersToldApart: agents with the same name, of node by npx and shells, of Python, of Go. A
// consent applies to one of them only, also after its update.
func mcpCallersToldApart(t *testing.T, b programPath) {
	h, _ := b.withApp(t)
	h.script(t, "work/node_modules/agent/cli.js", nodeAgent)
	h.write(t, "work/node_modules/agent/package.json", `{"name": "agent", "version": "1.0.0", "bin": "cli.js"}`)
	assert.NilError(t, os.MkdirAll(filepath.Join(h.folder, "work/node_modules/.bin"), 0o700))
	assert.NilError(t, os.Symlink("../agent/cli.js", filepath.Join(h.folder, "work/node_modules/.bin/agent")))
	byNPX := []string{"sh", "-c", `cd "$0" && npx --offline agent "$@"; exit`, filepath.Join(h.folder, "work")}
	old := []string{"node", h.script(t, "agent/versions/1.0.58/cli.js", nodeAgent)}
	next := []string{"env", "A=1", "node", h.script(t, "agent/versions/1.0.59/cli.js", nodeAgent)}
	python := []string{"python3", h.script(t, "agent.py", pythonAgent)}
	all := map[string][]string{"node by npx": byNPX, "node": old, "node, updated": next, "Python": python}

	is := make(map[string]string)
	for name, args := range all {
		code, identity := h.asks(t, args...)
		if code != "CONSENT_REQUIRED" || identity == "" {
			t.Fatalf("%s, whom nobody allowed anything, got %q and is %q", name, code, identity)
		}
		is[name] = identity
	}
	p := h.start(t).open()
	refusal := p.call("nothing", `{}`)
	_, goes, _ := strings.Cut(refusal.StructuredContent.Suggestion, " --identity ")
	is["Go"] = strings.Trim(goes, "'")
	if is["node"] != is["node, updated"] {
		t.Errorf("an update of %q is %q", is["node"], is["node, updated"])
	}
	delete(is, "node, updated")
	seen := make(map[string]string)
	for name, identity := range is {
		if other, taken := seen[identity]; taken || identity == "" {
			t.Errorf("%s and %s are both %q", name, other, identity)
		}
		seen[identity] = name
	}

	allow := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), string(b), append([]string{"consent", "grant", exampleApp, "nothing", "--yes"}, args...)...)
		cmd.Env = append(h.env, "PERSON=yes")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	expect := func(want map[string]string) {
		t.Helper()
		for name, args := range all {
			if code, _ := h.asks(t, args...); code != want[name] {
				t.Errorf("%s got %q, expected %q", name, code, want[name])
			}
		}
	}
	const no = "CONSENT_REQUIRED"
	allow("--caller", "mcp:agent", "--identity", is["node"])
	expect(map[string]string{"node": "", "node, updated": "", "node by npx": no, "Python": no})
	if r := p.call("nothing", `{}`); r.StructuredContent.Type != no {
		t.Errorf("Go got %+v", r)
	}
	allow("--caller", "mcp:other", "--identity", is["Python"])
	expect(map[string]string{"node": "", "node, updated": "", "node by npx": no, "Python": no})
	allow("--identity", is["node by npx"])
	expect(map[string]string{"node": "", "node, updated": "", "node by npx": "", "Python": no})
	p.hangUp()
}

// mcpHTTPTokenOfEachAgent: a token is created, and revoked, while the server runs; its agent's
// consent does not apply to another of the same name.
func mcpHTTPTokenOfEachAgent(t *testing.T, b programPath) {
	h, _ := b.withApp(t)
	s := h.serveHTTP(t)
	run := func(args ...string) string {
		t.Helper()
		cmd := h.command(t.Context(), args...)
		cmd.Env = append(h.env, "PERSON=yes")
		out, err := cmd.Output()
		assert.NilError(t, err, "%q", args)
		return strings.TrimSpace(string(out))
	}
	tokens := map[string]string{"local": s.token, "work": run("mcp", "token", "add", "work"), "home": run("mcp", "token", "add", "home")}
	call := func(who string) string {
		t.Helper()
		agent := *s
		agent.token = tokens[who]
		result, err := agent.connect(t, "2026-07-28").CallTool(t.Context(), &mcp.CallToolParams{Name: "aai_exec", Arguments: map[string]any{"app": exampleApp, "tool": "nothing"}})
		assert.NilError(t, err)
		var got agentAnswer
		assert.NilError(t, json.Unmarshal([]byte(asJSON(result)), &got))
		return got.StructuredContent.Type
	}
	run("consent", "grant", exampleApp, "nothing", "--caller", "mcp:tester", "--identity", "http:work", "--yes")
	for who, want := range map[string]string{"work": "", "home": "CONSENT_REQUIRED", "local": "CONSENT_REQUIRED"} {
		assert.Check(t, is.Equal(call(who), want), who)
	}
	run("mcp", "token", "revoke", "work")
	assert.Check(t, is.Equal(s.status(t, tokens["work"]), http.StatusUnauthorized), "a token that was revoked")
	assert.Check(t, is.Equal(call("home"), "CONSENT_REQUIRED"), "the other token")
	list := run("mcp", "token", "list")
	assert.Assert(t, is.Contains(list, "\nhome\thttp:home\t"))
	assert.Assert(t, !strings.Contains(list, "work"), "listed is %q", list)
	for _, file := range []string{"http-tokens.json", "http-tokens.json.lock"} {
		text, err := os.ReadFile(filepath.Join(h.folder, ".local/share/aai-gateway", file))
		assert.NilError(t, err, "%s %s", file, text)
		assert.Assert(t, !strings.Contains(string(text), tokens["home"]), "%s %s", file, text)
	}
}
