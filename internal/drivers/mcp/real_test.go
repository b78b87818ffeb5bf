package mcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/mcp"
	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

// realServer returns a third-party server, installed by scripts/need-servers.
func realServer(t *testing.T, name string, args ...string) *aai.MCPRecipe {
	t.Helper()
	modules, err := filepath.Abs("../../../.cache/servers/node_modules")
	assert.NilError(t, err)
	// The tests' own one: a distribution's may be too old.
	node, err := filepath.Glob(filepath.Join(modules, "node-linux-*", "bin", "node"))
	assert.NilError(t, err)
	testkit.Installed(t, len(node) != 0, "install the servers: scripts/need-servers")
	program, err := filepath.EvalSymlinks(filepath.Join(modules, ".bin", name))
	assert.NilError(t, err)
	return &aai.MCPRecipe{Command: node[0], Args: append([]string{program}, args...)}
}

func (w *world) must(t *testing.T, app, tool string, args map[string]any) *aai.Result {
	t.Helper()
	result, e := w.call(t, app, tool, args)
	if e != nil {
		t.Fatalf("%s %v: %v %s %v", tool, args, e, e.Hint, e.Err)
	}
	return result
}

// The files confirm the file server's reads and writes.
func TestFilesystemServer(t *testing.T) {
	w := newWorld(t)
	folder, err := filepath.EvalSymlinks(t.TempDir())
	assert.NilError(t, err)
	app := w.add(t, realServer(t, "mcp-server-filesystem", folder))
	w.start(t, app)
	path := filepath.Join(folder, "a.txt")
	w.must(t, app, "write_file", map[string]any{"path": path, "content": "first ✓\nsecond"})
	b, err := os.ReadFile(path)
	assert.NilError(t, err, "%q", b)
	assert.Equal(t, string(b), "first ✓\nsecond", "%q", b)
	result := w.must(t, app, "read_text_file", map[string]any{"path": path})
	b, _ = json.Marshal(result.Data)
	assert.Check(t, is.Contains(result.Text+string(b), `first ✓\nsecond`), "%+v", result)
	e := w.fails(t, aai.AutomationFailed, app, "read_text_file", map[string]any{"path": "/etc/passwd"})
	assert.Assert(t, is.Contains(e.Message, "Access denied"), "%+v", e)
	assert.Equal(t, e.Delivery, aai.Delivered, "%+v", e)
	_ = w.fails(t, aai.InvalidParams, app, "read_text_file", map[string]any{"pat": 1})
}

// A server with memory keeps it over two calls; it is one process.
func TestMemoryServer(t *testing.T) {
	w := newWorld(t)
	r := realServer(t, "mcp-server-memory")
	r.Env = []string{"MEMORY_FILE_PATH"}
	file := filepath.Join(t.TempDir(), "memory.jsonl")
	t.Setenv("MEMORY_FILE_PATH", file)
	app := w.add(t, r)
	w.start(t, app)
	w.must(t, app, "create_entities", map[string]any{"entities": []any{map[string]any{"name": "Ann", "entityType": "person", "observations": []any{"likes tea"}}}})
	result := w.must(t, app, "search_nodes", map[string]any{"query": "tea"})
	if b, _ := json.Marshal(result.Data); !strings.Contains(string(b), `"Ann"`) {
		t.Errorf("%s %s", b, result.Text)
	}
	b, err := os.ReadFile(file)
	assert.NilError(t, err, b)
	assert.Assert(t, is.Contains(string(b), "likes tea"), b)
}

