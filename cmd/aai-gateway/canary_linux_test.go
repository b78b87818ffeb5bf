package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// The secrets, by their entry. Those in HTTP headers have no "ü".
const (
	byFormat     canary = `cAnArY01xy/+"ü` // format: password
	byWriteOnly  canary = `cAnArY02xy/+"ü`
	asPassword   canary = `cAnArY03xy/+"ü` // by the names of the parameters
	asAPIKey     canary = `cAnArY04xy/+"ü`
	asToken      canary = `cAnArY05xy/+"ü`
	asOTP        canary = `cAnArY06xy/+"ü`
	asCVV        canary = `cAnArY07xy/+"ü`
	inObject     canary = `cAnArY08xy/+"ü`
	inList       canary = `cAnArY09xy/+"ü`
	failing      canary = `cAnArY10xy/+"ü` // in an app's error text
	failingLines canary = "cAnArY11xy/+\"ü\n\t  of  two\u200b lines\x1b[31m"
	refused      canary = `cAnArY12xy/+"ü` // in refused calls
	wrongType    canary = `cAnArY13xy/+"ü`
	unknownTool  canary = `cAnArY14xy/+"ü`
	unknownApp   canary = `cAnArY15xy/+"ü`
	inTask       canary = `cAnArY16xy/+"ü`
	typedKey     canary = `cAnArY17xy/+"z` // typed at a terminal
	access       canary = `cAnArY18xy/+=`  // of an OAuth login
	renewal      canary = `cAnArY19xy/+"z`
	loginCode    canary = `cAnArY20xy/+"z`
	doorToken    canary = `cAnArY21xy/+"z` // of agents over HTTP

	asDSN        canary = `cAnArY23xy/+"ü`
	asAuth       canary = `cAnArY24xy/+"ü`
	asConnection canary = `cAnArY25xy/+"ü`
	asSession    canary = `cAnArY26xy/+"ü`
	asPAT        canary = `cAnArY27xy/+"ü`
	inURL        canary = `cAnArY28xyz` // as user:password@
	asPair       canary = `cAnArY29xy/+"ü`
	inScript     canary = `cAnArY30xyz`    // a literal of a script
	serverKey    canary = `cAnArY31xy/+"z` // a variable of a local MCP server
	farKey       canary = `cAnArY32xy/+"z` // the token for an MCP server at an address
	imported     canary = `cAnArY33xyz`    // a header argument of an imported server
	damaged      canary = `cAnArY34xyz`    // in a damaged descriptor
)

// failingLong exceeds the limit of messages.
func failingLong() canary { return canary(`cAnArY22xy/+"ü` + strings.Repeat("x", 5000)) }

func canaries() []canary {
	return []canary{
		byFormat, byWriteOnly, asPassword, asAPIKey, asToken, asOTP, asCVV, inObject, inList, failing, failingLines, failingLong(),
		refused, wrongType, unknownTool, unknownApp, inTask, typedKey, access, renewal, loginCode, doorToken,
		asDSN, asAuth, asConnection, asSession, asPAT, inURL, asPair, inScript, serverKey, farKey, imported, damaged,
	}
}

