package main_test

import (
	"encoding/json"
	"slices"
	"strings"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// task is a task as a client sees it.
type task struct{ TaskID, Status string }

// taskMessage is a client's message about a task.
type taskMessage struct {
	Type   string
	Task   task
	Result toolResult
	Error  string
}

// hasTasks makes calls that outlast their requests: one that ends, one that fails, one that needs
// consent, and one that is cancelled.
func (w *sdkWorld) hasTasks() {
	w.t.Helper()
	done := w.runTask("echo", map[string]any{"v": "later"}, nil)
	assert.Check(w.t, is.Equal(done.Type, "result"), "%+v", done)
	assert.Check(w.t, is.Equal(done.Result.StructuredContent.Result, "later"), "%+v", done)
	done = w.runTask("echo", map[string]any{"v": 7}, nil)
	assert.Check(w.t, is.Equal(done.Type, "error"), "a task that fails gave %+v", done)
	allowed := w.app.Calls("Nothing")
	if done := w.runTask("nothing", nil, map[string]any{"action": "accept", "content": map[string]any{"decision": "once"}}); done.Type != "result" ||
		done.Result.IsError || w.app.Calls("Nothing") != allowed+1 {
		w.t.Errorf("a task that was allowed gave %+v", done)
	}
	w.journalHas(exampleApp+" nothing CONSENT_REQUIRED", exampleApp+" nothing ok") // a task's call is a call like any other
	w.givesUpATask()
}

// beginTask begins a task, and returns the number of its stream.
func (w *sdkWorld) beginTask(tool string, args map[string]any) (stream int) {
	w.t.Helper()
	return w.begin("callAsTask", execParams(tool, args), map[string]any{"ttl": 60_000})
}

// created decodes the first message about a task.
func (w *sdkWorld) created(line puppetLine) task {
	w.t.Helper()
	var m taskMessage
	assert.Assert(w.t, line.Message != nil, "expected a task, got %q with %s", line.Method, line.Question)
	w.read(line.Message, &m)
	assert.Equal(w.t, m.Type, "taskCreated", "%+v", m)
	assert.Assert(w.t, m.Task.TaskID != "", "the task began with %+v", m)
	assert.Equal(w.t, m.Task.Status, "working", "%+v", m)
	return m.Task
}

// runTask runs a tool as a task, answers its questions, and returns the last message.
func (w *sdkWorld) runTask(tool string, args map[string]any, say any) (last taskMessage) {
	w.t.Helper()
	stream := w.beginTask(tool, args)
	var begun task
	asked := ""
	for line := w.receive(); line.Result == nil; line = w.receive() {
		switch {
		case line.ID == stream && begun.TaskID == "":
			begun = w.created(line)
		case line.ID == stream && line.Message != nil:
			w.read(line.Message, &last)
		case line.Question != nil:
			asked = string(line.Question)
			w.send(map[string]any{"say": say})
		default:
			w.t.Fatalf("unexpected: %+v", line)
		}
	}
	assert.Check(w.t, is.Equal((say == nil), (asked == "")), "%q", asked)
	assert.Check(w.t, say == nil || strings.Contains(asked, `"io.modelcontextprotocol/related-task":{"taskId":"`+begun.TaskID), "the person was asked %q", asked)
	w.knowsTask(begun.TaskID, last)
	return last
}

// knowsTask queries an ended task in all possible ways.
func (w *sdkWorld) knowsTask(id string, ended taskMessage) {
	w.t.Helper()
	var got task
	w.do(&got, "getTask", id)
	want := "completed"
	if ended.Type == "error" || ended.Result.IsError {
		want = "failed"
	}
	assert.Check(w.t, is.Equal(got.TaskID, id), "%+v %+v", got, ended)
	assert.Check(w.t, is.Equal(got.Status, want), "%+v %+v", got, ended)
	var listed struct{ Tasks []task }
	w.do(&listed, "listTasks")
	assert.Check(w.t, slices.Contains(listed.Tasks, got), "the tasks are %+v, without %+v", listed.Tasks, got)
	var result toolResult
	w.do(&result, "getTaskResult", id)
	assert.Check(w.t, is.Equal(result.IsError, (want == "failed")), "the result of the %s task is %+v", want, result)
}

// givesUpATask cancels a task during its call.
func (w *sdkWorld) givesUpATask() {
	w.t.Helper()
	stream := w.beginTask("block", nil)
	begun := w.created(w.receive())
	w.app.WaitBlocked(1)
	over := false // the stream has reported the cancellation, and ended
	receive := func() puppetLine {
		line := w.receive()
		over = over || line.ID == stream && (line.Result != nil || line.Failed != nil)
		return line
	}
	var cancelled json.RawMessage
	for id := w.begin("cancelTask", begun.TaskID); cancelled == nil; {
		switch line := receive(); {
		case line.ID == id && line.Failed != nil:
			w.t.Fatalf("the task was not cancelled: %+v", line.Failed)
		case line.ID == id:
			cancelled = line.Result
		case line.ID != stream:
			w.t.Fatalf("unexpected: %+v", line)
		}
	}
	assert.Check(w.t, is.Contains(string(cancelled), `"status":"cancelled"`), "the cancelled task is %s", cancelled)
	var got task
	for id := w.begin("getTask", begun.TaskID); got.TaskID == ""; {
		if line := receive(); line.ID == id {
			w.read(line.Result, &got)
		}
	}
	assert.Check(w.t, is.Equal(got.Status, "cancelled"), "the cancelled task is %+v", got)
	w.awaitJournal(exampleApp + " block AUTOMATION_FAILED")
	w.send(map[string]any{"abort": stream})
	for !over {
		receive()
	}
}
