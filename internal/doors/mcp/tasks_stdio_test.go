package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// asTask returns the parameters of a call of aai_exec as a task.
func asTask(tool, args string) string {
	return strings.TrimSuffix(exec(tool, args), "}") + `,"task":{}}`
}

func newTasker(w *world, t *testing.T) *tasker {
	return &tasker{wire: w.dial(t), world: w, waiting: make(map[string][]string)}
}

// begin makes a task and returns its id.
func (c *tasker) begin(params string) string {
	c.t.Helper()
	line := c.next(c.request("tools/call", params))
	found := taskID.FindStringSubmatch(line)
	assert.Assert(c.t, found != nil, "expected a task, got %s", line)
	return found[1]
}

func (c *tasker) answer(method, params string) message {
	c.t.Helper()
	var m message
	assert.NilError(c.t, json.Unmarshal([]byte(c.next(c.request(method, params))), &m))
	return m
}

func about(id string) string { return fmt.Sprintf(`{"taskId":%q}`, id) }

// TestATaskIsAskedAboutAndRecordedLikeAnyCall checks that the real consent gate refuses a call in a
// task, and that the journal has it.
func TestATaskIsAskedAboutAndRecordedLikeAnyCall(t *testing.T) {
	w := newWorld(t, withConsentGate(grantsIn(t)))
	c := newTasker(w, t)
	c.open("2025-11-25", `{}`)
	id := c.begin(asTask(addTool, `{"text":"x"}`))
	result := c.answer("tasks/result", about(id)).result(t)
	result.fails(t, "CONSENT_REQUIRED")
	assert.Check(t, is.Contains(result.Content[0].Text, "aai-gateway consent grant "+notes+" "+addTool), "the result does not say what to do: %+v", result)
	status := c.next(notification)
	assert.Assert(t, is.Contains(status, `"status":"failed"`))
	assert.Assert(t, is.Contains(status, "CONSENT_REQUIRED"))
	w.ranNothing(t)
	received := w.journal.asked()
	got := w.journal.outcomes(addTool)
	assert.Assert(t, is.Len(received, 1), got)
	assert.Equal(t, received[0].Caller.String(), "mcp:tester", got)
	assert.Equal(t, got[aai.ConsentRequired], 1, got)
}

// TestConsentWithinATask checks that a consent in a task is valid as without one.
func TestConsentWithinATask(t *testing.T) {
	w := newWorld(t, withConsentGate(grantsIn(t)))
	c := newTasker(w, t)
	c.open("2025-11-25", elicitationCapability)
	id := c.begin(asTask(addTool, `{"text":"x"}`))
	var asked message
	assert.NilError(t, json.Unmarshal([]byte(c.next(question)), &asked))
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, asked.ID, chose("once")))
	c.answer("tasks/result", about(id)).result(t).succeeds(t)
	assert.Check(t, is.Equal(len(w.added), 1), "the call did not run")
	received := w.journal.asked()
	assert.Assert(t, is.Len(received, 2))
	assert.Equal(t, received[1].Parent, received[0].Call)
}

// TestNewsComesAfterTheName checks that the client gets a task's notifications only after its id, and in order.
func TestNewsComesAfterTheName(t *testing.T) {
	w := newWorld(t)
	c := w.dial(t).open("2025-11-25", `{}`)
	const calls = 50
	for range calls {
		c.request("tools/call", asTask(sayTool, `{}`))
	}
	named := map[string]bool{}
	for len(named) < calls || len(named) > 0 && !allTrue(named) {
		line := c.line()
		found := taskID.FindStringSubmatch(line)
		assert.Assert(t, found != nil, line)
		told, known := named[found[1]]
		news := strings.Contains(line, "notifications/tasks/status")
		assert.Equal(t, news, known, line)
		assert.Assert(t, !told, "this came too early or twice: %s", line)
		named[found[1]] = known
	}
}

func allTrue(of map[string]bool) bool {
	for _, is := range of {
		if !is {
			return false
		}
	}
	return true
}

