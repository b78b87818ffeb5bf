package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/platform/linux/private"
)

// TestTakenSessionPausesItsAgent takes an agent's isolated session over. A click of the agent waits until the session is
// given back, a reading tool does not, and the agent cannot use the person's tools.
func TestTakenSessionPausesItsAgent(t *testing.T) {
	w := newIsolatedWorld(t)
	w.allow(t, "desktop", "desktop/gnome-calculator")
	cmd, said := exec.Command(string(w.binary), "mcp", "serve", "--session", "isolated"), new(bytes.Buffer)
	cmd.Env, cmd.Stderr = w.env, said
	client, err := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "0"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	assert.NilError(t, err, said)
	defer client.Close() //nolint:errcheck // the session's end is another test's
	call := func(app, tool string, args map[string]any) (text string, isError bool) {
		r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "aai_exec", Arguments: map[string]any{"app": app, "tool": tool, "args": args}})
		assert.NilError(t, err, said)
		for _, c := range r.Content {
			if c, ok := c.(*mcp.TextContent); ok {
				text += c.Text
			}
		}
		return text, r.IsError
	}
	do := func(tool string, args map[string]any) string {
		text, isError := call("desktop", tool, args)
		assert.Assert(t, !isError, "%s: %s", tool, text)
		return text
	}
	at := regexp.MustCompile(`home (/tmp/aai-sessions-\d+/(\d+))/home`).FindStringSubmatch(said.String())
	assert.Assert(t, at != nil, said)
	do("ax_connect", map[string]any{"app": "gnome-calculator", "launch": true, "alias": "sums"})
	take := exec.Command(string(w.binary), "exec", "aai", "session_take", `{"id": "`+at[2]+`"}`)
	take.Env = w.env
	out, err := take.CombinedOutput()
	assert.NilError(t, err, "%s", out)
	clicked := make(chan bool, 1)
	go func() {
		_, isError := call("desktop", "ax_click", map[string]any{"app": "sums", "query": "role:button title:7"})
		clicked <- isError
	}()
	assert.Check(t, !bytes.Contains([]byte(do("ax_get_tree", map[string]any{"app": "sums"})), []byte(`"7"`)), "it was clicked")
	for _, tool := range []string{"session_input", "session_give", "session_list"} {
		text, isError := call("aai", tool, map[string]any{"id": at[2]})
		assert.Check(t, isError, "%s: %s", tool, text)
	}
	select {
	case <-clicked:
		t.Error("the click did not wait")
	case <-time.After(time.Second):
	}
	i, err := private.OpenIsolated(at[1])
	assert.NilError(t, err)
	assert.NilError(t, i.SetTaken(false))
	assert.Check(t, !<-clicked)
	assert.Check(t, is.Contains(do("ax_get_tree", map[string]any{"app": "sums"}), "7"))
}

// TestTakenSessionPausesCommands checks that a gateway that a command of "session run" starts pauses too.
func TestTakenSessionPausesCommands(t *testing.T) {
	w, file := newIsolatedWorld(t), filepath.Join(t.TempDir(), "at")
	w.allow(t, "desktop", "desktop/gnome-calculator")
	cmd, out := w.begin(t, "session", "run", "--", "sh", "-c", `touch "$HOME/../taken"; echo "$DISPLAY $HOME" > "$0"; HOME=$1; "$2" exec desktop ax_connect '{"app": "gnome-calculator", "launch": true}'`,
		file, w.folder, string(w.binary))
	_, folder := awaitSession(t, cmd, file, out)
	sessionProcess(t, folder, "exec desktop ax_connect")
	for until := time.Now().Add(3 * time.Second); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		for _, line := range processesWith(sessionMark(folder)) {
			assert.Assert(t, !strings.HasPrefix(line, "gnome-calculator"), "it was started")
		}
	}
	i, err := private.OpenIsolated(folder)
	assert.NilError(t, err)
	assert.NilError(t, i.SetTaken(false))
	assert.NilError(t, cmd.Wait(), out)
}
