package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
)

// A complete session of an agent: the responses, the calls to the app, and the journal.
func mcpSession(t *testing.T, b programPath) {
	bus := testkit.StartBus(t)
	app := testkit.ServeOnBus(t, bus, exampleApp)
	h := b.home(t, bus)
	p := h.start(t).open()

	got := p.toolNames()
	assert.Check(t, slices.Equal(got, []string{"aai_exec", "app_desktop", "app_org_example_App", "web_discover"}), "the tools are %q", got)
	guide := p.toolResult(p.ask("tools/call", `{"name":"app_org_example_App"}`))
	assert.Assert(t, !guide.IsError, "the guide is %+v", guide)
	assert.Assert(t, is.Contains(guide.Content[0].Text, "echo"), "%+v", guide)
	if r := p.call("echo", `{"v":"päivää"}`); r.IsError || r.StructuredContent.Result != "päivää" {
		t.Errorf("echo gave %+v", r)
	}
	if r := p.toolResult(p.ask("tools/call", `{"name":"org.example.App:echo","arguments":{"v":"2"}}`)); r.StructuredContent.Result != "2" {
		t.Errorf("echo by its own name gave %+v", r)
	}
	n := app.Calls("EchoString")
	assert.Check(t, is.Equal(n, 2), "%d calls of echo have reached the app", n)
	if r := p.call("echo", `{"v":7}`); r.StructuredContent.Type != "INVALID_PARAMS" {
		t.Errorf("a number for a text gave %+v", r)
	}
	r := p.call("nothing", `{}`)
	assert.Check(t, is.Equal(r.StructuredContent.Type, "CONSENT_REQUIRED"), "%+v", r)
	assert.Check(t, is.Contains(r.StructuredContent.Suggestion, "aai-gateway consent grant"), "%+v", r)
	assert.Check(t, is.Equal(app.Calls("Nothing"), 0))
	assert.Check(t, is.Equal(app.Calls("EchoString"), 2))
	var read struct{ Contents []struct{ Text string } }
	m := p.ask("resources/read", `{"uri":"app:org.example.App"}`)
	err := json.Unmarshal(m.Result, &read)
	assert.NilError(t, err, m.Result)
	assert.Assert(t, is.Len(read.Contents, 1), m.Result)
	assert.Assert(t, describesExample(read.Contents[0].Text), "the descriptor is %s", m.Result)
	rest := p.hangUp()
	assert.Check(t, is.Len(rest, 0), "at the end came %q", rest)
	h.expectJournal(t,
		"aai guide ok", "org.example.App echo ok", "org.example.App echo ok", "org.example.App echo INVALID_PARAMS",
		"org.example.App nothing CONSENT_REQUIRED", "aai descriptor ok")
	for _, call := range h.journal(t) {
		assert.Check(t, is.Equal(call.caller, "tester"))
		assert.Check(t, call.tool != "echo" || call.result != "ok" || call.consent == "preapproved (native)", "echo was allowed by %q", call.consent)
	}
}

func (p *process) toolNames() []string {
	p.t.Helper()
	var list struct{ Tools []struct{ Name string } }
	assert.NilError(p.t, json.Unmarshal(p.ask("tools/list", `{}`).Result, &list))
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// A consent granted at a terminal meanwhile applies at once.
func mcpConsentGivenAtATerminal(t *testing.T, b programPath) {
	bus := testkit.StartBus(t)
	app := testkit.ServeOnBus(t, bus, exampleApp)
	h := b.home(t, bus)
	p := h.start(t).open()
	r := p.call("nothing", `{}`)
	assert.Equal(t, r.StructuredContent.Type, "CONSENT_REQUIRED", "what nobody allowed gave %+v", r)
	self, err := os.Executable()
	assert.NilError(t, err)
	grant := exec.Command(string(b), "consent", "grant", exampleApp, "nothing", "--caller", "mcp:tester", "--identity", self, "--yes")
	grant.Env = append(h.env, "PERSON=yes")
	out, err := grant.CombinedOutput()
	assert.NilError(t, err, out)
	r = p.call("nothing", `{}`)
	assert.Check(t, !r.IsError, "what was allowed gave %+v", r)
	n := app.Calls("Nothing")
	assert.Check(t, is.Equal(n, 1), "%d calls have reached the app", n)
	p.hangUp()
}

// The SDK's own client, in both protocol versions.
func mcpWithTheSDKsClient(t *testing.T, b programPath) {
	bus := testkit.StartBus(t)
	testkit.ServeOnBus(t, bus, exampleApp)
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			h := b.home(t, bus)
			cmd := exec.Command(string(b))
			cmd.Env, cmd.Stderr = h.env, t.Output()
			client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "0"}, nil)
			session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			assert.NilError(t, err)
			list, err := session.ListTools(t.Context(), nil)
			assert.NilError(t, err, "%+v", list)
			assert.Assert(t, is.Len(list.Tools, 4), "%+v", list)
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{
				Name: "aai_exec", Arguments: map[string]any{"app": exampleApp, "tool": "echo", "args": map[string]any{"v": "x"}},
			})
			assert.NilError(t, err, "%+v", result)
			assert.Assert(t, !result.IsError, "echo gave %+v, %v", result, err)
			err = session.Close()
			assert.Check(t, err, "the program ended with %v", err)
			h.expectJournal(t, "org.example.App echo ok")
		})
	}
}

