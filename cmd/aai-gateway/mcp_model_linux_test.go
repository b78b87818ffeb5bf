package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// modelAnswer is an answer of a client's model.
func modelAnswer(text string) map[string]any {
	return map[string]any{"role": "assistant", "model": "eyes-1", "stopReason": "endTurn", "content": map[string]any{"type": "text", "text": text}}
}

const boxAnswer = `{"found": true, "left": 2, "top": 3, "right": 42, "bottom": 23, "confidence": 0.5, "label": "a thing"}`

// mcpModelOfTheClient: the client's model finds a thing in a picture, describes it, and suggests an action, also with the
// desktop's reading tools. Clients of the stateless version get the question in the result of the call.
func mcpModelOfTheClient(t *testing.T, b programPath) {
	s := linuxtest.StartAccessible(t)
	s.Fixture(t, linuxtest.GTK3)
	for _, c := range sdksWithModels() {
		t.Run(c.sdk+" of "+c.version, func(t *testing.T) {
			h := b.home(t, nil)
			h.env = slices.Concat(s.Env, h.env)
			h.write(t, ".aai/config.json", `{"vlm": {"backend": "client"}, "consent": {"preapproved": [{"app": "desktop/gtk3", "tools": ["see"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`)
			w := h.clientOf(t, c, "", "sampling", map[string]any{"tools": map[string]any{}})
			ask := func(tool string, args map[string]any) int {
				args["app"] = "gtk3"
				return w.begin("callTool", params("desktop", tool, args))
			}
			call := ask("ax_find_visual", map[string]any{"description": "an unnamed thing"})
			question := w.asked("sampling/createMessage", modelAnswer(boxAnswer))
			assert.Assert(t, is.Contains(question, `Find: \"an unnamed thing\"`))
			assert.Assert(t, is.Contains(question, `"mimeType":"image/png"`))
			got := w.says(w.end(call))
			assert.Assert(t, is.Contains(got, `The model sees it [w`))
			assert.Assert(t, is.Contains(got, "client, eyes-1"))
			call = ask("ax_ask_model", map[string]any{})
			w.asked("sampling/createMessage", modelAnswer("It shows buttons."))
			assert.Check(t, is.Contains(w.says(w.end(call)), "It shows buttons."))
			next := map[string]any{"task": "next_action", "goal": "Press it", "tools": true}
			if c.isModern() {
				got := string(w.end(ask("ax_ask_model", next)).Result)
				assert.Assert(t, is.Contains(got, "AUTOMATION_NOT_SUPPORTED"))
				assert.Assert(t, is.Contains(got, "without tools"))
			} else {
				w.usesTools(ask("ax_ask_model", next))
			}
			var nothing struct{}
			w.do(&nothing, "close")
		})
	}
}

// usesTools: the client's model finds an element by a reading tool, and no other tool is called.
func (w *serverWorld) usesTools(call int) {
	w.t.Helper()
	use := func(name string) map[string]any {
		return map[string]any{"role": "assistant", "model": "eyes-1", "stopReason": "toolUse", "content": []any{
			map[string]any{"type": "tool_use", "id": "u1", "name": name, "input": map[string]any{"query": "button Press", "app": "other"}}}}
	}
	if question := w.asked("sampling/createMessage", use("ax_find")); !strings.Contains(question, `"name":"ax_get_tree"`) || !strings.Contains(question, "Press it") {
		w.t.Errorf("the model was asked %.300s", question)
	}
	if question := w.asked("sampling/createMessage", use("ax_click")); !strings.Contains(question, `button \"Press\"`) && !strings.Contains(question, `button \\\"Press\\\"`) {
		w.t.Errorf("the tool says %s", question[max(0, len(question)-600):])
	}
	if question := w.asked("sampling/createMessage", modelAnswer("Press the button.")); !strings.Contains(question, "there is no tool") {
		w.t.Errorf("a tool that acts says %s", question[max(0, len(question)-600):])
	}
	got := w.says(w.end(call))
	assert.Check(w.t, is.Contains(got, "Press the button."), "the next action: %s", got)
}

