package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
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

// knowsTasks adds the tasks capability to a stateless request.
func knowsTasks(body string) string {
	return strings.Replace(body, `/clientCapabilities":{}`, `/clientCapabilities":{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`, 1)
}

// tell sends a request of a client with tasks, in the caller's version, and returns the answer.
func (c *caller) tell(t *testing.T, method, params, task string) (int, message) {
	t.Helper()
	body := knowsTasks(c.body(method, params))
	if task != "" {
		c.headers["Mcp-Name"] = task
	}
	response := c.do(t, httpRequest{body: body, headers: c.headers})
	var m message
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		var err error
		m, _, err = newSSEReader(response.Body).message()
		assert.NilError(t, err)
		return response.StatusCode, m
	}
	b, err := io.ReadAll(response.Body)
	if err != nil || json.Unmarshal(b, &m) != nil {
		t.Fatalf("%s: %s, %v", response.Status, b, err)
	}
	return response.StatusCode, m
}

// begin makes a task and returns its id.
func (c *caller) begin(t *testing.T, params string) string {
	t.Helper()
	_, m := c.tell(t, "tools/call", params, "")
	found := taskID.FindSubmatch(m.Result)
	assert.Assert(t, found != nil, "expected a task, got %s %+v", m.Result, m.Error)
	return string(found[1])
}

// status returns the status of a task, "" if there is none.
func (c *caller) status(t *testing.T, id string) string {
	t.Helper()
	_, m := c.tell(t, "tasks/get", about(id), id)
	if m.Error != nil {
		if m.Error.Code != -32602 {
			t.Errorf("tasks/get gave %+v", *m.Error)
		}
		return ""
	}
	var task struct{ Status string }
	assert.NilError(t, json.Unmarshal(m.Result, &task))
	return task.Status
}

func TestTasksOverHTTP(t *testing.T) {
	for name, c := range map[string]struct {
		modern bool
		call   string
	}{
		"sessions":  {false, asTask(blockTool, `{}`)},
		"stateless": {true, exec(blockTool, `{}`)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withPatience(time.Millisecond))
			s := w.serve(t, withTokens)
			from := func(principal string) *caller {
				if c.modern {
					return s.as(principal).modern()
				}
				return s.as(principal).open(t)
			}
			alice, bob, again := from("alice"), from("bob"), from("alice")
			id := alice.begin(t, c.call)
			await(t, w.entered, "the tool does not run")
			assert.Check(t, is.Equal(alice.status(t, id), "working"))
			got := bob.status(t, id)
			assert.Check(t, is.Equal(got, ""), "to somebody else the task is %q", got)
			// Without sessions a task belongs to its user; else to its session.
			got = again.status(t, id)
			assert.Check(t, is.Equal((got == "working"), c.modern), "to the same user in another request the task is %q", got)
			_, m := bob.tell(t, "tasks/cancel", about(id), id)
			assert.Check(t, m.Error != nil, "somebody else cancelled the task")
			close(w.release)
			eventually(t, "the end of the task", func() bool { return alice.status(t, id) == "completed" })
			received := w.journal.asked()
			assert.Assert(t, is.Len(received, 1))
			assert.Equal(t, received[0].Caller.Principal, "alice")
		})
	}
}

// TestHeadersOfTasks checks that headers that do not match the body are refused.
func TestHeadersOfTasks(t *testing.T) {
	w := newWorld(t, withPatience(time.Millisecond))
	c := w.serve(t).as("").modern()
	id := c.begin(t, exec(blockTool, `{}`))
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		status, m := c.tell(t, method, about(id), "another")
		assert.Equal(t, status, http.StatusBadRequest, "%s %+v", method, m.Error)
		assert.Assert(t, m.Error != nil, "%s gave %d %+v", method, status, m.Error)
		assert.Equal(t, m.Error.Code, -32020, "%s %+v", method, m.Error)
	}
	assert.Check(t, is.Equal(c.status(t, id), "working"))
}

// TestQuestionsOfTasksOverHTTP checks that a task's requests go to the client by its request for the
// result, and again after the client has closed that.
func TestQuestionsOfTasksOverHTTP(t *testing.T) {
	w := newWorld(t, withGate(asksAboutSend))
	c := w.serve(t).as("")
	opening := strings.Replace(initialize, `"capabilities":{}`, `"capabilities":`+elicitationCapability, 1)
	response, _ := c.text(t, httpRequest{body: opening, headers: c.headers})
	c.headers["Mcp-Session-Id"] = response.Header.Get("Mcp-Session-Id")
	c.text(t, httpRequest{body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers: c.headers})

	id := c.begin(t, asTask(unknownOutcomeTool, `{}`))
	eventually(t, "a question", func() bool { return c.status(t, id) == "input_required" })

	// The first request for the result ends without an answer.
	ctx, leave := context.WithCancel(t.Context())
	first, err := c.request(ctx, httpRequest{body: c.body("tasks/result", about(id)), headers: c.headers})
	assert.NilError(t, err)
	asked := c.next
	if m, _, err := newSSEReader(first.Body).message(); err != nil || m.Method != "elicitation/create" {
		t.Fatalf("expected a question, got %+v, %v", m, err)
	}
	c.text(t, httpRequest{body: fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, asked), headers: c.headers})
	leave()
	_ = first.Body.Close()

	_, events := c.post(t, "tasks/result", about(id))
	m, _, err := events.message()
	assert.NilError(t, err, "%+v", m)
	assert.Equal(t, m.Method, "elicitation/create", "%+v", m)
	assert.Assert(t, is.Contains(string(m.Params), id), "%+v", m)
	c.text(t, httpRequest{body: fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, chose("once")), headers: c.headers})
	m, _, err = events.message()
	assert.NilError(t, err)
	m.result(t).fails(t, "TIMEOUT")
	got := w.journal.outcomes(unknownOutcomeTool)
	assert.Check(t, is.Equal(got[aai.ConsentRequired], 1), got)
	assert.Check(t, is.Equal(got[aai.Timeout], 1), got)
}

// TestTheEndOfASessionEndsItsTasks checks that tasks end with their session.
func TestTheEndOfASessionEndsItsTasks(t *testing.T) {
	w := newWorld(t)
	s := w.serve(t)
	c := s.as("").open(t)
	c.begin(t, asTask(blockTool, `{}`))
	await(t, w.entered, "the tool does not run")
	c.text(t, httpRequest{method: http.MethodDelete, headers: c.headers})
	w.stopped(t)
}

// TestTasksHoldTheirSession checks that a session does not expire while one of its tasks runs, and that
// the end of the server ends tasks without a session.
func TestTasksHoldTheirSession(t *testing.T) {
	const idle = 50 * time.Millisecond
	w := newWorld(t, withPatience(time.Millisecond))
	s := w.serve(t, withLimits(streamable.Limits{SessionIdle: idle}))
	c := s.as("").open(t)
	id := c.begin(t, asTask(blockTool, `{}`))
	time.Sleep(4 * idle)
	assert.Check(t, is.Equal(c.status(t, id), "working"))
	s.as("").modern().begin(t, exec(blockTool, `{}`))
	await(t, w.entered, "the tool does not run")
	await(t, w.entered, "the tool does not run")
	s.end()
	for range 2 {
		w.stopped(t)
	}
}
