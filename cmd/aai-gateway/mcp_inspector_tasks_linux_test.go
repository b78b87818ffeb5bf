package main_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
)

// inspectorDaemon is the Inspector's other command: a daemon that holds a connection, and commands
// to it.
type inspectorDaemon struct {
	home
	node, script string
	env          []string
}

// mcpInspectorTasks: the Inspector requests a task for a call, as in 2025-11-25.
func mcpInspectorTasks(t *testing.T, b programPath) {
	bus := testkit.StartBus(t)
	app := testkit.ServeOnBus(t, bus, exampleApp)
	m := b.newMcpdo(t, bus)
	m.connect(t, "legacy")
	var echo, again toolResult
	m.run(t, &echo, "tools/call", "--task", "--tool-name", "aai_exec", "--tool-args-json", `{"app":"org.example.App","tool":"echo","args":{"v":"later"}}`)
	var listed struct{ Tasks []task }
	m.run(t, &listed, "tasks/list")
	assert.Assert(t, is.Len(listed.Tasks, 1), "%+v", listed)
	assert.Equal(t, listed.Tasks[0].Status, "completed", "%+v", listed)
	m.run(t, &again, "tasks/result", listed.Tasks[0].TaskID)
	assert.Check(t, is.Equal(echo.StructuredContent.Result, "later"), "%+v %+v", echo, again)
	assert.Check(t, is.Equal(again.StructuredContent.Result, "later"), "%+v %+v", echo, again)
	assert.Check(t, is.Equal(app.Calls("EchoString"), 1), "%+v %+v", echo, again)
	m.expectJournal(t, exampleApp+" echo ok")
}

// mcpInspectorWaitsForATask: in the newer version the program makes a task of a long call, and the
// Inspector fetches its result.
func mcpInspectorWaitsForATask(t *testing.T, b programPath) {
	bus := testkit.StartBus(t)
	app := testkit.ServeOnBus(t, bus, exampleApp)
	node, modules := nodeIn(t, "inspector", "scripts/need-inspector")
	i := inspector{home: b.home(t, bus), node: node, script: filepath.Join(modules, ".bin", "mcp-inspector"), era: "modern"}
	s := i.serveHTTP(t)
	to, err := url.Parse(s.url)
	assert.NilError(t, err)
	var polls atomic.Int32
	between := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Host, r.Out.URL.Scheme, r.Out.Host = to.Host, to.Scheme, to.Host
		if r.In.Header.Get("Mcp-Method") == "tasks/get" && polls.Add(1) == 1 {
			app.Release()
		}
	}})
	defer between.Close()
	i.target = []string{between.URL + "/mcp", "--header", "Authorization: Bearer " + s.token}
	var result toolResult
	i.run(t, &result, 0, "--method", "tools/call", "--tool-name", "aai_exec", "--tool-arg", "app="+exampleApp, "--tool-arg", "tool=block")
	if result.IsError || polls.Load() == 0 {
		t.Errorf("the call gave %+v, and was asked for %d times", result, polls.Load())
	}
	i.expectJournal(t, exampleApp+" block ok")
}

// newMcpdo prepares a daemon for the test.
func (b programPath) newMcpdo(t *testing.T, bus *testkit.Bus) *inspectorDaemon {
	t.Helper()
	node, modules := nodeIn(t, "inspector", "scripts/need-inspector")
	folder, err := os.MkdirTemp("", "mcpdo") // a socket's path must be short
	assert.NilError(t, err)
	m := &inspectorDaemon{home: b.home(t, bus), node: node, script: filepath.Join(modules, ".bin", "mcpdo")}
	m.env = append(os.Environ(), "HOME="+t.TempDir(), "MCP_INSPECTOR_SECRET_STORE=memory",
		"MCP_INSPECTOR_DAEMON_DIR="+folder, "MCP_INSPECTOR_DAEMON_TOKEN=only for this test")
	t.Cleanup(func() {
		out, err := m.command("daemon", "stop").CombinedOutput()
		assert.Check(t, err, "the daemon does not end: %v: %s", err, out)
		_ = os.RemoveAll(folder)
	})
	return m
}

func (m *inspectorDaemon) command(args ...string) *exec.Cmd {
	cmd := exec.Command(m.node, append([]string{m.script, "--format", "json"}, args...)...)
	cmd.Env = m.env
	return cmd
}

// connect starts the program for the daemon.
func (m *inspectorDaemon) connect(t *testing.T, era string) {
	t.Helper()
	args := []string{"connect", "--era", era}
	for _, variable := range m.home.env {
		args = append(args, "-e", variable)
	}
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	assert.NilError(t, err)
	defer said.Close() //nolint:errcheck // it is only read after a failure
	cmd := m.command(append(args, "--", string(m.binary))...)
	cmd.Stdout, cmd.Stderr = said, said // a pipe would stay open as long as the daemon
	if err := cmd.Run(); err != nil {
		out, _ := os.ReadFile(said.Name())
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() {
		out, err := m.command("disconnect", "@"+string(m.binary)).CombinedOutput()
		assert.Check(t, err, out)
	})
}

// run sends a command to the daemon, and decodes its output.
func (m *inspectorDaemon) run(t *testing.T, into any, args ...string) {
	t.Helper()
	cmd := m.command(append([]string{"--connection", string(m.binary)}, args...)...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("%q: %v: %s%s", args, err, out.String(), log.String())
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		t.Fatalf("%q printed %s", args, out.String())
	}
}
