package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// eventfulDescriptor is exampleDescriptor with events.
var eventfulDescriptor = strings.Replace(exampleDescriptor, `"tools": [`, `"events": [
    {"name": "added", "description": "A note was added.", "signal": "Added", "fields": ["id", "title"]}], "tools": [`, 1)

// xfconfDescriptor describes the events of a service that others wrote.
const xfconfDescriptor = `{"schema_version": "1.0", "platform": "linux", "app": {"id": "org.xfce.Xfconf", "name": "Xfconf", "description": "Settings of Xfce."},
  "execution": {"type": "dbus", "service": "org.xfce.Xfconf", "object": "/org/xfce/Xfconf", "interface": "org.xfce.Xfconf"}, "tools": [],
  "events": [{"name": "setting_changed", "description": "A setting was changed.", "execution": {"signal": "PropertyChanged", "fields": ["channel", "property", "value"]}}]}`

// eventView are the events that a reading returned.
type eventView struct {
	Events        []eventOfApp
	Last, Missing int
	Updates       string
}

// eventOfApp is one of them.
type eventOfApp struct {
	Number int
	Type   string
	Fields map[string]any
}

// readEvents reads the events of an app. Updates that arrive meanwhile are lost.
func (p *agentProcess) readEvents(app string) (view eventView) {
	p.t.Helper()
	var read struct{ Contents []struct{ Text string } }
	p.next++
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d","method":"resources/read","params":{"uri":"app:%s/events"}}`, p.next, app))
	var m message
	assert.NilError(p.t, json.Unmarshal([]byte(p.awaitAnswer(fmt.Sprint(p.next))), &m))
	err := json.Unmarshal(m.Result, &read)
	assert.NilError(p.t, err, m.Result)
	assert.Assert(p.t, is.Len(read.Contents, 1), m.Result)
	assert.NilError(p.t, json.Unmarshal([]byte(read.Contents[0].Text), &view), read.Contents[0].Text)
	return view
}

// awaitUpdate waits for an update of a resource.
func (p *agentProcess) awaitUpdate(uri string) {
	p.t.Helper()
	p.awaitLine("notifications/resources/updated", uri)
}

// awaitLine waits for a line with all the texts, and returns it.
func (p *agentProcess) awaitLine(texts ...string) string {
	p.t.Helper()
	for end := time.After(patience); ; {
		select {
		case line, open := <-p.lines:
			if !open {
				p.t.Fatalf("the program ended before %q: %s", texts, p.err.String())
			}
			if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
				return line
			}
		case <-end:
			p.t.Fatalf("no line has %q", texts)
		}
	}
}

// An agent is notified of the signals of an app that it may listen to.
func mcpEvents(t *testing.T, b programPath) {
	h, app := b.withApp(t)
	h.write(t, ".aai/org.example.App/aai.json", eventfulDescriptor)
	p := h.start(t).open()
	list := string(p.ask("resources/list", `{}`).Result)
	assert.Check(t, is.Contains(list, `"app:org.example.App/events"`), "the resources are %s", list)
	list = string(p.ask("resources/templates/list", `{}`).Result)
	assert.Check(t, is.Contains(list, `"app:{+id}/events"`), "the templates are %s", list)
	complete := `{"ref":{"type":"ref/resource","uri":"app:{+id}/events"},"argument":{"name":"id","value":"org"}}`
	found := string(p.ask("completion/complete", complete).Result)
	assert.Check(t, is.Contains(found, `["org.example.App"]`), "the completions are %s", found)
	for _, method := range []string{"resources/read", "resources/subscribe"} {
		p.request(method, `{"uri":"app:org.example.App/events"}`)
		m := p.receive()
		assert.Check(t, is.Contains(string(m.Error), "CONSENT_REQUIRED"), "%s without consent gave %s %s", method, m.Result, m.Error)
	}
	h.allow(t, exampleApp+" events")
	p.hangUp()

	p = h.start(t).open()
	p.ask("resources/subscribe", `{"uri":"app:org.example.App/events"}`)
	assert.NilError(t, app.Conn.Emit(testkit.ServicePath, testkit.ServiceInterface+".Added", int32(7), "Milk"))
	p.awaitUpdate("app:org.example.App/events")
	view := p.readEvents(exampleApp)
	assert.Assert(t, is.Len(view.Events, 1), "%+v", view)
	assert.Equal(t, view.Events[0].Type, "added", "%+v", view)
	f := view.Events[0].Fields
	assert.Check(t, is.Equal(f["id"], 7.0), "%+v", f)
	assert.Check(t, is.Equal(f["title"], "Milk"), "%+v", f)
	assert.Check(t, is.Equal(view.Updates, "events"), "the updates are %q", view.Updates)
	_ = app.Conn.Close()
	p.awaitUpdate("app:org.example.App/events")
	view = p.readEvents(exampleApp)
	assert.Check(t, is.Equal(view.Events[len(view.Events)-1].Type, "program_ended"), "after its end the events are %+v", view)
	p.ask("resources/unsubscribe", `{"uri":"app:org.example.App/events"}`)
	p.hangUp()
}

