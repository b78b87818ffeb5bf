package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

func (p *agentProcess) toolNames() []string {
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
	h, app := b.withApp(t)
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
	h, app := b.withApp(t)
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
func (p *agentProcess) awaitNews() {
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
		h, app := b.withApp(t)
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

// A client that is gone has closed one end or both, as a killed one does. Its active calls end in
// the journal, and the program ends.
func mcpClientThatIsGone(t *testing.T, b programPath) {
	const calls = 8
	for name, leave := range map[string]func(p *agentProcess){
		"both ends":        func(p *agentProcess) { _ = p.in.Close(); _ = p.out.Close() },
		"output first":     func(p *agentProcess) { _ = p.out.Close(); _ = p.in.Close() },
		"the output alone": func(p *agentProcess) { _ = p.out.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			h, app := b.withApp(t)
			p := h.start(t).open()
			for range calls {
				p.request("tools/call", runTool(exampleApp, "block", `{}`))
			}
			app.WaitBlocked(calls)
			leave(p)
			_, err := p.end()
			assert.Check(t, err == nil || p.cmd.ProcessState.Exited(), "the program was ended: %v", err)
			_ = p.in.Close()
			past := h.journal(t)
			assert.Check(t, is.Len(past, calls), "%d calls are on record", len(past))
			for _, c := range past {
				assert.Check(t, is.Equal(c.result, "AUTOMATION_FAILED"), "%+v", c)
				assert.Check(t, is.Equal(c.delivery, "unknown"), "%+v", c)
			}
		})
	}
}

// A client that closes only its input still gets the results of its calls, and then the program
// ends; if it stops reading meanwhile, the program ends at once.
func mcpClientThatStopsReadingAfterItsInput(t *testing.T, b programPath) {
	h, app := b.withApp(t)
	p := h.start(t).open()
	p.request("tools/call", runTool(exampleApp, "block", `{}`))
	app.WaitBlocked(1)
	_ = p.in.Close()
	select {
	case err := <-p.ended:
		t.Fatalf("the program ended with a call under way: %v", err)
	case <-time.After(time.Second):
	}
	_ = p.out.Close()
	_, err := p.end()
	assert.Check(t, err == nil || p.cmd.ProcessState.Exited(), "the program was ended: %v", err)
	h.expectJournal(t, "org.example.App block AUTOMATION_FAILED")
}

// A log without a reader ends nothing.
func mcpLogThatNobodyReads(t *testing.T, b programPath) {
	h, _ := b.withApp(t)
	h.write(t, ".aai/broken/aai.json", "nonsense") // it causes a log message
	h.env = append(h.env, "AAI_LOG_LEVEL=debug")
	read, write, err := os.Pipe()
	assert.NilError(t, err)
	_ = read.Close()
	cmd := exec.CommandContext(t.Context(), string(b))
	cmd.Env, cmd.Stderr = h.env, write
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":` + runTool(exampleApp, "echo", `{"v":"x"}`) + `}`)
	var out bytes.Buffer
	cmd.Stdout = &out
	err = cmd.Run()
	assert.Check(t, err, "the program ended with %v", err)
	_ = write.Close()
	assert.Check(t, strings.Count(out.String(), "\n") >= 2, "it said %s", out.String())
	h.expectJournal(t, "org.example.App echo ok")
}

// mcpIdleMemory waits until a gateway that has listed its tools holds little of its program in memory.
// The start needs far more.
func mcpIdleMemory(t *testing.T, b programPath) {
	const most = 16 << 10 // kB; a busy machine reads some of it again
	p := b.home(t, nil).start(t).open()
	for path := fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid); ; time.Sleep(20 * time.Millisecond) {
		status, err := os.ReadFile(path)
		assert.NilError(t, err)
		_, rest, _ := strings.Cut(string(status), "RssFile:")
		var mapped int
		_, err = fmt.Sscanf(rest, "%d kB", &mapped)
		assert.NilError(t, err)
		if mapped < most {
			return // the test's timeout ends the wait
		}
	}
}

// With five hundred apps, an agent's list stays small; it finds a tool with one call, and runs it
// with the next. No app can describe another one's tools.
func mcpManyApps(t *testing.T, b programPath) {
	h, app := b.withApp(t)
	for i := range 499 {
		id := fmt.Sprintf("com.example.other%d", i)
		h.write(t, ".aai/"+id+"/aai.json", strings.NewReplacer("org.example.App", id, `"echo"`, `"other"`).Replace(exampleDescriptor))
	}
	p := h.start(t).open()
	raw := p.ask("tools/list", `{}`).Result
	got := p.toolNames()
	assert.Check(t, slices.Equal(got, []string{"aai_exec", "aai_search", "app_desktop", "web_discover"}), "the tools are %q", got)
	n := tokencount.Count(t, string(raw))
	assert.Check(t, n <= 1500, "the list costs %d tokens", n)
	found := p.toolResult(p.ask("tools/call", `{"name":"aai_search","arguments":{"words":"echo"}}`))
	text := found.Content[0].Text
	assert.Assert(t, !found.IsError, "the search says %s", text)
	assert.Assert(t, is.Contains(text, `aai_exec({"app": "org.example.App", "tool": "echo", "args": {"v": `))
	r := p.call("echo", `{"v":"two calls"}`)
	assert.Assert(t, !r.IsError, "echo gave %+v", r)
	assert.Equal(t, r.StructuredContent.Result, "two calls", "%+v", r)
	assert.Equal(t, app.Calls("EchoString"), 1, "%+v", r)
	for _, closed := range []string{`{"name":"aai_exec","arguments":{"app":"aai","tool":"stats"}}`, `{"name":"aai_exec","arguments":{"app":"aai","tool":"rate","args":{"app":"org.example.App","stars":5}}}`} {
		r := p.toolResult(p.ask("tools/call", closed))
		assert.Assert(t, r.IsError, "%s gave %+v", closed, r)
		assert.Equal(t, r.StructuredContent.Type, "PERMISSION_DENIED", "%s %+v", closed, r)
	}
	rest := p.hangUp()
	assert.Check(t, is.Len(rest, 0), "at the end came %q", rest)
}

// The program's tool list fits into a model's context: the parts shown to a model (name,
// description, input), and the entire entries.
func mcpListCosts(t *testing.T, b programPath) {
	bus := testkit.StartBus(t)
	for profile, most := range map[string]struct{ shown, whole int }{
		"apps": {300, 600}, "desktop": {4500, 7700}, "all": {4900, 8400},
	} {
		h := b.home(t, bus)
		h.env = append(h.env, "AAI_PROFILE="+profile)
		p := h.start(t).open()
		list := p.ask("tools/list", `{}`).Result
		var said struct {
			Tools []struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				InputSchema json.RawMessage `json:"inputSchema"`
			} `json:"tools"`
		}
		assert.NilError(t, json.Unmarshal(list, &said))
		seen, err := json.Marshal(said.Tools)
		assert.NilError(t, err)
		shown, whole := tokencount.Count(t, string(seen)), tokencount.Count(t, string(list))
		t.Logf("%s: %d tools, a model is shown %d tokens, whole %d", profile, len(said.Tools), shown, whole)
		assert.Check(t, shown <= most.shown, "%s: a model is shown %d tokens of %d, whole are %d of %d", profile, shown, most.shown, whole, most.whole)
		assert.Check(t, whole <= most.whole, "%s: a model is shown %d tokens of %d, whole are %d of %d", profile, shown, most.shown, whole, most.whole)
		p.hangUp()
	}
}
