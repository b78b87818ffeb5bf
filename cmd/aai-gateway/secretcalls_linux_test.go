package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

const (
	busEcho = `{"schema_version": "1.0", "appId": "org.example.App", "name": "Example", "description": "An app on the bus.", "version": "1.0",
  "platforms": {"linux": {"automation": "dbus", "service": "org.example.App", "object": "/org/example/Test", "interface": "org.example.Test", "tools": [
  {"name": "echo", "description": "Echoes.", "method": "EchoString", "parameters": {"type": "object", "properties": {"v": {"type": "string"}}}},
  {"name": "fail", "description": "Fails.", "method": "Fail", "parameters": {"type": "object", "properties": {
    "name": {"type": "string", "default": "org.example.Error.Bad"}, "text": {"type": "string"}}}}]}}}`
	siteEcho = `{"schema_version": "1.0", "version": "1.0.0", "platform": "web",
  "app": {"id": "org.example.site", "name": "Site", "description": "Echoes."}, "execution": {"type": "http", "base_url": "$SITE"}, "tools": [
  {"name": "echo", "description": "Echoes.", "path": "/echo", "method": "POST", "parameters": {"type": "object", "properties": {"user": {"type": "object"}, "list": {"type": "array"}}}},
  {"name": "refuse", "description": "Refuses.", "path": "/refuse", "method": "POST", "parameters": {"type": "object", "properties": {"v": {"type": "string"}}}}]}`
	serverEcho = `{"schema_version": "1.0", "platform": "linux", "app": {"id": "org.example.server", "name": "Server", "description": "Echoes."},
  "execution": {"type": "mcp", "command": "/usr/bin/python3", "args": ["$HOME/echo.py"]}}`
	serverProgram = `import base64, json, sys, urllib.parse
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    r = {}
    if m["method"] == "initialize":
        r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "echo", "version": "1"}}
    elif m["method"] == "tools/list":
        r = {"tools": [{"name": "echo", "description": "Echoes", "inputSchema": {"type": "object", "properties": {"v": {"type": "string"}, "bad": {"type": "boolean"}}}}]}
    elif m["method"] == "tools/call":
        v = m["params"]["arguments"]["v"]
        open(sys.path[0] + "/../arrived", "a").write(v + "\n")
        print(v, file=sys.stderr, flush=True)
        forms = [v, json.dumps(v), urllib.parse.quote(v, safe=""), base64.b64encode(v.encode()).decode(), v.encode().hex()]
        r = {"content": [{"type": "text", "text": f} for f in forms], "structuredContent": {f: [f] for f in forms}, "isError": m["params"]["arguments"].get("bad", False)}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
`
)

