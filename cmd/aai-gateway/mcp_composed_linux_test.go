package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// composedDesk is a user's desktop with an editor, a browser and a form, and a client of the
// TypeScript SDK that runs workflows there.
type composedDesk struct {
	*puppet
	home
	t       *testing.T
	desktop *linuxtest.Session
}

// flowResult is a client's result of a workflow.
type flowResult struct {
	IsError           bool
	Content           []struct{ Text string }
	StructuredContent struct {
		Success    bool
		Completed  int  `json:"steps_completed"`
		Total      int  `json:"steps_total"`
		RolledBack bool `json:"rolled_back"`
		Results    []struct {
			Tool string
			OK   bool
		}
	}
}

// mcpComposed runs the three workflows for which the desktop's tools were designed, with local
// programs: a text is copied from one program to another, and a letter is saved in a dialog, by a
// call and by a task.
func mcpComposed(t *testing.T, b programPath) {
	s := linuxtest.StartAccessible(t)
	w := &composedDesk{t: t, desktop: s, home: b.home(t, nil)}
	// Without the system's data folders, GTK's file dialog has no settings, and ends its program.
	w.env = slices.Concat(s.Env, w.env, []string{"XDG_DATA_DIRS=/usr/local/share:/usr/share"})
	w.write(t, ".aai/config.json", `{"profile": "desktop", "consent": {"preapproved": `+grants("desktop", "desktop/gtk3", "desktop/mousepad", "desktop/chromium")+`}}`)
	w.puppet = newPuppet(t, "v1", map[string]any{"command": string(b), "env": w.environ()})
	w.receive()
	w.copiesAcross()
	w.savesAndConfirms()
	w.savesAsATask()
}

// flow returns a workflow as params of tools/call.
func flow(name, steps string) map[string]any {
	return map[string]any{"name": "ax_workflow", "arguments": map[string]any{"name": name, "steps": json.RawMessage(steps)}}
}

// completes checks that all steps were done, and none undone.
func (w *composedDesk) completes(r flowResult, name string, tools ...string) {
	w.t.Helper()
	done := r.StructuredContent
	want := fmt.Sprintf("%s: %d of %d steps done", name, len(tools), len(tools))
	assert.Assert(w.t, !r.IsError, "%s gave %+v", name, r)
	assert.Assert(w.t, len(r.Content) != 0, "%s gave %+v", name, r)
	assert.Assert(w.t, strings.HasPrefix(r.Content[0].Text, want), "%s gave %+v", name, r)
	if !done.Success || done.Completed != len(tools) || done.Total != len(tools) || done.RolledBack || len(done.Results) != len(tools) {
		w.t.Errorf("%s is told as %+v", name, done)
	}
	for i, line := range done.Results {
		assert.Check(w.t, is.Equal(line.Tool, tools[i]), "%d %s %+v", i+1, name, line)
		assert.Check(w.t, line.OK, "step %d of %s is told as %+v", i+1, name, line)
	}
}

// tool calls a desktop tool, and reports success.
func (w *composedDesk) tool(name string, args map[string]any) bool {
	w.t.Helper()
	var r toolResult
	w.do(&r, "callTool", map[string]any{"name": name, "arguments": args})
	return !r.IsError
}

// comes waits until the condition is true.
func (w *composedDesk) comes(what string, is func() bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%s does not come", what)
		}
	}
}

// article is the text to copy, with misleading syntax.
const article = `Café {{step_1.value}} "quoted", {"json": [1, null]} and ${HOME}`