// mcpModelOfAService: a service gets the picture and the key of the environment after its host was allowed for the program. The key
// is in no file and in no answer.
func mcpModelOfAService(t *testing.T, b programPath) {
	s := linuxtest.StartAccessible(t)
	s.Fixture(t, linuxtest.GTK3)
	var asked atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprintf(w, `{"model": "eyes-1", "choices": [{"finish_reason": "stop", "message": {"content": %q}}], "usage": {"prompt_tokens": 900, "completion_tokens": 30}}`, boxAnswer)
	}))
	defer service.Close()
	host := strings.TrimPrefix(service.URL, "http://")
	const config = `{"vlm": {"backend": "openai", "model": "eyes-1", "base_url": %q, "input_price": 10, "output_price": 10}, "consent": {"dialog": "off", "preapproved": [
		{"app": "desktop/gtk3", "tools": [%s], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`
	for _, allowed := range []bool{false, true} {
		t.Run(fmt.Sprint("allowed ", allowed), func(t *testing.T) {
			h := b.home(t, nil)
			h.env = slices.Concat(s.Env, h.env)
			tools := `"see", "act", "*"`
			if allowed {
				tools += fmt.Sprintf(`, "picture %s"`, host)
			}
			h.write(t, ".aai/config.json", fmt.Sprintf(config, service.URL, tools))
			p := h.start(t).open()
			find := func(tool string) toolResult {
				return p.toolResult(p.ask("tools/call", runTool("desktop", tool, `{"app": "gtk3", "description": "an unnamed thing", "task": "find"}`)))
			}
			r := find("ax_ask_model")
			if !allowed {
				if code, hint := r.StructuredContent.Type, r.StructuredContent.Suggestion; code != "CONSENT_REQUIRED" || !strings.Contains(hint, "picture "+host) || asked.Load() != 0 {
					t.Errorf("%s, %s, %d questions: %+v", code, hint, asked.Load(), r.Content)
				}
				return
			}
			assert.Assert(t, !r.IsError, "it says %+v", r.Content)
			assert.Assert(t, is.Contains(r.Content[0].Text, `The model sees it [w`), "%+v", r.Content)
			assert.Assert(t, is.Contains(r.Content[0].Text, "930 tokens, $0.0093"), "%+v", r.Content)
			if r = find("ax_ask_model"); r.IsError || !strings.Contains(r.Content[0].Text, "as answered before") || asked.Load() != 1 {
				t.Errorf("the same question again, %d questions: %+v", asked.Load(), r.Content)
			}
		})
	}
	t.Run("wrong key", func(t *testing.T) { keyGoesNowhere(t, b, s) })
}

// keyGoesNowhere: without a key the client's person is sent to the page for one. A key is kept sealed by the login, and is
// neither in a file nor in an answer.
func keyGoesNowhere(t *testing.T, b programPath, s *linuxtest.Session) {
	h := b.home(t, nil)
	h.env = slices.Concat(s.Env, h.env, []string{"AAI_LOG_LEVEL=debug", "ANTHROPIC_API_KEY=cAnArY bad"})
	h.write(t, ".aai/config.json", `{"vlm": {"backend": "anthropic"}, "consent": {"dialog": "off", "preapproved": [
		{"app": "desktop/gtk3", "tools": ["see", "picture api.anthropic.com"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`)
	p := h.start(t).open()
	r := p.toolResult(p.ask("tools/call", runTool("desktop", "ax_ask_model", `{"app": "gtk3"}`)))
	text, err := json.Marshal(r)
	assert.NilError(t, err, text)
	assert.Assert(t, r.IsError, text)
	assert.Assert(t, is.Contains(string(text), "ANTHROPIC_API_KEY"), text)
	p.hangUp()
	eachFile(t, h.folder, func(path string, b []byte) {
		assert.Check(t, !strings.Contains(string(b), "cAnArY"), "%s contains the key", filepath.Base(path))
	})
	assert.Check(t, !strings.Contains(string(text)+p.err.String(), "cAnArY"), "the key is told: %s %s", text, p.err.String())
	h.env = h.env[:len(h.env)-1]
	target := map[string]any{"command": string(h.binary), "env": h.environ(), "capabilities": map[string]any{"elicitation": map[string]any{"url": map[string]any{}}}}
	w := &serverWorld{puppet: newPuppet(t, "v1", target), t: t}
	w.receive()
	call := w.begin("callTool", params("desktop", "ax_ask_model", map[string]any{"app": "gtk3"}))
	question := w.asked("elicitation/create", map[string]any{"action": "accept"})
	assert.Assert(t, is.Contains(question, `"url":"https://console.anthropic.com/settings/keys"`))
	assert.Assert(t, is.Contains(question, "needs the person's API key"))
	assert.Check(t, is.Contains(string(w.end(call).Result), "AUTH_REQUIRED"))
	var nothing struct{}
	w.do(&nothing, "close")
}