// TestSecretsInCalls: thirty secrets go to apps that echo them in results and errors, in several encodings; none of them
// is in a reply, a file of the gateway or the arguments of a process.
func TestSecretsInCalls(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	testkit.ServeOnBus(t, s.Bus(), "org.example.App")
	home := t.TempDir()
	var mu sync.Mutex
	var arrived strings.Builder
	site := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		arrived.Write(body)
		mu.Unlock()
		if r.URL.Path == "/refuse" {
			out.WriteHeader(http.StatusBadRequest)
		}
		out.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(out, `{"said": %s, "again": %q}`, body, body)
	}))
	t.Cleanup(site.Close)
	for app, descriptor := range map[string]string{"org.example.App": busEcho, "org.example.site": siteEcho, "org.example.server": serverEcho} {
		writeFile(t, home, ".aai/"+app+"/aai.json", strings.NewReplacer("$SITE", site.URL, "$HOME", filepath.Join(home, "server")).Replace(descriptor))
	}
	writeFile(t, home, "server/echo.py", serverProgram)
	w := newSecretWorld(t, s, home, "org.example.App", "org.example.site", "org.example.server")
	calls := []struct {
		app, tool string
		args      func(secret string) map[string]any
	}{
		{"org.example.App", "echo", func(v string) map[string]any { return map[string]any{"v": v} }},
		{"org.example.App", "echo", func(v string) map[string]any { return map[string]any{"v": "Bearer " + v + ";"} }},
		{"org.example.App", "fail", func(v string) map[string]any { return map[string]any{"text": v} }},
		{"org.example.site", "echo", func(v string) map[string]any {
			return map[string]any{"user": map[string]any{"password": v}, "list": []any{"x", v}}
		}},
		{"org.example.site", "refuse", func(v string) map[string]any { return map[string]any{"v": v} }},
		{"org.example.server", "echo", func(v string) map[string]any { return map[string]any{"v": v} }},
		{"org.example.server", "echo", func(v string) map[string]any { return map[string]any{"v": v, "bad": true} }},
	}
	said, err := w.call("org.example.server", "mcp_start", map[string]any{})
	assert.Assert(t, err == nil, said)
	seen := watchProcesses()
	texts := []string{}
	for n := range 30 {
		c := calls[n%len(calls)]
		name, value := fmt.Sprintf("s%02d", n), fmt.Sprintf(`cAnArY%02dxy/+"ü&%d`, n, n)
		texts = append(texts, value[:10])
		w.set(name, value, c.app, nil)
		_, _ = w.call(c.app, c.tool, c.args("{{secret:"+name+"}}"))
	}
	for _, c := range []struct{ app, text string }{{"org.example.site", "{{secret:s00}}"}, {"org.example.App", "{{secret:none}}"}, {"org.example.App", "{{secret:s00"}} {
		said, err := w.call(c.app, map[string]string{"org.example.site": "refuse", "org.example.App": "echo"}[c.app], map[string]any{"v": c.text})
		assert.Check(t, err != nil, "%s %s %s", c.app, c.text, said)
	}
	said, err = w.call("org.example.App", "echo", map[string]any{"v": "{{{{secret:s00}} {{x}}"})
	assert.Assert(t, err == nil, "the characters themselves: %s", said)
	assert.Assert(t, is.Contains(said, "{{secret:s00}} {{x}}"))
	mu.Lock()
	got := arrived.String()
	mu.Unlock()
	server, _ := os.ReadFile(filepath.Join(w.home, "arrived"))
	assert.Assert(t, is.Contains(got, "cAnArY03xy"), "%q", server)
	assert.Assert(t, is.Contains(string(server), "cAnArY05xy"), "%q", server)
	assert.Assert(t, is.Contains(strings.Join(w.said, "\n"), "Bearer [secret];"), "%q", server)
	assert.Check(t, os.Remove(filepath.Join(w.home, "arrived")))
	for _, line := range seen() {
		assert.Check(t, !strings.Contains(line, "cAnArY"), "arguments of a process")
	}
	w.expectUnseen(t, texts...)
}