// copiesAcross copies a text from a browser page into a form of another program, by the clipboard.
func (w *composedDesk) copiesAcross() {
	w.t.Helper()
	w.write(w.t, "news.html", `<!doctype html><meta charset=utf-8><title>News</title><textarea readonly rows=9 cols=60 aria-label="article text">`+article+`</textarea>`)
	w.desktop.Browser(w.t, "file://"+filepath.Join(w.folder, "news.html"))
	w.comes("the page", func() bool {
		return w.tool("ax_find", map[string]any{"app": "chromium", "query": "article text"})
	})
	form := w.desktop.Fixture(w.t, linuxtest.GTK3)
	var r flowResult
	w.do(&r, "callTool", flow("cross-app-copy", `[
		{ "tool": "ax_find", "args": { "app": "chromium", "query": "article text" } },
		{ "tool": "ax_get_value", "args": { "app": "chromium", "query": "article text" } },
		{ "tool": "ax_clipboard", "args": { "action": "write", "text": "{{step_1.value}}" } },
		{ "tool": "ax_click", "args": { "app": "gtk3", "query": "Notes", "mode": "focus" } },
		{ "tool": "ax_key_press", "args": { "app": "gtk3", "key": "v", "modifiers": ["cmd"] } }
	]`))
	w.completes(r, "cross-app-copy", "ax_find", "ax_get_value", "ax_clipboard", "ax_click", "ax_key_press")
	form.WaitState(w.t, "notes", article)
}

// saving returns the steps that save a letter without a name. The editor proposes none.
func saving(file string) string {
	return fmt.Sprintf(`[
		{ "tool": "ax_key_press", "args": { "app": "mousepad", "key": "s", "modifiers": ["cmd"] } },
		{ "tool": "ax_wait_idle", "args": { "app": "mousepad", "timeout_ms": 3000 } },
		{ "tool": "ax_type", "args": { "app": "mousepad", "query": "Name:", "text": %q } },
		{ "tool": "ax_find", "args": { "app": "mousepad", "query": "Save" }, "retry": 3 },
		{ "tool": "ax_click", "args": { "app": "mousepad", "query": "Save" } }
	]`, file)
}

// savingTools returns the tools of those steps.
func savingTools() []string {
	return []string{"ax_key_press", "ax_wait_idle", "ax_type", "ax_find", "ax_click"}
}

// writes opens an editor with a letter in it.
func (w *composedDesk) writes(text string) {
	w.t.Helper()
	assert.Assert(w.t, w.tool("ax_connect", map[string]any{"app": "mousepad", "launch": true}), "the editor does not take the letter")
	assert.Assert(w.t, w.tool("ax_type", map[string]any{"app": "mousepad", "query": "role:textbox", "text": text}), "the editor does not take the letter")
}

// saved checks the letter on the disk, and closes the editor.
func (w *composedDesk) saved(file, text string) {
	w.t.Helper()
	w.comes("the letter", func() bool { // it is written after the dialog closes
		b, _ := os.ReadFile(file)
		return string(b) == text
	})
	assert.Check(w.t, w.tool("ax_window", map[string]any{"app": "mousepad", "action": "close"}), "the editor does not close")
}

func (w *composedDesk) savesAndConfirms() {
	w.t.Helper()
	file, text := filepath.Join(w.folder, "first.txt"), "Dear all,\ndinner is at eight.\n"
	w.writes(text)
	var r flowResult
	w.do(&r, "callTool", flow("save-and-confirm", saving(file)))
	w.completes(r, "save-and-confirm", savingTools()...)
	w.saved(file, text)
}

// savesAsATask: the call outlasts its request, and each step has progress.
func (w *composedDesk) savesAsATask() {
	w.t.Helper()
	file, text := filepath.Join(w.folder, "second.txt"), "Dear all,\nit is at nine.\n"
	w.writes(text)
	w.next++
	w.send(map[string]any{"id": w.next, "do": "callAsTask", "with": []any{flow("save-document", saving(file)), map[string]any{"ttl": 30_000}}, "progress": true})
	var heard []string
	var last struct {
		Type   string
		Task   task
		Result flowResult
	}
	for line := w.receive(); line.Result == nil; line = w.receive() {
		switch {
		case line.Progress != nil && line.Progress.Total == 5:
			heard = append(heard, line.Progress.Message)
		case line.Message != nil:
			w.read(line.Message, &last)
		default:
			w.t.Fatalf("unexpected: %+v", line)
		}
	}
	assert.Equal(w.t, last.Type, "result", "the task ended with %+v", last)
	w.completes(last.Result, "save-document", savingTools()...)
	w.saved(file, text)
	want := []string{"Step 1/5: ax_key_press", "Step 2/5: ax_wait_idle", "Step 3/5: ax_type", "Step 4/5: ax_find", "Step 5/5: ax_click"}
	assert.Check(w.t, slices.Equal(heard, want), "heard of %q, expected %q", heard, want)
}
