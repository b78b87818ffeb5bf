package pages

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
)

// withToken sends a token with each request.
type withToken string

func (t withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(t))
	return http.DefaultTransport.RoundTrip(r)
}

// TestPagesInFiveSessions does tasks in five isolated sessions at once, each of a conversation of one gateway over HTTP.
// Each agent starts a browser in its session itself.
func TestPagesInFiveSessions(t *testing.T) {
	w, isFull := newWorld(t, build(t)), os.Getenv("AAI_PAGES") == "all"
	const token = "a-token-of-this-test-alone"
	apps, bin := filepath.Join(t.TempDir(), "share"), t.TempDir()
	assert.NilError(t, os.MkdirAll(filepath.Join(apps, "applications"), 0o700))
	config := filepath.Join(w.Home, ".aai", "config.json")
	text, err := os.ReadFile(config)
	assert.NilError(t, err)
	for n := range 5 {
		text = bytes.Replace(text, []byte(`{"app": "desktop",`), fmt.Appendf(nil, `{"app": "desktop/page%d", "tools": ["*", "run"], "caller": "*", "expires": "2100-01-01T00:00:00Z"}, {"app": "desktop",`, n), 1)
	}
	assert.NilError(t, os.WriteFile(config, text, 0o600))
	address := serveIsolated(t, w, token, apps)

	tasks := make(chan *task)
	var agents sync.WaitGroup
	var mu sync.Mutex
	right, faults := 0, []string{}
	for n := range 5 {
		agents.Go(func() {
			for k := range tasks {
				if fault := doIsolated(t, w, k, n, address, token, apps, bin); fault == "" {
					mu.Lock()
					right++
					mu.Unlock()
				} else {
					mu.Lock()
					faults = append(faults, k.page+" "+k.goal+": "+fault)
					mu.Unlock()
				}
			}
		})
	}
	all := 0
	for i, k := range readTasks(t) {
		if (i%2 == 0 || isFull) && !k.needsLibrary && !strings.Contains(fmt.Sprint(k.gateway), "upload") {
			all++
			tasks <- &k
		}
	}
	close(tasks)
	agents.Wait()
	t.Logf("%d of %d tasks are right", right, all)
	assert.Check(t, all >= 5)
	t.Log(strings.Join(faults, "\n"))
	assert.Check(t, right*4 >= all*3, "the other ways do more tasks right")
}

// serveIsolated starts the gateway over HTTP, and returns its address.
func serveIsolated(t *testing.T, w *world, token, apps string) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	_, port, _ := net.SplitHostPort(free.Addr().String())
	assert.NilError(t, free.Close())
	server := exec.CommandContext(t.Context(), w.gateway, "mcp", "serve", "--profile", "desktop", "--session", "isolated", "--http", "--port", port)
	server.Env, server.Dir, server.Stderr = append(w.Env, "AAI_HTTP_TOKEN="+token, "XDG_DATA_DIRS="+apps+":/usr/share"), w.Home, t.Output()
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	assert.NilError(t, server.Start())
	t.Cleanup(func() { _ = server.Wait() })
	address := "http://127.0.0.1:" + port + "/mcp"
	w.eventually(t, "the gateway listens", func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		return err == nil && conn.Close() == nil
	})
	return address
}

// doIsolated does a task in a session of its own, and returns the fault.
func doIsolated(t *testing.T, w *world, k *task, n int, address, token, apps, bin string) string {
	t.Helper()
	mine := *w
	mine.site = newSite(t)
	name := fmt.Sprintf("page%d", n)
	script := fmt.Sprintf("#!/bin/sh\nexec chromium --no-sandbox --force-renderer-accessibility --no-first-run --window-size=900,700 %s\n", mine.site.begin(k))
	assert.NilError(t, os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700))
	entry := fmt.Sprintf("[Desktop Entry]\nType=Application\nName=%s\nExec=%s\n", name, filepath.Join(bin, name))
	assert.NilError(t, os.WriteFile(filepath.Join(apps, "applications", name+".desktop"), []byte(entry), 0o600))

	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: address, HTTPClient: &http.Client{Transport: withToken(token)}}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		return err.Error()
	}
	a := &agent{session: session}
	defer session.Close() //nolint:errcheck // the desktop ends with it
	cost := new(outcome)
	if fault := a.call(t, call{"ax_connect", map[string]any{"app": name, "launch": true}}, "", cost); fault != "" {
		return fault
	}
	heading := regexp.QuoteMeta(heading(t, k.page))
	isRead := func() bool {
		_ = a.call(t, call{tool: "ax_get_tree"}, "chromium", cost)
		return regexp.MustCompile(heading).MatchString(a.last)
	}
	if !becomes(patience, isRead) {
		return "the page cannot be read: " + a.last
	}
	fault := ""
	for _, c := range k.gateway {
		if fault = a.call(t, c, "chromium", cost); fault != "" && !a.isDoubtful() {
			break
		}
	}
	if becomes(effectWait, func() bool { return mine.site.difference(k) == "" }) {
		return ""
	}
	return mine.site.difference(k) + "; " + fault + "\nthe last answer: " + a.last
}

// becomes waits until a condition holds, and reports whether it does.
func becomes(limit time.Duration, is func() bool) bool {
	for end := time.Now().Add(limit); !is(); time.Sleep(pollInterval) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
