package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// followed is a program on a private desktop whose events clients follow.
type followed struct {
	home
	program *linuxtest.Changer
	uri     string
}

// readContents is the result of resources/read.
type readContents struct{ Contents []struct{ Text string } }

// mcpFollow: clients of both protocol versions and of several SDKs subscribe to the events of a program, over both
// transports, are notified of a change, and read it.
func mcpFollow(t *testing.T, b programPath) {
	desk := linuxtest.StartAccessible(t)
	f := &followed{home: b.home(t, nil), program: desk.Changer(t)}
	f.env = append(slices.Clone(desk.Env), "HOME="+f.folder)
	f.allow(t, "desktop/changes", "desktop")
	f.uri = "axterminator://app/" + strconv.Itoa(f.program.PID) + "/events"
	http := f.serveHTTP(t)

	for _, c := range []struct{ sdk, mode, version string }{{"v1", "", "2025-11-25"}, {"v2", "legacy", "2025-11-25"}, {"v2", "auto", "2026-07-28"}} {
		for over, target := range map[string]map[string]any{
			"stdio": {"mode": c.mode, "command": string(b), "env": f.environ()}, "HTTP": {"mode": c.mode, "url": http.url, "token": http.token},
		} {
			t.Run(c.sdk+" "+c.mode+" over "+over, func(t *testing.T) {
				p := newPuppet(t, c.sdk, target)
				var opened struct{ Version string }
				p.read(p.receive().Result, &opened)
				assert.Check(t, is.Equal(opened.Version, c.version))
				f.follow(t, p)
			})
		}
	}
}

// follow subscribes, lets the program change, and reads the event.
func (f *followed) follow(t *testing.T, p *puppet) {
	t.Helper()
	var nothing json.RawMessage
	p.do(&nothing, "subscribeResource", map[string]any{"uri": f.uri})
	var before, after readContents
	p.do(&before, "readResource", map[string]any{"uri": f.uri})
	p.news = nil
	f.program.Change(t, 2, 0) // on and off
	p.hears(1)
	assert.Check(t, is.Equal(p.news[0], f.uri))
	p.do(&after, "readResource", map[string]any{"uri": fmt.Sprintf("%s/%d", f.uri, lastNumber(t, before))})
	assert.Assert(t, is.Len(after.Contents, 1), "%+v", after)
	assert.Assert(t, is.Contains(after.Contents[0].Text, `"element":"checkbox \"Change\"","title":"Changes"`), "%+v", after)
	p.do(&nothing, "unsubscribeResource", map[string]any{"uri": f.uri})
}

// lastNumber returns the number of the last event.
func lastNumber(t *testing.T, read readContents) int {
	t.Helper()
	var events struct{ Last int }
	assert.NilError(t, json.Unmarshal([]byte(read.Contents[0].Text), &events))
	return events.Last
}

// examples are answers as the first description of the resources shows them, by URI. {name} is a program.
var examples = map[string]string{
	"axterminator://system/status": `{"accessibility_enabled": true, "server_version": "0.6.1", "protocol_version": "2025-11-25", "vlm_backend": "anthropic",
		"vlm_available": true, "connected_apps": ["Safari", "Finder"], "platform": "macOS 15.2, Apple M4", "security_mode": "normal", "uptime_seconds": 142.5}`,
	"axterminator://app/{name}/state": `{"app": "Safari", "pid": 1234, "windows": [{"title": "Apple", "focused": true, "position": [0, 25], "size": [1440, 875]}],
		"focused_element": {"role": "AXTextField", "title": "Address and Search"}, "detected_state": "idle", "menu_bar": ["Safari", "File"]}`,
	"axterminator://app/{name}/events": `{"events": [{"type": "window_opened", "title": "Save As", "timestamp": "2026-03-19T10:30:00Z"}]}`,
	"axterminator://apps":              `{"apps": [{"name": "Safari", "pid": 1234, "connected": true, "state": "idle", "focused_window": "Apple"}]}`,
	"axterminator://clipboard":         `{}`,
	"axterminator://app/{name}/tree":   `{}`, "axterminator://app/{name}/window/0/tree": `{}`,
}

// mcpExamples reads the resources by the URIs of their first description, and subscribes to a program for a notification.
func mcpExamples(t *testing.T, b programPath) {
	desk := linuxtest.StartAccessible(t)
	program := desk.Changer(t)
	h := b.home(t, nil)
	h.env = append(slices.Clone(desk.Env), "HOME="+h.folder)
	h.allow(t, "desktop/changes", "desktop")
	p := h.start(t).open()
	name := strconv.Itoa(program.PID)
	p.ask("resources/subscribe", fmt.Sprintf(`{"uri":"axterminator://app/%s/events"}`, name))
	var listed struct {
		Apps []struct {
			PID int
			ID  string `json:"bundle_id"`
		}
	}
	err := json.Unmarshal([]byte(p.readText("axterminator://apps")), &listed)
	assert.NilError(t, err, "%+v", listed)
	assert.Assert(t, is.Len(listed.Apps, 1), "%+v", listed)
	notify := []string{"call", "--session", "--dest", "org.freedesktop.Notifications", "--object-path", "/org/freedesktop/Notifications",
		"--method", "org.freedesktop.Notifications.Notify", listed.Apps[0].ID, "uint32 0", "", "New mail", "From Ada", "@as []", "@a{sv} {}", "int32 1000"}
	for text := ""; !strings.Contains(text, `"type":"notification_appeared","title":"New mail","detail":"sent by another process in its name","text":"From Ada"`); {
		cmd := exec.CommandContext(t.Context(), "gdbus", notify...)
		cmd.Env = desk.Env
		_ = cmd.Run() // there is no service; the first ones may come before the monitor listens
		program.Change(t, 2, 0)
		p.awaitUpdate("axterminator://app/" + name + "/events")
		text = p.readText("axterminator://app/" + name + "/events")
	}
	for uri, example := range examples {
		var want, got any
		text := p.readText(strings.ReplaceAll(uri, "{name}", name))
		assert.NilError(t, json.Unmarshal([]byte(text), &got), "%s %s", uri, text)
		assert.NilError(t, json.Unmarshal([]byte(example), &want))
		for _, missing := range missingFields(want, got, "") {
			t.Errorf("%s has no %s: %s", uri, missing, text)
		}
	}
	p.hangUp()
}

// readText reads a resource.
func (p *agentProcess) readText(uri string) string {
	p.t.Helper()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"resources/read","params":{"uri":%q}}`, uri, uri))
	var read struct {
		Result struct{ Contents []struct{ Text string } }
	}
	line := p.awaitAnswer(uri)
	err := json.Unmarshal([]byte(line), &read)
	assert.NilError(p.t, err, line)
	assert.Assert(p.t, is.Len(read.Result.Contents, 1), line)
	return read.Result.Contents[0].Text
}

// missingFields returns the fields of an example that an answer lacks, or has with another type.
func missingFields(want, got any, at string) (missing []string) {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return []string{"object at " + at}
		}
		for name, value := range want {
			if object[name] == nil {
				missing = append(missing, at+"."+name)
			} else {
				missing = append(missing, missingFields(value, object[name], at+"."+name)...)
			}
		}
	case []any:
		list, ok := got.([]any)
		if !ok {
			return []string{"list at " + at}
		}
		if len(want) > 0 && len(list) > 0 {
			missing = missingFields(want[0], list[0], at+"[0]")
		}
	default:
		if fmt.Sprintf("%T", want) != fmt.Sprintf("%T", got) {
			return []string{fmt.Sprintf("%T at %s", want, at)}
		}
	}
	return missing
}
