package mcp_test

import (
	"bytes"
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
)

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
	_, e := w.call(t, app, "go_symbol_references", map[string]any{"file": filepath.Join(r.Dir, "hello.go"), "symbol": "Nobody"})
	assert.Assert(t, e != nil, "%+v", e)
	assert.Equal(t, e.Code, aai.AutomationFailed, "%+v", e)
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
