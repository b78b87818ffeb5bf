package tasks

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"
)

// TestTransitions checks for events in any order that a task makes only the protocol's transitions,
// that the client is notified of its status, and that its memory is counted correctly.
func TestTransitions(t *testing.T) {
	may := map[status][]status{
		working:       {inputRequired, completed, failed, cancelled},
		inputRequired: {working, completed, failed, cancelled},
	}
	rapid.Check(t, func(rt *rapid.T) {
		l := New(Config{Limits: Limits{TTL: time.Hour, Bytes: 1000}})
		defer l.End(0)
		task := newTask(l.newCallContext(context.Background()), "o", core, time.Hour)
		now := working
		task.notify = func(message json.RawMessage) {
			var m struct{ Params struct{ Status status } }
			assert.NilError(rt, json.Unmarshal(message, &m))
			next := m.Params.Status
			assert.Check(rt, slices.Contains(may[now], next), "it went from %s to %s", now, next)
			now = m.Params.Status
		}
		assert.NilError(rt, l.store.add(task))
		asking, settled := 0, false
		steps := map[string]func(*rapid.T){
			"ask":    func(*rapid.T) { l.store.addOpenRequests(task, +1); asking++ },
			"cancel": func(*rapid.T) { _, _ = l.cancelCore(task) },
			"answer": func(st *rapid.T) {
				if asking == 0 {
					st.Skip()
				}
				l.store.addOpenRequests(task, -1)
				asking--
			},
			"settle": func(st *rapid.T) {
				if settled {
					st.Skip()
				}
				settled = true
				k := storedResult{result: make([]byte, rapid.IntRange(1, 2000).Draw(st, "size")), isError: rapid.Bool().Draw(st, "error")}
				if rapid.Bool().Draw(st, "failure") {
					k = storedResult{failure: &jsonrpc.Error{Message: "no"}}
				}
				l.store.finish(task, k)
			},
			"drop": func(*rapid.T) { l.store.drop(task) },
			"": func(st *rapid.T) {
				l.store.mu.Lock()
				defer l.store.mu.Unlock()
				if _, there := l.store.byID[task.id]; there && task.status != now {
					st.Errorf("the task is %s, and the client was told %s", task.status, now)
				}
				select {
				case <-task.finished:
					assert.Check(st, task.status.isFinal(), "it is settled, but %s", task.status)
				default:
					assert.Check(st, !task.status.isFinal(), "it is not settled, but %s", task.status)
				}
				assert.Check(st, is.Equal(l.store.bytes, len(task.result)), "%d bytes are counted, but there are %d", l.store.bytes, len(task.result))
			},
		}
		rt.Repeat(steps)
	})
}