// TestHangingUpEndsTasks checks that tasks end when their client disconnects, and that the journal has
// their outcome before the door returns.
func TestHangingUpEndsTasks(t *testing.T) {
	w := newWorld(t)
	c := newTasker(w, t)
	c.open("2025-11-25", `{}`)
	c.begin(asTask(blockTool, `{}`))
	await(t, w.entered, "the tool does not run")
	_, err := c.hangUp()
	assert.Check(t, err)
	w.stopped(t)
	got := w.journal.outcomes(blockTool)
	assert.Check(t, is.Equal(got[aai.AutomationFailed], 1), got)
}

// TestADoorThatMustCloseEndsTasks checks that the door closes although a task's work does not stop.
func TestADoorThatMustCloseEndsTasks(t *testing.T) {
	w := newWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	c := &tasker{wire: w.dialIn(t, ctx), world: w, waiting: make(map[string][]string)}
	c.open("2025-11-25", `{}`)
	c.begin(asTask(blockTool, `{}`))
	await(t, w.entered, "the tool does not run")
	stop()
	w.stopped(t)
	_, _ = c.rest()
}

// TestTasksOfTwoClients checks that two clients of one door do not see each other's tasks.
func TestTasksOfTwoClients(t *testing.T) {
	w := newWorld(t)
	a, b := newTasker(w, t), newTasker(w, t)
	a.open("2025-11-25", `{}`)
	b.open("2025-11-25", `{}`)
	id := a.begin(asTask(blockTool, `{}`))
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		m := b.answer(method, about(id))
		assert.Assert(t, m.Error != nil, "%s gave %+v", method, m)
		assert.Equal(t, m.Error.Code, -32602, "%s %+v", method, m)
	}
	m := b.answer("tasks/list", `{}`)
	assert.Check(t, is.Equal(string(m.Result), `{"tasks":[]}`), "the list of the other is %s", m.Result)
	m = a.answer("tasks/get", about(id))
	assert.Check(t, is.Contains(string(m.Result), `"working"`), m.Result)
}

// TestWhichToolsAreOfferedAsTasks checks that only slow tools support tasks, by each of their names,
// and that none requires them.
func TestWhichToolsAreOfferedAsTasks(t *testing.T) {
	w := newWorld(t)
	quick, slow := tool("quick_one", aai.Reads, nil), tool("slow_one", aai.Reads, nil)
	done := func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{Text: "done"}, nil }
	quick.Run, quick.Limits.Timeout = done, 10*time.Second
	slow.Run, slow.Limits.Timeout = done, time.Minute
	direct := &aai.App{ID: "org.example.Direct", Name: "Direct", Digest: "d1", Tools: []*aai.Tool{quick, slow}}
	w.catalog.apps = append(w.catalog.apps, direct)
	w.door = door.New(door.Config{
		Gateway: &gateway.Gateway{Catalog: w.catalog, Gates: []aai.Gate{w}, Journal: w.journal}, DirectApps: []string{direct.ID},
	})
	c := newTasker(w, t)
	c.open("2025-11-25", `{}`)
	var list struct {
		Tools []struct {
			Name      string
			Execution *struct{ TaskSupport string }
		}
	}
	assert.NilError(t, json.Unmarshal(c.answer("tools/list", `{}`).Result, &list))
	var offered []string
	for _, tool := range list.Tools {
		if tool.Execution != nil {
			offered = append(offered, tool.Name+" "+tool.Execution.TaskSupport)
		}
	}
	assert.Check(t, is.Equal(strings.Join(offered, ", "), "aai_exec optional, slow_one optional"), "as tasks there are %q", offered)
	for name, code := range map[string]int{
		"slow_one": 0, "org.example.Direct:slow_one": 0, notes + ":say": 0, "aai:exec": 0,
		"quick_one": -32601, "app:" + notes: -32601, "org.example.Direct:quick_one": -32601, "nothing": -32602,
	} {
		m := c.answer("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{},"task":{}}`, name))
		assert.Check(t, m.Error != nil || code == 0, "%s gave %+v %+v", name, m, m.Error)
		assert.Check(t, m.Error == nil || m.Error.Code == code, "%s gave %+v %+v", name, m, m.Error)
	}
}