// watchProcesses collects the command lines of all processes until the returned function is called.
func watchProcesses() (stop func() []string) {
	done, lines := make(chan struct{}), make(chan []string)
	go func() {
		seen := make(map[string]bool)
		for {
			files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, file := range files {
				b, _ := os.ReadFile(file)
				seen[strings.ReplaceAll(string(b), "\x00", " ")] = true
			}
			select {
			case <-done:
				lines <- slices.Collect(maps.Keys(seen))
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() []string { close(done); return <-lines }
}

const codePage = `<title>Code</title><form method=post action="/done"><label>Code <input name=code autocomplete=one-time-code></label><button>Verify</button></form>`

// TestLoginWorkflow: a kept workflow logs in to a real page with a password and a one-time code, and the person is asked
// once.
func TestLoginWorkflow(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	home := t.TempDir()
	site := newLoginSite(t, map[string]string{"/": strings.Replace(loginPage, "<form method=post>", "<form action='/code'>", 1), "/code": codePage})
	writeFile(t, home, ".aai/workflows/login.json", `{"name": "Log in to the site", "description": "Logs in to the site in the open browser.",
	  "params": {"type": "object", "properties": {"user": {"type": "string"}}, "required": ["user"], "additionalProperties": false},
	  "steps": [
	    {"app": "desktop", "tool": "ax_fill", "args": {"app": "chromium", "submit": "Log in", "fields": [
	      {"query": "User", "value": "{{params.user}}"}, {"query": "Password", "value": "{{secret:site-password}}"}]}},
	    {"app": "desktop", "tool": "ax_wait", "args": {"app": "chromium", "query": "Verify"}},
	    {"app": "desktop", "tool": "ax_type", "args": {"app": "chromium", "query": "Code", "text": "{{secret:site-code}}", "submit": true}}]}`)
	w := newSecretWorld(t, s, home)
	w.set("site-password", "cAnArY01xy-password", site.URL, nil)
	w.set("site-code", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", site.URL, map[string]any{"totp": true})
	s.Browser(t, site.URL)
	awaitWindow(t, s, "Login - Chromium")
	said, err := w.call("workflows", "login", map[string]any{"user": "ann"})
	assert.Assert(t, err == nil, said)
	until(t, "the login", func() bool { return site.forms() != "" })
	got := site.forms()
	assert.Assert(t, strings.HasPrefix(got, "code="), "the site got %s", got)
	assert.Assert(t, len(got) == len("code=123456"), "the site got %s", got)
	w.mu.Lock()
	asked := 0
	for _, q := range w.asked {
		if q.ID == "secret" {
			asked++
		}
	}
	w.mu.Unlock()
	q := w.questions()
	assert.Equal(t, asked, 1)
	assert.Assert(t, is.Contains(q, `"site-password"`))
	assert.Assert(t, is.Contains(q, `"site-code"`))
	w.expectUnseen(t, "cAnArY01xy", "GEZDGNBVGY3T", strings.TrimPrefix(site.forms(), "code="))
}

// TestPasswordManagers: a reference is read from the real pass and from the real Secret Service at the moment of use.
func TestPasswordManagers(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	testkit.ServeOnBus(t, s.Bus(), "org.example.App")
	home := t.TempDir()
	writeFile(t, home, ".aai/org.example.App/aai.json", busEcho)
	w := newSecretWorld(t, s, home, "org.example.App")
	run := func(in, name string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Env, cmd.Stdin = append(s.Env, "HOME="+w.home, "GNUPGHOME="+filepath.Join(w.home, "gnupg")), strings.NewReader(in)
		out, err := cmd.CombinedOutput()
		assert.NilError(t, err, "%s %v %s", name, args, out)
	}
	w.write("gnupg/gpg.conf", "")
	run("", "gpg", "--batch", "--passphrase", "", "--quick-generate-key", "tester@example.org", "default", "default", "never")
	t.Cleanup(func() {
		_ = exec.Command("gpgconf", "--homedir", filepath.Join(w.home, "gnupg"), "--kill", "all").Run()
	})
	run("", "pass", "init", "tester@example.org")
	run("cAnArY01xy-in-pass\nuser: ann\n", "pass", "insert", "-m", "site/key")
	run("password", "gnome-keyring-daemon", "--unlock", "--components=secrets", "--daemonize")
	run("cAnArY02xy-in-keyring", "secret-tool", "store", "--label", "test", "service", "example", "user", "ann")
	w.write("bin/op", "#!/bin/sh\n[ \"$1 $2 $3\" = \"read --no-newline op://vault/item/field\" ] && printf cAnArY03xy-stand-in\n")
	w.write("bin/bw", "#!/bin/sh\n[ \"$*\" = \"--nointeraction get password -- example\" ] && printf cAnArY04xy-stand-in\n")
	for _, name := range []string{"op", "bw"} {
		assert.NilError(t, os.Chmod(filepath.Join(w.home, "bin", name), 0o700))
	}
	t.Setenv("PATH", filepath.Join(w.home, "bin")+":"+os.Getenv("PATH"))
	t.Setenv("HOME", w.home)
	t.Setenv("GNUPGHOME", filepath.Join(w.home, "gnupg"))
	for n, ref := range []string{"pass:site/key", "secret-service:service=example,user=ann", "op://vault/item/field", "bw:example"} {
		name := fmt.Sprintf("ref%d", n)
		w.set(name, "", "org.example.App", map[string]any{"ref": ref})
		said, err := w.call("org.example.App", "echo", map[string]any{"v": "<{{secret:" + name + "}}>"})
		assert.Assert(t, err == nil, ref)
		assert.Assert(t, is.Contains(said, "<[secret]>"), ref)
	}
	w.set("none", "", "org.example.App", map[string]any{"ref": "pass:site/none"})
	if said, err := w.call("org.example.App", "echo", map[string]any{"v": "{{secret:none}}"}); err == nil || !strings.Contains(said, "pass gave no value") {
		t.Errorf("a missing entry: %s", said)
	}
	list, _ := json.Marshal(w.said)
	assert.Check(t, !strings.Contains(string(list), "cAnArY"), "the agent sees %s", list)
	sealed, err := os.ReadFile(filepath.Join(w.home, ".local/share/aai-gateway/secrets.sealed"))
	assert.NilError(t, err)
	assert.Assert(t, !strings.Contains(string(sealed), "cAnArY"), "the sealed list: %v", err)
}