const (
	vaultApp    = "org.example.vault" // a site with a key, and secrets as arguments
	shopApp     = "org.example.shop"  // a site with logins
	vaultParams = `{"type": "object", "properties": {
  "alpha": {"type": "string", "format": "password"}, "beta": {"type": "string", "writeOnly": true}, "note": {"type": "string"},
  "password": {"type": "string"}, "api_key": {"type": "string"}, "token": {"type": "string"}, "otp": {"type": "string"}, "cvv": {"type": "string"},
  "dsn": {"type": "string"}, "auth": {"type": "string"}, "connection_string": {"type": "string"}, "sessionid": {"type": "string"}, "pat": {"type": "string"},
  "address": {"type": "string"}, "pairs": {"type": "array", "items": {"type": "object"}},
  "headers": {"type": "object"}, "accounts": {"type": "array", "items": {"type": "object"}}}}`
	vaultDescriptor = `{"schema_version": "1.0", "version": "1.0.0", "platform": "web",
  "app": {"id": "org.example.vault", "name": "Vault", "description": "Keeps things."}, "execution": {"type": "http", "base_url": "$SITE"},
  "auth": {"type": "apiKey", "api_key": {"location": "header", "name": "X-Key"}}, "tools": [
  {"name": "store", "description": "Stores.", "path": "/store", "method": "POST", "parameters": $PARAMS},
  {"name": "repeat", "description": "Repeats all.", "path": "/repeat", "method": "POST", "parameters": $PARAMS},
  {"name": "refuse", "description": "Refuses.", "path": "/refuse", "method": "POST", "parameters": $PARAMS}]}`
	shopDescriptor = `{"schema_version": "1.0", "version": "1.0.0", "platform": "web",
  "app": {"id": "org.example.shop", "name": "Shop", "description": "A shop."}, "execution": {"type": "http", "base_url": "$SITE"},
  "auth": {"type": "oauth2", "oauth2": {"authorization_endpoint": "$SITE/authorize", "token_endpoint": "$SITE/token", "scopes": ["orders"], "pkce": {"method": "S256"}}}, "tools": [
  {"name": "orders", "description": "Lists orders.", "path": "/orders", "method": "GET"},
  {"name": "broken", "description": "Fails.", "path": "/broken", "method": "GET"}]}`
	failDescriptor = `{"schema_version": "1.0", "appId": "org.example.App", "name": "Example", "description": "An app on the bus.", "version": "1.0",
  "platforms": {"linux": {"automation": "dbus", "service": "org.example.App", "object": "/org/example/Test", "interface": "org.example.Test", "tools": [
  {"name": "fail", "description": "Fails.", "method": "Fail", "parameters": {"type": "object", "properties": {
    "name": {"type": "string", "default": "org.example.Error.Bad"}, "text": {"type": "string", "format": "password"}}}},
  {"name": "guarded", "description": "Nobody allows it.", "method": "EchoString", "parameters": {"type": "object", "properties": {"v": {"type": "string", "writeOnly": true}}}}
  ]}}}`
	canaryConfig = `{"dev": true, "logLevel": "debug", "logFile": "~/gateway.log", "login": {"env": ["FAR_KEY"]}, "journal": {"keepFull": %v}, "consent": {"dialog": "off", "preapproved": %s}}`
)

// mcpCanaries enters secrets in every possible way, and searches all files and outputs for them.
//
// The result of a successful call belongs to the app, so the result of "repeat", which echoes
// everything, is not searched; its journal entries are.
func mcpCanaries(t *testing.T, b programPath) {
	for _, keepFull := range []bool{false, true} {
		t.Run(fmt.Sprintf("keepFull=%v", keepFull), func(t *testing.T) {
			w := newCanaryWorld(t, b, keepFull)
			arguments := watchProcesses()
			w.logIn()
			for _, app := range []string{echoApp, farApp} {
				w.checkOutcome("the command line", canaryCall{app: app, tool: "mcp_start"}, w.run("", "exec", app, "mcp_start"))
			}
			w.overStdio()
			w.overHTTP()
			w.byCommands()
			w.importServers()
			w.expectArrived()
			for _, line := range arguments() {
				if !strings.Contains(line, " --arg ") { // the test gave those itself
					w.trail.add("the arguments of a process", line)
				}
			}
			w.trail.expectNoCanary(t, w.home.folder, canaries())
		})
	}
}

// canaryWorld is a home with apps that get canaries.
type canaryWorld struct {
	t     *testing.T
	home  home
	app   *testkit.BusService
	trail outputTrail

	mu  sync.Mutex
	got strings.Builder // requests to the sites

}