// The settings of Xfce report their changes; the bus starts their service.
func mcpEventsOfAnothersService(t *testing.T, b programPath) {
	_, err := exec.LookPath("xfconf-query")
	assert.NilError(t, err, "install xfconf (make test does)")
	h := b.home(t, nil)
	bus := testkit.StartDesktopBus(t, []string{"HOME=" + h.folder, "PATH=/usr/bin:/bin"})
	h.env = append(h.env, "DBUS_SESSION_BUS_ADDRESS="+bus.Address)
	h.write(t, ".aai/org.xfce.Xfconf/aai.json", xfconfDescriptor)
	h.allow(t, "org.xfce.Xfconf events")
	p := h.start(t).open()
	p.ask("resources/subscribe", `{"uri":"app:org.xfce.Xfconf/events"}`)
	query := exec.Command("xfconf-query", "-c", "aai", "-p", "/color", "-n", "-t", "string", "-s", "green")
	query.Env = []string{"HOME=" + h.folder, "DBUS_SESSION_BUS_ADDRESS=" + bus.Address}
	out, err := query.CombinedOutput()
	assert.NilError(t, err, out)
	p.awaitUpdate("app:org.xfce.Xfconf/events")
	changed := func(e eventOfApp) bool {
		return e.Type == "setting_changed" && e.Fields["channel"] == "aai" && e.Fields["property"] == "/color" && e.Fields["value"] == "green"
	}
	for until := time.Now().Add(patience); !slices.ContainsFunc(p.readEvents("org.xfce.Xfconf").Events, changed); {
		if time.Now().After(until) {
			t.Fatalf("the events are %+v", p.readEvents("org.xfce.Xfconf"))
		}
	}
	p.hangUp()
}

// The notifications of an MCP server are events of its app, and a subscription to one of its resources passes through.
func mcpEventsOfAServer(t *testing.T, b programPath) {
	const app, uri = "org.example.Everything", "demo://resource/dynamic/text/1"
	h := b.home(t, nil)
	command := startOf(t, "mcp-server-everything")
	descriptor, err := json.Marshal(map[string]any{
		"schema_version": "1.0", "platform": "linux", "app": map[string]any{"id": app, "name": "Everything", "description": "A server."},
		"execution": map[string]any{"type": "mcp", "command": command[0], "args": command[1:]},
	})
	assert.NilError(t, err)
	h.write(t, ".aai/"+app+"/aai.json", string(descriptor))
	events, resource := fmt.Sprintf(`{"uri":"app:%s/events"}`, app), fmt.Sprintf(`{"uri":"app:%s/resource/%s"}`, app, url.QueryEscape(uri))

	p := h.start(t).open()
	for _, params := range []string{events, resource} {
		p.request("resources/subscribe", params)
		assert.Check(t, p.receive().Error != nil, "without consent %s was subscribed", params)
	}
	p.hangUp()
	running, err := exec.Command("pgrep", "-f", command[1]+".*"+h.folder).Output()
	assert.Check(t, err != nil, "without consent the server was started: %s", running)

	h.allow(t, app)
	p = h.start(t).open()
	p.exec(app, "mcp_start", "{}")
	for len(p.lines) > 0 {
		<-p.lines // the lists have changed
	}
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"events","method":"resources/subscribe","params":%s}`, events))
	p.awaitAnswer("events")
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"resource","method":"resources/subscribe","params":%s}`, resource))
	p.awaitAnswer("resource")
	for tool, update := range map[string]string{"toggle-subscriber-updates": url.QueryEscape(uri), "toggle-simulated-logging": "/events"} {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":%s}`, tool, runTool(app, tool, "{}")))
		p.awaitUpdate(update)
	}
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"read","method":"resources/read","params":%s}`, events))
	read := p.awaitAnswer("read")
	for _, part := range []string{`\"type\":\"resource_updated\",\"fields\":{\"uri\":\"` + uri + `\"}`, `\"type\":\"log\",\"fields\":{\"data\":`} {
		assert.Check(t, is.Contains(read, part))
	}
	p.hangUp()
}

// awaitAnswer waits for the answer to the request with the id, which must succeed.
func (p *agentProcess) awaitAnswer(id string) string {
	p.t.Helper()
	line := p.awaitLine(fmt.Sprintf(`"id":%q`, id))
	assert.Assert(p.t, !strings.Contains(line, `"error":`), line)
	return line
}

func mcpEventsInHardCases(t *testing.T, b programPath) {
	t.Run("lost", func(t *testing.T) { mcpEventsLost(t, b) })
	t.Run("flood", func(t *testing.T) { mcpEventsFlood(t, b) })
}

