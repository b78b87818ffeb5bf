package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestArgumentsArriveWhole checks that arguments of every size arrive unchanged, by every way.
func TestArgumentsArriveWhole(t *testing.T) {
	sizes := []int{1, 1000, 1025, 70_000, 1_000_000}
	check := func(t *testing.T, w *world, size int) {
		t.Helper()
		text, _ := (<-w.added).Args["text"].(string)
		assert.Check(t, is.Equal(text, strings.Repeat("x", size)), "of %d bytes there came %d", size, len(text))
	}
	args := func(size int) string { return fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", size)) }
	t.Run("stdio", func(t *testing.T) {
		w := newWorld(t)
		c := w.dial(t).open(oldEra, `{}`)
		for _, size := range sizes {
			c.ask("tools/call", exec(addTool, args(size))).result(t).succeeds(t)
			check(t, w, size)
			c.ask("tools/call", `{"arguments":`+args(size)+`,"name":"`+notes+`:add"}`).result(t).succeeds(t)
			check(t, w, size)
			quoted, _ := json.Marshal(args(size)) // some models send a string
			c.ask("tools/call", exec(addTool, string(quoted))).result(t).succeeds(t)
			check(t, w, size)
		}
	})
	t.Run("HTTP", func(t *testing.T) {
		s := newWorld(t).serve(t)
		for _, c := range []*caller{s.as("").open(t), s.as("").modern()} {
			for _, size := range sizes {
				c.ask(t, "tools/call", exec(addTool, args(size))).result(t).succeeds(t)
				check(t, s.world, size)
			}
		}
	})
	t.Run("SSE", func(t *testing.T) {
		s := newWorld(t).serve(t, withSSE)
		client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "0"}, nil)
		session, err := client.Connect(t.Context(), &mcp.SSEClientTransport{
			Endpoint: strings.TrimSuffix(s.url, "/mcp") + "/sse", HTTPClient: &http.Client{Transport: s.client.Transport},
		}, nil)
		assert.NilError(t, err)
		defer session.Close() //nolint:errcheck // the test is over
		for _, size := range sizes {
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "aai_exec", Arguments: map[string]any{
				"app": notes, "tool": addTool, "args": map[string]any{"text": strings.Repeat("x", size)},
			}})
			assert.NilError(t, err, "%+v", result)
			assert.Assert(t, !result.IsError, "the call gave %+v, %v", result, err)
			check(t, s.world, size)
		}
	})
}

// TestWhatARefusedCallCosts checks that a call that is refused for its size takes twice the memory of
// its message, for every content, and is recorded.
func TestWhatARefusedCallCosts(t *testing.T) {
	const size = 8 << 20
	for name, filling := range map[string]string{
		"text": `"` + strings.Repeat("x", size) + `"`, "lists": "[" + strings.Repeat("[],", size/3) + "0]",
		"objects": "[" + strings.Repeat(`{"a":0},`, size/8) + "0]", "escapes": `"` + strings.Repeat(`\u0061`, size/6) + `"`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := w.dial(t).open(oldEra, `{}`)
			c.lives()
			params := exec(addTool, `{"password":`+filling+`}`)
			line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":%s}`+"\n", params)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _ = c.in.Write(line)
			m := c.receive()
			runtime.ReadMemStats(&after)
			m.result(t).fails(t, string(aai.InvalidParams))
			if took := int(after.TotalAlloc - before.TotalAlloc); took > 5*len(line)/2 {
				t.Errorf("%.1f times the message", float64(took)/float64(len(line)))
			}
			n := w.journal.outcomes(addTool)[aai.InvalidParams]
			assert.Check(t, is.Equal(n, 1), "%d are on record", n)
		})
	}
}