func newCanaryWorld(t *testing.T, b programPath, keepFull bool) *canaryWorld {
	bus := testkit.StartBus(t)
	w := &canaryWorld{t: t, home: b.home(t, bus), app: testkit.ServeOnBus(t, bus, exampleApp)}
	w.home.write(t, ".aai/config.json", fmt.Sprintf(canaryConfig, keepFull, grants("org.example.App fail", echoApp, farApp, shopApp, vaultApp)))
	w.home.env = append(w.home.env, "PERSON=yes") // a user who logs in
	w.home.write(t, ".aai/org.example.App/aai.json", failDescriptor)
	w.home.write(t, ".aai/org.example.vault/aai.json", strings.NewReplacer("$SITE", w.vault(), "$PARAMS", vaultParams).Replace(vaultDescriptor))
	w.home.write(t, ".aai/org.example.shop/aai.json", strings.ReplaceAll(shopDescriptor, "$SITE", w.shop()))
	w.home.write(t, ".aai/"+echoApp+"/aai.json", strings.ReplaceAll(echoDescriptor, "$HOME", w.home.folder))
	w.home.write(t, ".aai/"+farApp+"/aai.json", strings.ReplaceAll(farDescriptor, "$SITE", w.far()))
	w.home.write(t, "echo.py", echoProgram)
	w.home.write(t, "master", strings.Repeat("5a", 32))
	w.home.write(t, "tmp/here", "")
	w.home.write(t, "run/here", "")
	w.home.write(t, "bin/xdg-open", "#!/bin/sh\nexec open-page \"$@\"\n")
	assert.NilError(t, os.Chmod(filepath.Join(w.home.folder, "bin/xdg-open"), 0o700))
	w.home.env = append(w.home.env, "PATH="+filepath.Join(w.home.folder, "bin")+":"+os.Getenv("PATH"), "DISPLAY="+linuxtest.Start(t).Display,
		"TMPDIR="+filepath.Join(w.home.folder, "tmp"), "XDG_RUNTIME_DIR="+filepath.Join(w.home.folder, "run"),
		"SERVER_KEY="+string(serverKey), "FAR_KEY="+string(farKey), "AAI_MASTER_KEY_FILE="+filepath.Join(w.home.folder, "master"), "AAI_HTTP_TOKEN="+string(doorToken))
	return w
}

// canaryCall is a call with canaries, and its expected code.
type canaryCall struct {
	app, tool, code string
	args            map[string]any
	unsearched      bool // skip its result
}

func canaryCalls() []canaryCall {
	all := func(more string) map[string]any {
		return map[string]any{
			"alpha": byFormat, "beta": byWriteOnly, "password": asPassword, "api_key": asAPIKey, "token": asToken, "otp": asOTP, "cvv": asCVV,
			"dsn": asDSN, "auth": asAuth, "connection_string": asConnection, "sessionid": asSession, "pat": asPAT,
			"address": "https://user:" + inURL + "@host.example/x", "pairs": []any{map[string]any{"name": "password", "value": asPair}},
			"headers": map[string]any{"Authorization": "Bearer " + inObject}, "accounts": []any{map[string]any{"client_secret": inList}}, "note": more,
		}
	}
	return []canaryCall{
		{vaultApp, "store", "", all("plain"), false},
		{vaultApp, "repeat", "", all("plain"), true},
		{vaultApp, "refuse", "INVALID_PARAMS", all("json"), false},
		{vaultApp, "refuse", "API_REQUEST_FAILED", all("text"), false},
		{vaultApp, "store", "INVALID_PARAMS", map[string]any{"password": []any{wrongType}, "beta": map[string]any{"x": wrongType}}, false},
		{vaultApp, "store", "INVALID_PARAMS", map[string]any{"headers": map[string]any{"token": wrongType}, "note": 7}, false},
		{vaultApp, "stroe", "TOOL_NOT_FOUND", map[string]any{"password": unknownTool}, false},
		{"org.example.Nowhere", "store", "APP_NOT_FOUND", map[string]any{"password": unknownApp}, false},
		{shopApp, "orders", "", map[string]any{}, false},
		{shopApp, "broken", "API_REQUEST_FAILED", map[string]any{}, false},
		{exampleApp, "fail", "AUTOMATION_FAILED", map[string]any{"text": failing}, false},
		{exampleApp, "fail", "AUTOMATION_FAILED", map[string]any{"text": failingLines}, false},
		{exampleApp, "fail", "AUTOMATION_FAILED", map[string]any{"text": failingLong()}, false},
		{"aai", "script", "", map[string]any{"script": "call('" + vaultApp + "', 'store', {password: '" + string(inScript) + "', alpha: `" + string(inScript) + "`})"}, false},
		{echoApp, "repeat", "", map[string]any{}, false},
		{farApp, "repeat", "", map[string]any{}, false},
		{exampleApp, "guarded", "CONSENT_REQUIRED", map[string]any{"v": refused}, false},
	}
}

func asJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// overStdio makes the calls as calls and as tasks.
func (w *canaryWorld) overStdio() {
	p := w.home.start(w.t)
	w.exchange(p, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"0"}}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	w.exchange(p, "logging/setLevel", `{"level":"debug"}`)
	for _, f := range canaryCalls() {
		line := w.exchange(p, "tools/call", runTool(f.app, f.tool, asJSON(f.args)))
		w.checkOutcome("stdio", f, line)
	}
	begun := w.exchange(p, "tools/call", strings.TrimSuffix(runTool(exampleApp, "fail", asJSON(map[string]any{"text": inTask})), "}")+`,"task":{}}`)
	var created struct{ Result struct{ Task task } }
	err := json.Unmarshal([]byte(begun), &created)
	assert.NilError(w.t, err, begun)
	assert.Assert(w.t, created.Result.Task.TaskID != "", "the task began with %s", begun)
	about := asJSON(map[string]string{"taskId": created.Result.Task.TaskID})
	task := canaryCall{app: exampleApp, tool: "fail", code: "AUTOMATION_FAILED"}
	w.checkOutcome("a task", task, w.exchange(p, "tasks/result", about))
	w.trail.add("tasks/get", w.exchange(p, "tasks/get", about))
	for _, line := range p.hangUp() {
		w.trail.add("stdio at the end", line)
	}
	w.trail.add("standard error of stdio", p.err.String())
}

// exchange sends a request and returns its response. Other messages go to the trail.
func (w *canaryWorld) exchange(p *agentProcess, method, params string) string {
	id := p.request(method, params)
	for {
		select {
		case line, ok := <-p.lines:
			var m message
			if !ok || json.Unmarshal([]byte(line), &m) != nil {
				w.t.Fatalf("the program said %q: %s", line, p.err.String())
			}
			if string(m.ID) == id {
				return line
			}
			w.trail.add("stdio", line)
		case <-time.After(patience):
			w.t.Fatalf("nothing answers %s %s", method, params)
		}
	}
}

// checkOutcome records the outcome of a call, and checks its code.
func (w *canaryWorld) checkOutcome(door string, f canaryCall, text string) {
	w.t.Helper()
	if !f.unsearched {
		w.trail.add(door+", "+f.app+" "+f.tool, text)
	}
	assert.Check(w.t, f.code == "" || strings.Contains(text, f.code), "%s: %s of %s gave %s, want %s", door, f.tool, f.app, text, f.code)
	assert.Check(w.t, f.code != "" || !strings.Contains(text, `"isError":true`) && !strings.Contains(text, `"error":`) && !strings.HasPrefix(text, "error"), "%s: %s of %s gave %s, want %s", door, f.tool, f.app, text, f.code)
}

func (w *canaryWorld) overHTTP() {
	s := w.home.serveHTTP(w.t)
	assert.Check(w.t, is.Equal(s.token, string(doorToken)))
	session := s.connect(w.t, "2025-11-25")
	for _, f := range canaryCalls() {
		result, err := session.CallTool(w.t.Context(), &mcp.CallToolParams{Name: "aai_exec", Arguments: map[string]any{"app": f.app, "tool": f.tool, "args": f.args}})
		w.checkOutcome("HTTP", f, asJSON(result)+fmt.Sprint(err))
	}
	_ = session.Close()
	wrong := *s
	wrong.token += "x"
	response, err := wrong.RoundTrip(httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, s.url, strings.NewReader("{}")))
	if err != nil || response.StatusCode != http.StatusUnauthorized {
		w.t.Errorf("another token gave %+v, %v", response, err)
	} else {
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		w.trail.add("a refusal over HTTP", fmt.Sprint(response.Header, string(body)))
	}
	assert.NilError(w.t, s.cmd.Process.Signal(syscall.SIGTERM))
	<-s.ended
	w.trail.add("standard error of HTTP", s.said.String())
}

