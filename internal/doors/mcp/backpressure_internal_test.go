package mcp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestReadingWaitsForTheClient checks that further requests are read only after a client that is behind
// has read its answers, and that every request is answered.
func TestReadingWaitsForTheClient(t *testing.T) {
	const sent = 3 * maxUnanswered
	for name, c := range map[string]struct{ size, answered, begun int }{
		"many requests":                     {1, 1, maxUnanswered},
		"a long answer":                     {maxUnwritten, 1, 2}, // the second was read before
		"requests that wait for the client": {1, 0, sent},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lines strings.Builder
				for i := range sent {
					fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", i)
				}
				read, out := io.Pipe()
				s := newStdio(strings.NewReader(lines.String()), out)
				_, err := s.Connect(t.Context())
				assert.NilError(t, err)
				answer := func(m jsonrpc.Message) {
					text, _ := json.Marshal(strings.Repeat("x", c.size))
					assert.Check(t, s.Write(t.Context(), &jsonrpc.Response{ID: m.(*jsonrpc.Request).ID, Result: text}))
				}
				var begun atomic.Int64
				for range c.answered {
					m, err := s.Read(t.Context())
					assert.NilError(t, err)
					begun.Add(1)
					go answer(m)
					synctest.Wait()
				}
				reads := make(chan struct{})
				c.size = 1
				go func() {
					for {
						m, err := s.Read(t.Context())
						if err != nil {
							return
						}
						begun.Add(1)
						go func() { <-reads; answer(m) }()
					}
				}()
				synctest.Wait()
				n := begun.Load()
				assert.Check(t, is.Equal(n, int64(c.begun)), "%d requests are begun, expected %d", n, c.begun)
				close(reads)
				scanner := bufio.NewScanner(read)
				scanner.Buffer(nil, 2*maxUnwritten)
				for n := range sent {
					assert.Assert(t, scanner.Scan(), "only %d of %d are answered", n, sent)
				}
			})
		})
	}
}
