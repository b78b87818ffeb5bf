package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestAScriptOperatesAWindow: one call of an agent fills in a real form, reads it and presses its
// button; the program itself confirms it.
func TestAScriptOperatesAWindow(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	g := onScreen(t, s, `{"consent": {"preapproved": [
		{"app": "desktop/zenity", "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"},
		{"app": "desktop", "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`)
	form := s.Launch(t, "zenity", "--entry", "--title", "Name", "--text", "Your name")
	awaitWindow(t, s, "Name")
	result, err := g.gateway.Do(t.Context(), &aai.Call{
		Caller: aai.Caller{Door: aai.DoorMCP, Name: "agent", Session: "s"}, App: aai.DesktopApp, Tool: "ax_run_script",
		Args: map[string]any{"args": map[string]any{"app": strconv.Itoa(form.PID)}, "script": `
			const app = args.app, field = find(app, "role:textbox").element_ref;
			call("ax_set_value", {app, query: field, value: "ann"});
			const said = call("ax_get_value", {app, query: field}).value;
			try { call("ax_click", {app, query: "No such button"}) } catch (e) { log(e.code) }
			call("desktop", "ax_click", {app, query: "OK"});
			said`},
	})
	if err != nil {
		t.Fatalf("%v: %v", err, aai.AsError(err).Hint)
	}
	b, _ := json.Marshal(result.Data)
	assert.Check(t, is.Equal(string(b), `{"result":"ann","calls":5,"log":"ELEMENT_NOT_FOUND"}`), "the script answers %s", b)
	<-form.Done()
	said := strings.TrimSpace(form.Output())
	assert.Check(t, is.Equal(said, "ann"), "the program was told %q", said)
}