// run runs a command with the input, and returns both outputs.
func (w *canaryWorld) run(input string, args ...string) string {
	w.t.Helper()
	cmd := w.home.command(w.t.Context(), args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	_, exit := errors.AsType[*exec.ExitError](err)
	assert.Assert(w.t, err == nil || exit, err)
	return string(out)
}

// byCommands makes the calls at the command line, and displays everything that commands can.
func (w *canaryWorld) byCommands() {
	for _, f := range canaryCalls() {
		w.checkOutcome("the command line", f, w.run(asJSON(f.args), "exec", f.app, f.tool, "-", "--format", "json"))
		w.checkOutcome("the command line", f, w.run(asJSON(f.args), "--log-level", "debug", "exec", f.app, f.tool, "-"))
	}
	for _, args := range [][]string{
		{"exec", vaultApp, "store", "--arg", "password=" + string(asPassword), "--arg", "cvv=" + string(asCVV)},
		{"exec", vaultApp, "store", "--arg", "token=" + string(refused), "--arg", "note=[7]", "--arg", "headers=7"},
		{"history", "--format", "json"}, {"history"}, {"auth", "status"}, {"auth", "status", shopApp, "--format", "json"},
		{"doctor", "--bundle", filepath.Join(w.home.folder, "bundle.zip")}, {"doctor"}, {"keychain", "status"}, {"--scan"}, {"config", "--format", "json"}, {"audit", "verify"},
	} {
		w.trail.add(strings.Join(args[:1], " "), w.run("", args...))
	}
}

// logIn logs in to the shop in a browser, and enters the vault's key at a terminal.
func (w *canaryWorld) logIn() {
	out := w.run("", "auth", "login", shopApp)
	w.trail.add("auth login", out)
	assert.Assert(w.t, is.Contains(out, "Logged in"), "the login gave %s", out)
	person, program := terminal(w.t)
	cmd := w.home.command(w.t.Context(), "auth", "login", vaultApp)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	assert.NilError(w.t, cmd.Start())
	_ = program.Close()
	var seen strings.Builder
	typed, buffer := false, make([]byte, 4096)
	for {
		n, err := person.Read(buffer)
		seen.Write(buffer[:n])
		if !typed && strings.Contains(seen.String(), "(not shown): ") {
			typed = true
			awaitHidden(w.t, person)
			_, _ = io.WriteString(person, string(typedKey)+"\n")
		}
		if err != nil {
			break // the other end is closed
		}
	}
	w.trail.add("a terminal", seen.String())
	if err := cmd.Wait(); err != nil || !typed {
		w.t.Fatalf("the key was not taken: %v: %s", err, seen.String())
	}
}

// expectArrived checks that the apps got the secrets unchanged.
func (w *canaryWorld) expectArrived() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	local, _ := os.ReadFile(filepath.Join(w.home.folder, "got"))
	_ = os.Remove(filepath.Join(w.home.folder, "got"))
	w.got.Write(local)
	for _, c := range []canary{byFormat, byWriteOnly, asPassword, asAPIKey, asToken, asOTP, asCVV, inObject, inList, typedKey, access, loginCode,
		asDSN, asAuth, asConnection, asSession, asPAT, inURL, asPair, inScript, serverKey, farKey} {
		assert.Check(w.t, is.Contains(w.got.String(), c.core()), "%s has reached nobody", c.core())
	}
	for _, c := range []canary{refused, wrongType, unknownTool, unknownApp} {
		assert.Check(w.t, !strings.Contains(w.got.String(), c.core()), "%s of a refused call has reached a site", c.core())
	}
	n := w.app.Calls("Fail")
	assert.Check(w.t, is.Equal(n, 3*4+1))
	assert.Check(w.t, is.Equal(w.app.Calls("EchoString"), 0))
}