// Clients start gateways that they discard at once. Those leave nothing behind.
func mcpThrownAwayLeavesNothing(t *testing.T, b programPath) {
	h := b.home(t, nil)
	before := h.everything(t)
	for i := range 5 {
		p := h.start(t)
		switch i {
		case 1, 2:
			p.open()
		case 3:
			p.open().toolNames()
		case 4:
			p.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
				`"io.modelcontextprotocol/clientCapabilities":{}}}}`)
			p.receive()
		}
		rest := p.hangUp()
		assert.Check(t, is.Len(rest, 0), "at the end came %q", rest)
		if p.err.Len() > 0 {
			t.Errorf("a client would show its person: %s", p.err.String())
		}
	}
	after := h.everything(t)
	assert.Check(t, slices.Equal(before, after), "the home folder had %q and has %q", before, after)
}

// Adding or removing a descriptor while an agent is connected changes the lists.
func mcpDescriptorsComeAndGo(t *testing.T, b programPath) {
	bus := testkit.StartBus(t)
	app := testkit.ServeOnBus(t, bus, exampleApp)
	h := b.home(t, bus)
	p := h.start(t).open()
	p.toolNames()

	later := strings.Replace(exampleDescriptor, `"appId": "org.example.App"`, `"appId": "org.example.Later"`, 1)
	h.write(t, ".aai/org.example.Later/aai.json", later)
	p.awaitNews()
	got := p.toolNames()
	assert.Check(t, slices.Equal(got, []string{"aai_exec", "app_desktop", "app_org_example_App", "app_org_example_Later", "web_discover"}), "the tools are %q", got)
	r := p.toolResult(p.ask("tools/call", runTool("org.example.Later", "echo", `{"v":"x"}`)))
	assert.Assert(t, !r.IsError, "the new app's tool gave %+v", r)
	assert.Equal(t, app.Calls("EchoString"), 1, "%+v", r)

	assert.NilError(t, os.RemoveAll(filepath.Join(h.folder, ".aai/org.example.Later")))
	p.awaitNews()
	got = p.toolNames()
	assert.Check(t, slices.Equal(got, []string{"aai_exec", "app_desktop", "app_org_example_App", "web_discover"}), "the tools are %q", got)
	p.hangUp()
}

// awaitNews waits for the change notifications of both lists.
func (p *process) awaitNews() {
	p.t.Helper()
	heard := map[string]bool{}
	for len(heard) < 2 {
		heard[p.receive().Method] = true
	}
	assert.Assert(p.t, heard["notifications/tools/list_changed"], "heard %v", heard)
	assert.Assert(p.t, heard["notifications/resources/list_changed"], "heard %v", heard)
}

// Without the bus, or without the app on it, a call reports that, and the guide works.
func mcpWithoutTheApp(t *testing.T, b programPath) {
	gone := testkit.StartBus(t)
	gone.Stop()
	for name, c := range map[string]struct {
		bus  *testkit.Bus
		code string
	}{
		"no bus":              {nil, "APP_NOT_RUNNING"},
		"a bus that has gone": {gone, "APP_NOT_RUNNING"},
		"not to be started":   {testkit.StartBus(t), "APP_NOT_RUNNING"},
	} {
		t.Run(name, func(t *testing.T) {
			h := b.home(t, c.bus)
			p := h.start(t).open()
			r := p.call("echo", `{"v":"x"}`)
			assert.Check(t, is.Equal(r.StructuredContent.Type, c.code), "%+v", r)
			assert.Check(t, is.Equal(r.StructuredContent.Delivery, "not_delivered"), "%+v", r)
			assert.Check(t, r.StructuredContent.Suggestion != "", "echo gave %+v", r)
			guide := p.toolResult(p.ask("tools/call", `{"name":"app:org.example.App"}`))
			assert.Check(t, !guide.IsError, "the guide is %+v", guide)
			p.hangUp()
			h.expectJournal(t, "org.example.App echo "+c.code, "aai guide ok")
		})
	}
}