// All features of the protocol: pictures, resources, prompts, structured content, progress.
func TestEverythingServer(t *testing.T) {
	w := newWorld(t)
	app := w.add(t, realServer(t, "mcp-server-everything"))
	w.start(t, app)
	if r := w.must(t, app, "echo", map[string]any{"message": "über"}); r.Text != "Echo: über" {
		t.Errorf("%+v", r)
	}
	if r := w.must(t, app, "get-tiny-image", nil); len(r.Images) != 1 || r.Images[0].MIME != "image/png" {
		t.Errorf("%d images, %s", len(r.Images), r.Text)
	}
	r := w.must(t, app, "get-structured-content", map[string]any{"location": "New York"})
	if data, ok := r.Data.(map[string]any); !ok || data["temperature"] == nil || r.Text != "" {
		t.Errorf("%+v", r)
	}
	r = w.must(t, app, "simulate-research-query", map[string]any{"topic": "tea"})
	assert.Check(t, is.Contains(r.Text, "# Research Report: tea"), "a tool that runs as a task: %+v", r)
	listed := w.must(t, app, "resource_list", nil)
	b, _ := json.Marshal(listed.Data)
	var data struct {
		Resources []struct{ URI string }
		Templates []struct {
			Template string `json:"uri_template"`
		}
	}
	err := json.Unmarshal(b, &data)
	assert.NilError(t, err, b)
	assert.Assert(t, len(data.Resources) != 0, b)
	assert.Assert(t, len(data.Templates) != 0, b)
	r = w.must(t, app, "resource_read", map[string]any{"uri": data.Resources[0].URI})
	assert.Check(t, strings.HasPrefix(r.Text, "The resource "+data.Resources[0].URI+":\n"), r.Text)
	_, e := w.call(t, app, "resource_read", map[string]any{"uri": "demo://nothing/here"})
	assert.Assert(t, e != nil, "%+v", e)
	assert.Equal(t, e.Delivery, aai.Delivered, "%+v", e)
	prompts := w.must(t, app, "prompt_list", nil)
	b, _ = json.Marshal(prompts.Data)
	assert.Check(t, is.Contains(string(b), `"args-prompt"`), b)
	r = w.must(t, app, "prompt_get", map[string]any{"name": "args-prompt", "arguments": map[string]any{"city": "Oslo"}})
	assert.Assert(t, strings.HasPrefix(r.Text, "user: "), r.Text)
	assert.Assert(t, is.Contains(r.Text, "Oslo"))
	for _, tool := range w.Catalog.Apps()[0].Tools {
		assert.Check(t, tool.Implementation.Unavailable == nil, "%s %v", tool.Name, tool.Implementation.Unavailable)
	}
}

// twelveServers returns some of the most used servers, ten of npm and two Go modules. None needs
// the web for its listing.
func twelveServers(t *testing.T) map[string]*aai.MCPRecipe {
	secret := func(r *aai.MCPRecipe, names ...string) *aai.MCPRecipe {
		for _, name := range names {
			t.Setenv(name, "not-a-key")
		}
		r.Env = names
		return r
	}
	return map[string]*aai.MCPRecipe{
		"everything": realServer(t, "mcp-server-everything"),
		"filesystem": realServer(t, "mcp-server-filesystem", t.TempDir()),
		"memory":     realServer(t, "mcp-server-memory"),
		"thinking":   realServer(t, "mcp-server-sequential-thinking"),
		"playwright": realServer(t, "playwright-mcp"),
		"devtools":   realServer(t, "chrome-devtools-mcp"),
		"context7":   realServer(t, "context7-mcp"),
		"notion":     secret(realServer(t, "notion-mcp-server"), "NOTION_TOKEN"),
		"firecrawl":  secret(realServer(t, "firecrawl-mcp"), "FIRECRAWL_API_KEY"),
		"brave":      secret(realServer(t, "brave-search-mcp-server"), "BRAVE_API_KEY"),
		"gopls":      moduleServer(t, "gopls", "mcp"),
		"grafana":    moduleServer(t, "mcp-grafana"),
	}
}

// Every tool of real servers is callable: no schema or name is rejected.
func TestTwelveServers(t *testing.T) {
	w := newWorld(t)
	whole := 0
	for name, r := range twelveServers(t) {
		app := w.add(t, r)
		w.start(t, app)
		tools := w.Catalog.Apps()[0].Tools
		for _, tool := range tools {
			assert.Check(t, tool.Implementation.Unavailable == nil, "%s %s %v", name, tool.Name, tool.Implementation.Unavailable)
		}
		b, err := os.ReadFile(filepath.Join(w.folder, "mcp", aai.WireName("app:"+app)+".json"))
		assert.NilError(t, err)
		var kept struct{ Tools []any }
		assert.NilError(t, json.Unmarshal(b, &kept))
		b, _ = json.Marshal(kept)
		n := tokencount.Count(t, string(b))
		t.Logf("%s: %d tools, %d tokens", name, len(tools), n)
		whole += n
	}
	t.Logf("in all %d tokens", whole)
}

