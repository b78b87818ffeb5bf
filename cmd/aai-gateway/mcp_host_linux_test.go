package main_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

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
