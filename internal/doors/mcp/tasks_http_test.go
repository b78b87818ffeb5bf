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
	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
)

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