// moduleServer returns a third-party server that is a Go module, built by scripts/need-servers.
func moduleServer(t *testing.T, name string, args ...string) *aai.MCPRecipe {
	t.Helper()
	program, err := filepath.Abs(filepath.Join("../../../.cache/bin", name))
	assert.NilError(t, err)
	_, err = os.Stat(program)
	testkit.Installed(t, err == nil, "install the servers: scripts/need-servers")
	return &aai.MCPRecipe{Command: program, Args: args}
}

// Go's own server, gopls, reads the code in its working directory from the descriptor.
func TestGoplsServer(t *testing.T) {
	w := newWorld(t)
	r := moduleServer(t, "gopls", "mcp")
	r.Dir = t.TempDir()
	for name, text := range map[string]string{
		"go.mod":   "module example.org/hello\n\ngo 1.26\n",
		"hello.go": "package hello\n\n// Hello greets.\nfunc Hello() string { return \"hello\" }\n",
		"twice.go": "package hello\n\nfunc twice() string { return Hello() + Hello() }\n",
	} {
		assert.NilError(t, os.WriteFile(filepath.Join(r.Dir, name), []byte(text), 0o600))
	}
	app := w.add(t, r)
	w.start(t, app)
	assert.Check(t, is.Contains(w.must(t, app, "go_search", map[string]any{"query": "hello"}).Text, "Hello (Function in `"+filepath.Join(r.Dir, "hello.go")+"`)"))
	got := w.must(t, app, "go_symbol_references", map[string]any{"file": filepath.Join(r.Dir, "hello.go"), "symbol": "Hello"})
	assert.Assert(t, is.Contains(got.Text, "twice.go"))
	assert.Assert(t, strings.Count(got.Text, "Hello()") >= 2, got.Text)
	assert.Assert(t, got.UntrustedSource != "")
	e := w.fails(t, aai.AutomationFailed, app, "go_symbol_references", map[string]any{"file": filepath.Join(r.Dir, "hello.go"), "symbol": "Nobody"})
	assert.Equal(t, e.Delivery, aai.Delivered, "%+v", e)
}

// startGrafana starts the part of a Grafana that its server needs for a dashboard search.
func startGrafana(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/api/search" {
			_, _ = fmt.Fprint(w, "{}")
			return
		}
		_, _ = fmt.Fprintf(w, `[{"id": 1, "uid": "d1", "title": "Rain in Oslo, for %s", "type": "dash-db", "url": "/d/d1"}]`, r.URL.Query().Get("query"))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A third-party server of the newer version, with another SDK: mcp-grafana, over both transports.
// Its input shows the version.
func TestModernGrafanaServer(t *testing.T) {
	for _, over := range []string{"stdio", "HTTP"} {
		t.Run(over, func(t *testing.T) {
			w := newWorld(t, func(c *mcp.Config) { c.Client = http.DefaultClient })
			t.Setenv("GRAFANA_URL", startGrafana(t))
			r := moduleServer(t, "mcp-grafana")
			seen := filepath.Join(w.folder, "seen")
			if over == "stdio" {
				r = &aai.MCPRecipe{Command: "/bin/sh", Args: []string{"-c", `tee "$0" | "$1"`, seen, r.Command}, Env: []string{"GRAFANA_URL"}}
			} else {
				r = &aai.MCPRecipe{URL: listens(t, r.Command, seen)}
			}
			app := w.add(t, r)
			w.start(t, app)
			got := w.must(t, app, "search_dashboards", map[string]any{"query": "rain"})
			assert.Check(t, is.Contains(got.Text+fmt.Sprint(got.Data), "Rain in Oslo, for rain"), "%+v", got)
			b, err := os.ReadFile(seen)
			assert.NilError(t, err, b)
			assert.Assert(t, strings.Count(string(b), `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`) >= 3, "it was asked %s, %v", b, err)
			assert.Assert(t, !strings.Contains(string(b), `"initialize"`), "it was asked %s, %v", b, err)
		})
	}
}

// listens starts a server over HTTP behind a recorder of its requests, and returns the address.
func listens(t *testing.T, command, seen string) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	address := free.Addr().String()
	_ = free.Close()
	cmd := exec.Command(command, "-t", "streamable-http", "-address", address)
	assert.NilError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	eventually(t, "the server listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	next := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
	next.FlushInterval = -1
	var mu sync.Mutex
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		f, err := os.OpenFile(seen, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, _ = f.Write(body)
			_ = f.Close()
		}
		mu.Unlock()
		r.Body, r.Host = io.NopCloser(bytes.NewReader(body)), address
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return front.URL + "/mcp"
}