// mcpEventsLost: a follower learns that the accessibility bus was restarted, and that its program was killed.
func mcpEventsLost(t *testing.T, b programPath) {
	desk := linuxtest.StartAccessible(t)
	program := desk.Changer(t)
	h := b.home(t, nil)
	h.env = append(slices.Clone(desk.Env), "HOME="+h.folder)
	h.allow(t, "desktop/changes", "desktop")
	p := h.start(t).open()
	uri := "axterminator://app/" + strconv.Itoa(program.PID) + "/events"
	p.ask("resources/subscribe", fmt.Sprintf(`{"uri":%q}`, uri))
	desk.RestartA11y(t)
	p.awaitUpdate(uri)
	p.readUntil(uri, `\"type\":\"events_lost\"`)
	assert.NilError(t, syscall.Kill(program.PID, syscall.SIGKILL))
	p.awaitUpdate(uri)
	p.readUntil(uri, `\"type\":\"program_ended\"`)
	p.hangUp()
}

// floodSize is the number of signals of a flood, and maxFloodMemory bounds the gateway's memory after it, in KiB.
const (
	floodSize      = 50_000
	maxFloodMemory = 400 << 10
)

// mcpEventsFlood: a service that sends signals as fast as it can hangs nothing, and a reader learns that events are missing.
func mcpEventsFlood(t *testing.T, b programPath) {
	h, app := b.withApp(t)
	h.write(t, ".aai/org.example.App/aai.json", eventfulDescriptor)
	h.allow(t, exampleApp+" events")
	p := h.start(t).open()
	p.ask("resources/subscribe", `{"uri":"app:org.example.App/events"}`)
	for n := range floodSize {
		assert.NilError(t, app.Conn.Emit(testkit.ServicePath, testkit.ServiceInterface+".Added", int32(n), "Milk"))
	}
	p.awaitUpdate("app:org.example.App/events")
	text := p.readUntil("app:org.example.App/events", fmt.Sprintf(`\"id\":%d,`, floodSize-1))
	assert.Check(t, strings.Contains(text, fmt.Sprintf(`\"last\":%d,`, floodSize)) || strings.Contains(text, `events_lost`), "events are missing, and nothing says so: %.300s", text)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	assert.NilError(t, err)
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	if kib, err := strconv.Atoi(strings.Fields(peak)[0]); err != nil || kib > maxFloodMemory {
		t.Errorf("the gateway used %s KiB", strings.Fields(peak)[0])
	}
	p.hangUp()
}

// readUntil reads a resource again and again until the answer has the text. An answer may be an error meanwhile.
func (p *agentProcess) readUntil(uri, text string) string {
	p.t.Helper()
	line := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		p.next++
		id := fmt.Sprintf("read %d", p.next)
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"resources/read","params":{"uri":%q}}`, id, uri))
		for line = range p.lines {
			if strings.Contains(line, fmt.Sprintf(`"id":%q`, id)) {
				break
			}
		}
		if strings.Contains(line, text) {
			return line
		}
	}
	p.t.Fatalf("no %s in %.2000s", text, line)
	return ""
}

// A stored workflow runs at each event while its command runs, and no longer when its file has changed.
func mcpWorkflowOn(t *testing.T, b programPath) {
	h, app := b.withApp(t)
	h.write(t, ".aai/org.example.App/aai.json", eventfulDescriptor)
	h.write(t, ".aai/config.json", allowing("org.example.App echo events", "workflows greet"))
	const workflow = `{"name": "greet", "params": {"type": "object", "properties": {"event": {"type": "object"}}, "required": ["event"]},
		"steps": [{"app": "org.example.App", "tool": "echo", "args": {"v": "{{params.event.fields.title}}"}}]}`
	h.write(t, ".aai/workflows/greet.json", workflow)
	if said, err := h.command(t.Context(), "workflow", "on", exampleApp, "removed", "greet").CombinedOutput(); err == nil || !strings.Contains(string(said), "added") {
		t.Errorf("an event that the app does not have: %v %s", err, said)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute)
	defer cancel()
	cmd := h.command(ctx, "workflow", "on", exampleApp, "added", "greet", "--into", "event")
	said, err := cmd.StderrPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	lines := bufio.NewScanner(said)
	var all []string
	until := func(text string) {
		t.Helper()
		for lines.Scan() {
			all = append(all, lines.Text())
			if strings.Contains(lines.Text(), text) {
				return
			}
		}
		t.Fatalf("%q is not said: %q", text, all)
	}
	add := func(title string) {
		t.Helper()
		assert.NilError(t, app.Conn.Emit(testkit.ServicePath, testkit.ServiceInterface+".Added", int32(1), title))
	}
	until("Waiting for added")
	for n := range 3 {
		add(fmt.Sprint("note ", n))
		for app.Calls("EchoString") < n+1 {
			if time.Sleep(20 * time.Millisecond); ctx.Err() != nil {
				for lines.Scan() {
					all = append(all, lines.Text())
				}
				t.Fatalf("%d runs after %d events: %q", app.Calls("EchoString"), n+1, all)
			}
		}
	}
	add("{{secret:mail}}")
	until("it contains {{")
	h.write(t, ".aai/workflows/greet.json", strings.Replace(workflow, "greet", "other", 1))
	add("one more")
	until("has changed since")
	assert.Check(t, cmd.Wait() != nil, "the command succeeded")
	assert.Check(t, is.Equal(app.Calls("EchoString"), 3))
}
