package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// sharedEditor is an editor in which two agents work.
type sharedEditor struct {
	home
	t        *testing.T
	screen   *linuxtest.Session
	ann, ben *mcp.ClientSession
}

// mcpLeases lets two agents type into one editor: of two gateways, and of one gateway over HTTP.
func mcpLeases(t *testing.T, b programPath) {
	t.Run("two gateways", func(t *testing.T) {
		w := b.sharedEditor(t)
		connect := func(name string) *mcp.ClientSession {
			cmd := exec.Command(string(b))
			cmd.Env, cmd.Stderr = w.env, t.Output()
			return w.connectAs(name, "2025-11-25", &mcp.CommandTransport{Command: cmd})
		}
		w.ann, w.ben = connect("ann"), connect("ben")
		w.takesTurns()
		w.waits()
		w.ann, w.ben = w.ben, connect("cy")
		w.asks()
	})
	t.Run("one gateway", func(t *testing.T) {
		w := b.sharedEditor(t)
		s := w.serveHTTP(t)
		connect := func(name, version string) *mcp.ClientSession {
			return w.connectAs(name, version, &mcp.StreamableClientTransport{Endpoint: s.url, HTTPClient: &http.Client{Transport: s}})
		}
		w.ann, w.ben = connect("ann", "2025-11-25"), connect("ben", "2025-11-25")
		w.takesTurns()
		w.waits()
		// Without sessions, all connections of one name and token are one agent.
		w.lease(w.ben, `, "release": true`)
		for range 2 {
			assert.Check(t, !strings.Contains(w.call(connect("cy", "2026-07-28"), "ax_type", typing("cy. ")), "RATE_LIMITED"))
		}
		assert.Check(t, is.Contains(w.call(connect("di", "2026-07-28"), "ax_type", typing("no. ")), "mcp:cy ("))
	})
}

// sharedEditor returns a desktop with an editor.
func (b programPath) sharedEditor(t *testing.T) *sharedEditor {
	t.Helper()
	s := linuxtest.StartAccessible(t)
	w := &sharedEditor{t: t, screen: s, home: b.home(t, nil)}
	w.env = slices.Concat(s.Env, w.env, []string{"XDG_DATA_DIRS=/usr/local/share:/usr/share"})
	w.write(t, ".aai/config.json", `{"profile": "desktop", "consent": {"preapproved": `+grants("desktop", "desktop/mousepad")+`}}`)
	s.Launch(t, "mousepad")
	return w
}

func (w *sharedEditor) connectAs(name, version string, transport mcp.Transport) *mcp.ClientSession {
	w.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "0"}, nil)
	session, err := client.Connect(w.t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	assert.NilError(w.t, err)
	w.t.Cleanup(func() { _ = session.Close() })
	for end := time.Now().Add(patience); strings.Contains(w.call(session, "ax_find", `{"app": "mousepad", "query": "role:textbox"}`), "_NOT_"); {
		assert.Assert(w.t, time.Now().Before(end), "the editor does not come")
	}
	return session
}

// call calls a tool and returns the text of its result.
func (w *sharedEditor) call(session *mcp.ClientSession, tool, args string) string {
	r, err := session.CallTool(w.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		return err.Error()
	}
	text, _ := r.Content[0].(*mcp.TextContent)
	return text.Text
}

// lease calls ax_lease as its hint says.
func (w *sharedEditor) lease(session *mcp.ClientSession, more string) string {
	return w.call(session, "ax_workflow", `{"steps": [{"tool": "ax_lease", "args": {"app": "mousepad"`+more+`}}]}`)
}

func typing(text string) string {
	return fmt.Sprintf(`{"app": "mousepad", "query": "role:textbox", "text": %q}`, text)
}

// takesTurns lets both agents write lines at once, each in two acts. No line of one has a part of the
// other's in it.
func (w *sharedEditor) takesTurns() {
	w.t.Helper()
	const rounds = 3
	var writing sync.WaitGroup
	var want []string
	for name, session := range map[string]*mcp.ClientSession{"ann": w.ann, "ben": w.ben} {
		for n := range rounds {
			want = append(want, fmt.Sprintf("%s %d begins, %s %d ends.", name, n, name, n))
		}
		writing.Go(func() {
			for n := range rounds {
				begin, end := fmt.Sprintf("%s %d begins, ", name, n), fmt.Sprintf("%s %d ends.\n", name, n)
				said := w.call(session, "ax_workflow", `{"steps": [{"tool": "ax_lease", "args": {"app": "mousepad", "wait_seconds": 60}},
					{"tool": "ax_type", "args": `+typing(begin)+`}, {"tool": "ax_type", "args": `+typing(end)+`},
					{"tool": "ax_lease", "args": {"app": "mousepad", "release": true}}]}`)
				assert.Check(w.t, is.Contains(said, "4 of 4 steps done"))
			}
		})
	}
	writing.Wait()
	text := w.text()
	for _, line := range want {
		assert.Check(w.t, is.Contains(text, line), "a line is torn")
	}
}

