package main_test

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
)

// A stored workflow runs at each event while its command runs, and no longer when its file has changed.
func mcpWorkflowOn(t *testing.T, b programPath) {
	bus := testkit.StartBus(t)
	app := testkit.ServeOnBus(t, bus, exampleApp)
	h := b.home(t, bus)
	h.write(t, ".aai/org.example.App/aai.json", eventfulDescriptor)
	h.write(t, ".aai/config.json", `{"consent": {"preapproved": [
		{"app": "org.example.App", "tools": ["echo", "events"], "caller": "*", "expires": "2999-01-01T00:00:00Z"},
		{"app": "workflows", "tools": ["greet"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`)
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
