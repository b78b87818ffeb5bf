package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/risk"
)

// Typing into a terminal within another program needs the permission to run commands, by query, by
// focus and by keys; elsewhere it does not.
func TestTypingIntoTheTerminalOfAnEditor(t *testing.T) {
	inWorld(t, func(w *world) {
		w.gateway.Gates = append(w.gateway.Gates, risk.ShellMarker{})
		win := w.d.Program("Code").Window("main.go")
		text := win.Textbox("Editor")
		shell := win.Add(desktop.Element{Role: desktop.Terminal, Name: "bash"})
		permission := func(tool, args string) string {
			_, _ = w.do(tool, args)
			return w.record.lastRequest().Permission()
		}
		for args, want := range map[string]string{
			`{"app": "Code", "query": "role:terminal", "text": "id\n"}`: aai.PermissionRun,
			`{"app": "Code", "query": "Editor", "text": "id\n"}`:        aai.PermissionAct,
			`{"app": "Code", "query": "Editor", "text": "x\tid\n"}`:     aai.PermissionRun,
			`{"app": "Code", "query": "Editor", "text": "x\nid"}`:       aai.PermissionRun,
		} {
			assert.Check(t, is.Equal(permission("ax_type", args), want), args)
		}
		assert.Check(t, is.Equal(permission("ax_set_value", `{"app": "Code", "query": "bash", "value": "id"}`), aai.PermissionRun))
		shell.Focus()
		for tool, args := range map[string]string{"ax_type": `{"app": "Code", "text": "id"}`, "ax_key_press": `{"app": "Code", "key": "return"}`} {
			assert.Check(t, is.Equal(permission(tool, args), aai.PermissionRun), tool)
		}
		text.Focus()
		got := permission("ax_type", `{"app": "Code", "text": "id"}`)
		assert.Check(t, is.Equal(got, aai.PermissionAct), "into the text: %s", got)
	})
}

// A terminal that the gates did not know about gets no text: it may have taken the focus since.
func TestNothingIsTypedIntoATerminalUnasked(t *testing.T) {
	inWorld(t, func(w *world) {
		win := w.d.Program("Code").Window("main.go")
		win.Textbox("Find")
		win.Add(desktop.Element{Role: desktop.Terminal, Name: "bash"}).Focus()
		since := w.mutations()
		for tool, args := range map[string]string{
			"ax_type": `{"app": "Code", "text": "id"}`, "ax_key_press": `{"app": "Code", "key": "return"}`,
			"ax_set_value": `{"app": "Code", "query": "bash", "value": "id"}`,
		} {
			w.has(w.failure(aai.ConsentRequired, tool, args).Message, "is a terminal")
		}
		w.has(w.failure(aai.ConsentRequired, "ax_type", `{"app": "Code", "query": "Find", "text": "x\tid\n"}`).Message, "leads into a terminal")
		w.nothingDone(since)
	})
}