// text returns the text in the editor.
func (w *sharedEditor) text() string {
	return w.call(w.ben, "ax_get_value", `{"app": "mousepad", "query": "role:textbox"}`)
}

// waits: the second agent is refused with the name of the first, still reads, waits for the end of the
// lease, and goes on. The lease of a session that ends is free at once.
func (w *sharedEditor) waits() {
	w.t.Helper()
	assert.Check(w.t, !strings.Contains(w.call(w.ann, "ax_type", typing("ann is here. ")), "RATE_LIMITED"))
	refused := w.call(w.ben, "ax_type", typing("ben barges in. "))
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "tasks", "several-agents.md"))
	assert.NilError(w.t, err)
	texts := fence.FindAllStringSubmatch(string(page), -1)
	texts = slices.DeleteFunc(texts, func(block []string) bool { return block[1] != "text" })
	assert.Check(w.t, prints(texts[0][3]).MatchString(refused), "the page of the docs shows not %s", refused)
	assert.Check(w.t, !strings.Contains(w.text(), "barges"), "a refused act was done")
	shown, err := w.command(w.t.Context(), "running").CombinedOutput()
	assert.NilError(w.t, err)
	assert.Check(w.t, prints(texts[1][3]).Match(shown), "the page of the docs shows not %s", shown)
	w.call(w.ben, "ax_connect", `{"app": "mousepad"}`)
	assert.Check(w.t, is.Contains(w.call(w.ben, "ax_session_info", `{}`), `"leases":[{`))
	person, err := w.command(w.t.Context(), "exec", "desktop", "ax_type", typing("the person is free. ")).CombinedOutput()
	assert.NilError(w.t, err, string(person))
	waited := make(chan string, 1)
	go func() { waited <- w.lease(w.ben, `, "wait_seconds": 60`) }()
	assert.Check(w.t, !strings.Contains(w.call(w.ann, "ax_type", typing("ann goes on. ")), "RATE_LIMITED"))
	assert.Check(w.t, is.Contains(w.lease(w.ann, `, "release": true`), "1 of 1 step done"))
	assert.Check(w.t, is.Contains(<-waited, "1 of 1 step done"))
	assert.Check(w.t, !strings.Contains(w.call(w.ben, "ax_type", typing("ben came. ")), "RATE_LIMITED"))
	assert.Check(w.t, is.Contains(w.text(), "ann is here. the person is free. ann goes on. ben came. "))
	assert.Check(w.t, is.Contains(w.call(w.ann, "ax_type", typing("no. ")), "mcp:ben ("))
	w.ben, w.ann = w.ann, w.ben
	assert.NilError(w.t, w.ann.Close())
	for end := time.Now().Add(20 * time.Second); strings.Contains(w.call(w.ben, "ax_type", typing("ann is back. ")), "RATE_LIMITED"); {
		assert.Assert(w.t, time.Now().Before(end), "the lease of an ended session stays")
	}
}

// asks: the person gives the program to the other agent, in the gateway's window. The first agent is told
// at its next act.
func (w *sharedEditor) asks() {
	w.t.Helper()
	said := make(chan string, 1)
	go func() { said <- w.lease(w.ben, `, "ask": true`) }()
	awaitTitle(w.t, w.screen, "AAI Gateway")
	got := ""
	for got == "" {
		select {
		case got = <-said:
		case <-time.After(2 * time.Second): // an answer before the question can be read does not count
			press := exec.CommandContext(w.t.Context(), "xdotool", "key", "--delay", "50", "Left", "space")
			press.Env = w.screen.Env
			assert.NilError(w.t, press.Run())
		}
	}
	assert.Assert(w.t, is.Contains(got, `"given":true`))
	assert.Check(w.t, is.Contains(w.call(w.ann, "ax_type", typing("no. ")), "when the person let it"))
	assert.Check(w.t, !strings.Contains(w.call(w.ben, "ax_type", typing("allowed. ")), "RATE_LIMITED"))
}
