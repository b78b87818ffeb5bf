package main

import (
	"os/exec"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestStopKeyEndsTyping: the person's stop key ends a call that types, and the next call is refused.
func TestStopKeyEndsTyping(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	g := onScreen(t, s, `{"consent": {"preapproved": [
		{"app": "desktop/mousepad", "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`)
	s.Launch(t, "mousepad", "--disable-server")
	awaitTitle(t, s, "Mousepad")
	if err := g.windowTool(t.Context(), "ax_find", map[string]any{"app": "mousepad", "query": "role:textbox"}); err != nil {
		t.Fatal(err)
	}
	typed := make(chan *aai.Error, 1)
	go func() {
		typed <- g.windowTool(t.Context(), "ax_type", map[string]any{
			"app": "mousepad", "query": "role:textbox", "mode": "focus", "text": strings.Repeat("\t\t ", 20_000),
		})
	}()
	awaitTitle(t, s, "*") // the text has changed
	press := exec.CommandContext(t.Context(), "xdotool", "key", "super+Escape")
	press.Env = []string{"DISPLAY=" + s.Getenv("DISPLAY"), "XAUTHORITY=" + s.Getenv("XAUTHORITY")}
	if out, err := press.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	err := <-typed
	assert.Assert(t, err != nil, "the typing ended with %v", err)
	assert.Equal(t, err.Code, aai.PermissionDenied, err)
	assert.Assert(t, is.Contains(err.Message, "stopped everything"), err)
	err = g.windowTool(t.Context(), "ax_find", map[string]any{"app": "mousepad", "query": "role:textbox"})
	assert.Assert(t, err != nil, "the next call: %v", err)
	assert.Equal(t, err.Code, aai.PermissionDenied, err)
}
