package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

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
	if found == nil {
		c.t.Fatalf("expected a task, got %s", line)
	}
	return found[1]
}

func (c *tasker) answer(method, params string) message {
	c.t.Helper()
	var m message
	if err := json.Unmarshal([]byte(c.next(c.request(method, params))), &m); err != nil {
		c.t.Fatal(err)
	}
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
	if !strings.Contains(result.Content[0].Text, "aai-gateway consent grant "+notes+" "+addTool) {
		t.Errorf("the result does not say what to do: %+v", result)
	}
	status := c.next(notification)
	if !strings.Contains(status, `"status":"failed"`) || !strings.Contains(status, "CONSENT_REQUIRED") {
		t.Errorf("the client was told %s", status)
	}
	w.ranNothing(t)
	received := w.journal.asked()
	if got := w.journal.outcomes(addTool); len(received) != 1 || received[0].Caller.String() != "mcp:tester" || got[aai.ConsentRequired] != 1 {
		t.Errorf("the journal has %+v and %v", received, got)
	}
}

// TestConsentWithinATask checks that a consent in a task is valid as without one.
func TestConsentWithinATask(t *testing.T) {
	w := newWorld(t, withConsentGate(grantsIn(t)))
	c := newTasker(w, t)
	c.open("2025-11-25", elicitationCapability)
	id := c.begin(asTask(addTool, `{"text":"x"}`))
	var asked message
	if err := json.Unmarshal([]byte(c.next(question)), &asked); err != nil {
		t.Fatal(err)
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, asked.ID, chose("once")))
	c.answer("tasks/result", about(id)).result(t).succeeds(t)
	if len(w.added) != 1 {
		t.Error("the call did not run")
	}
	received := w.journal.asked()
	if len(received) != 2 || received[1].Parent != received[0].Call {
		t.Errorf("the journal has %+v", received)
	}
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
		if found == nil {
			t.Fatalf("got %s", line)
		}
		told, known := named[found[1]]
		if news := strings.Contains(line, "notifications/tasks/status"); news != known || told {
			t.Fatalf("this came too early or twice: %s", line)
		}
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
	if _, err := c.hangUp(); err != nil {
		t.Error(err)
	}
	w.stopped(t)
	if got := w.journal.outcomes(blockTool); got[aai.AutomationFailed] != 1 {
		t.Errorf("the journal has %v", got)
	}
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
		if m := b.answer(method, about(id)); m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("%s gave %+v", method, m)
		}
	}
	if m := b.answer("tasks/list", `{}`); string(m.Result) != `{"tasks":[]}` {
		t.Errorf("the list of the other is %s", m.Result)
	}
	if m := a.answer("tasks/get", about(id)); !strings.Contains(string(m.Result), `"working"`) {
		t.Errorf("the task is %s", m.Result)
	}
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
	if err := json.Unmarshal(c.answer("tools/list", `{}`).Result, &list); err != nil {
		t.Fatal(err)
	}
	var offered []string
	for _, tool := range list.Tools {
		if tool.Execution != nil {
			offered = append(offered, tool.Name+" "+tool.Execution.TaskSupport)
		}
	}
	if strings.Join(offered, ", ") != "aai_exec optional, slow_one optional" {
		t.Errorf("as tasks there are %q", offered)
	}
	for name, code := range map[string]int{
		"slow_one": 0, "org.example.Direct:slow_one": 0, notes + ":say": 0, "aai:exec": 0,
		"quick_one": -32601, "app:" + notes: -32601, "org.example.Direct:quick_one": -32601, "nothing": -32602,
	} {
		m := c.answer("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{},"task":{}}`, name))
		if m.Error == nil && code != 0 || m.Error != nil && m.Error.Code != code {
			t.Errorf("%s gave %+v %+v", name, m, m.Error)
		}
	}
}
