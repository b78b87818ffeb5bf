package main_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const lampPage = `<!doctype html><title>Lamps</title><script>
document.modelContext.registerTool({name: 'order_lamp', description: 'Order a lamp for the living room',
	inputSchema: {type: 'object', properties: {count: {type: 'integer'}}, required: ['count']}, execute: i => 'ordered ' + i.count});
</script>`

// The person connects a browser; an agent that was connected before finds and calls the tool of an open page.
func mcpToolOfAPage(t *testing.T, b programPath) {
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(out, lampPage)
	}))
	defer server.Close()
	w := &liveWorld{home: b.home(t, nil), t: t, ctx: t.Context(), changed: make(chan struct{}, 100)}
	w.env = append(w.env, "PERSON=yes", "AAI_INSECURE_STORAGE=1")
	page := "page:" + server.URL
	w.write(t, ".aai/config.json", fmt.Sprintf(`{"consent": {"preapproved": [{"app": %q, "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`, page))
	cmd := exec.Command(string(b))
	cmd.Env, cmd.Stderr = w.env, t.Output()
	var err error
	w.session, err = mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "0"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	assert.NilError(t, err)
	folder := t.TempDir()
	chromium := exec.CommandContext(context.WithoutCancel(t.Context()), "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--remote-debugging-port=0", "--user-data-dir="+folder, "--enable-features=WebMCPTesting,DevToolsWebMCPSupport", server.URL)
	chromium.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	assert.NilError(t, chromium.Start())
	defer func() {
		_ = syscall.Kill(-chromium.Process.Pid, syscall.SIGKILL)
		_ = chromium.Wait()
	}()
	name := ""
	for begun := time.Now(); name == ""; {
		said := w.run("browser", "list")
		for line := range strings.Lines(said) {
			if profile, ok := strings.CutPrefix(line, "chromium, "+folder); ok && strings.HasPrefix(profile, ", ") {
				name = folder // and not another browser of this computer
			}
		}
		assert.Assert(t, name != "" || time.Since(begun) <= patience, "no browser listens: %s", said)
	}
	w.run("browser", "connect", name)
	for begun := time.Now(); ; {
		said := w.run("browser", "list")
		if strings.Contains(said, page) {
			break
		}
		assert.Assert(t, time.Since(begun) <= patience, "the page is not listed: %s", said)
	}
	said := w.call("aai_search", map[string]any{"words": "order a lamp"})
	assert.Check(t, is.Contains(said, page+" order_lamp"), "the search finds %s", said)
	said = w.call("aai_exec", map[string]any{"app": page, "tool": "order_lamp", "args": map[string]any{"count": 2}})
	assert.Check(t, is.Contains(said, "ordered 2"), "the page says %s", said)
	said = w.call("aai_exec", map[string]any{"app": page, "tool": "order_lamp", "args": map[string]any{"count": "two"}})
	assert.Check(t, is.Contains(said, "INVALID_PARAMS: count"), "a wrong argument: %s", said)
	list, err := w.session.ListTools(t.Context(), nil)
	assert.NilError(t, err)
	for _, tool := range list.Tools {
		assert.Check(t, !strings.Contains(tool.Name, "page"), "the list of tools has %s", tool.Name)
	}
}
