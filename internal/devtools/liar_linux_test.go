package devtools

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestLiars lets programs listen that are no browsers. Looking for browsers goes on, and they are never connected.
func TestLiars(t *testing.T) {
	const path = browserPath + "0123456789abcdef"
	speak := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != path {
				_, _ = fmt.Fprintf(w, `{"webSocketDebuggerUrl": "ws://%s%s"}`, r.Host, path)
				return
			}
			socket, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			for socket.Write(r.Context(), websocket.MessageText, []byte(text)) == nil {
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		isFound bool
	}{
		"garbage":            {speak("hello"), true},
		"events without end": {speak(`{"method":"Target.targetCreated","params":{"targetInfo":7}}`), true},
		"answers to nobody":  {speak(`{"id":99,"result":{}}`), true},
		"no WebSocket": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(w, `{"webSocketDebuggerUrl": "ws://x%s"}`, path)
		}, true},
		"another path": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprint(w, `{"webSocketDebuggerUrl": "ws://evil.example/devtools/browser/../../x"}`)
		}, false},
		"a page without end": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write(make([]byte, 1<<16))
			}
		}, false},
		"nothing": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.handler)
			t.Cleanup(server.CloseClientConnections)
			address, err := url.Parse(server.URL)
			assert.NilError(t, err)
			port, err := strconv.Atoi(address.Port())
			assert.NilError(t, err)
			program := exec.CommandContext(t.Context(), "/bin/sh", "-c", "sleep 1000; true", "liar", "--remote-debugging-port="+address.Port())
			program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
			assert.NilError(t, program.Start())
			t.Cleanup(func() { _ = syscall.Kill(-program.Process.Pid, syscall.SIGKILL); _ = program.Wait() })
			var liar Endpoint
			for _, e := range Find(func(string) string { return "/nonexistent" }) {
				if e.Port == port {
					liar = e
				}
			}
			isFound := liar.Port != 0
			assert.Equal(t, isFound, c.isFound, "it is found: %t", isFound)
			if !c.isFound {
				return
			}
			want := fmt.Sprintf("sh:%d", port)
			assert.Check(t, is.Equal(liar.Key(), want), "it is called %s, expected %s", liar.Key(), want)
			b := newBrowsers(t, "", false)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			assert.Check(t, b.Connect(ctx, liar) != nil, "it is connected")
			assert.Check(t, is.Len(b.Connected(t.Context()), 0))
			allowed, err := b.Allowed(t.Context())
			assert.NilError(t, err)
			assert.Assert(t, !strings.Contains(fmt.Sprint(allowed), liar.ID()), "it is allowed: %v", err)
		})
	}
}
