package main_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
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
func (p *process) readEvents(app string) (view eventView) {
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

// allow allows a tool of an app to every caller, and nothing else.
func (h home) allow(t *testing.T, app, tool string) {
	t.Helper()
	h.write(t, ".aai/config.json", fmt.Sprintf(`{"consent": {"preapproved": [{"app": %q, "tools": [%q], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`, app, tool))
}

// awaitUpdate waits for an update of a resource.
func (p *process) awaitUpdate(uri string) {
	p.t.Helper()
	p.awaitLine("notifications/resources/updated", uri)
}

// awaitLine waits for a line with all the texts, and returns it.
func (p *process) awaitLine(texts ...string) string {
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
	bus := testkit.StartBus(t)
	app := testkit.ServeOnBus(t, bus, exampleApp)
	h := b.home(t, bus)
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
	h.allow(t, exampleApp, "events")
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
	h.allow(t, "org.xfce.Xfconf", "events")
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

	h.allow(t, app, "*")
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
func (p *process) awaitAnswer(id string) string {
	p.t.Helper()
	line := p.awaitLine(fmt.Sprintf(`"id":%q`, id))
	assert.Assert(p.t, !strings.Contains(line, `"error":`), line)
	return line
}