// hostProgram is a client with a window, which starts the program as clients do.
const hostProgram = `#!/usr/bin/python3
import subprocess, gi
gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk
gateway = subprocess.Popen(["%s"])
window = Gtk.Window(title="The agent's host")
button = Gtk.Button(label="Quit the agent")
button.connect("clicked", lambda _: Gtk.main_quit())
window.add(button)
window.show_all()
GLib.child_watch_add(GLib.PRIORITY_DEFAULT, gateway.pid, lambda *_: Gtk.main_quit())
Gtk.main()
gateway.kill()
`

const hostConfig = `{"consent": {"dialog": "off", "preapproved": [
  {"app": "desktop", "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"},
  {"app": "desktop/agenthost", "tools": [%s], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`

// mcpInsideItsHost: the client's own program is marked in the list, and is neither read nor
// operated unless that very permission was granted.
func mcpInsideItsHost(t *testing.T, b programPath) {
	s := linuxtest.StartAccessible(t)
	for _, allowed := range []string{`"*", "see", "act", "destroy"`, `"host"`} {
		t.Run(strings.Trim(allowed, `"`), func(t *testing.T) {
			h := b.home(t, nil)
			h.write(t, ".aai/config.json", fmt.Sprintf(hostConfig, allowed))
			h.binary = programPath(h.script(t, "agenthost.py", fmt.Sprintf(hostProgram, string(b))))
			h.env = slices.Concat(s.Env, h.env)
			p := h.start(t).open()
			call := func(tool, args string) (r toolResult) {
				assert.NilError(t, json.Unmarshal(p.ask("tools/call", runTool("desktop", tool, args)).Result, &r))
				return r
			}
			marked := ""
			for !strings.Contains(marked, "agenthost") { // its window may take a while
				r := call("ax_list_apps", `{}`)
				if marked = ""; len(r.Content) > 0 {
					marked = r.Content[0].Text
				}
			}
			assert.Check(t, is.Contains(marked, "which you run in"), "the list says %q", marked)
			if allowed == `"host"` {
				r := call("ax_find", `{"app": "agenthost", "query": "role:button"}`)
				assert.Assert(t, !r.IsError, "it is allowed: %+v", r.Content)
				assert.Assert(t, is.Contains(r.Content[0].Text, "Quit the agent"), "%+v", r.Content)
				return
			}
			for tool, args := range map[string]string{
				"ax_get_tree": `{"app": "agenthost"}`, "ax_find": `{"app": "agenthost", "query": "role:button"}`,
				"ax_connect": `{"app": "agenthost"}`, "ax_set_value": `{"app": "agenthost", "query": "role:button", "value": "x"}`,
				"ax_click": `{"app": "agenthost", "query": "Quit the agent"}`, "ax_window": `{"app": "agenthost", "action": "close"}`,
			} {
				r := call(tool, args)
				code, hint := r.StructuredContent.Type, r.StructuredContent.Suggestion
				assert.Check(t, is.Equal(code, "CONSENT_REQUIRED"), "%s %+v", tool, r.Content)
				assert.Check(t, is.Contains(hint, "desktop/agenthost host"), "%s %+v", tool, r.Content)
			}
		})
	}
}