// The bus starts an app, also after it has died during a call.
func mcpWithAnAppThatDies(t *testing.T, b programPath) {
	bus := testkit.StartBus(t)
	self, err := os.Executable()
	assert.NilError(t, err)
	bus.AddService(t, exampleApp, "/usr/bin/env", testkit.ServiceEnv+"="+exampleApp, self)
	h := b.home(t, bus)
	p := h.start(t).open()
	if r := p.call("echo", `{"v":"x"}`); r.IsError {
		t.Errorf("echo gave %+v; the bus says %s", r, bus.Log())
	}
	r := p.call("die", `{}`)
	assert.Assert(t, r.IsError, "die gave %+v", r)
	assert.Equal(t, r.StructuredContent.Delivery, "unknown", "%+v", r)
	if r := p.call("echo", `{"v":"again"}`); r.IsError {
		t.Errorf("echo gave %+v; the bus says %s", r, bus.Log())
	}
	p.hangUp()
}

// SIGTERM ends the program at once, and the journal has the interrupted calls.
func mcpTermination(t *testing.T, b programPath) {
	for _, busy := range []bool{false, true} {
		bus := testkit.StartBus(t)
		app := testkit.ServeOnBus(t, bus, exampleApp)
		h := b.home(t, bus)
		p := h.start(t).open()
		if busy {
			p.request("tools/call", runTool(exampleApp, "block", `{}`))
			app.WaitBlocked(1)
		}
		assert.NilError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		_, err := p.end()
		status := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
		if err != nil && !status.Exited() {
			t.Errorf("the program ended by itself with %v: %s", err, p.err.String())
		}
		assert.Check(t, !strings.Contains(p.err.String(), "goroutine"), "the program broke: %s", p.err.String())
		if !busy {
			continue
		}
		calls := h.journal(t)
		assert.Assert(t, is.Len(calls, 1))
		assert.Assert(t, calls[0].result != "", "the journal has %+v", calls)
		assert.Assert(t, calls[0].result != "ok", "the journal has %+v", calls)
		assert.Equal(t, calls[0].delivery, "unknown")
	}
}

// A client that closes its input during a call still gets the result.
func mcpEndOfInputDuringACall(t *testing.T, b programPath) {
	bus := testkit.StartBus(t)
	app := testkit.ServeOnBus(t, bus, exampleApp)
	h := b.home(t, bus)
	p := h.start(t).open()
	p.request("tools/call", runTool(exampleApp, "block", `{}`))
	app.WaitBlocked(1)
	_ = p.in.Close()
	app.Release()
	rest := p.hangUp()
	assert.Assert(t, is.Len(rest, 1))
	assert.Assert(t, !strings.Contains(rest[0], "isError"), "at the end came %q", rest)
	h.expectJournal(t, "org.example.App block ok")
}

// A client that is gone, or has a full disk, ends the program, though its input stays open.
func mcpOutputThatNobodyReads(t *testing.T, b programPath) {
	for _, line := range []string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`, "nonsense"} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		assert.NilError(t, err)
		cmd := exec.CommandContext(t.Context(), string(b))
		cmd.Env, cmd.Stdout = b.home(t, nil).env, full
		in, err := cmd.StdinPipe()
		assert.NilError(t, err)
		assert.NilError(t, cmd.Start())
		_ = full.Close()
		_, err = in.Write([]byte(line + "\n"))
		assert.NilError(t, err)
		ended := make(chan error, 1)
		go func() { _, err := cmd.Process.Wait(); ended <- err }()
		select {
		case err := <-ended:
			assert.Check(t, err)
		case <-time.After(patience):
			t.Errorf("after %s the program does not end", line)
			_ = cmd.Process.Kill()
			<-ended
		}
		_ = in.Close()
	}
}
