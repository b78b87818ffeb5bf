package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
)

// sdkClient is a combination of a third-party SDK, transport and protocol version.
type sdkClient struct {
	sdk, over, mode, version string
}

func (c sdkClient) isModern() bool { return c.version == "2026-07-28" }

// sdkWorld is a client, the program, and an app.
type sdkWorld struct {
	*puppet
	home
	sdkClient
	t   *testing.T
	app *testkit.BusService
}

// mcpTypeScriptSDKs runs the two official TypeScript SDKs with the program, over both transports
// and in both protocol versions, and compares the results with the app and the journal.
func mcpTypeScriptSDKs(t *testing.T, b programPath) {
	for _, c := range []sdkClient{
		{"v1", "stdio", "", "2025-11-25"},
		{"v1", "http", "", "2025-11-25"},
		{"v2", "stdio", "legacy", "2025-11-25"},
		{"v2", "http", "legacy", "2025-11-25"},
		{"v2", "stdio", "auto", "2026-07-28"}, // starts a gateway only to detect its version
		{"v2", "http", "auto", "2026-07-28"},
	} {
		t.Run(strings.Join([]string{c.sdk, "over", c.over, "of", c.version}, " "), func(t *testing.T) {
			w := b.openSDK(t, c)
			w.opens()
			w.lists()
			w.calls()
			w.isAsked()
			w.hasProjects()
			w.cancels()
			if c.sdk == "v1" { // v2 dropped the tasks of 2025-11-25, and has no others
				w.hasTasks()
			}
			w.hearsProgress()
			w.closes()
		})
	}
}

func (b programPath) openSDK(t *testing.T, c sdkClient) *sdkWorld {
	bus := testkit.StartBus(t)
	w := &sdkWorld{app: testkit.ServeOnBus(t, bus, exampleApp), home: b.home(t, bus), sdkClient: c, t: t}
	// The user trusts this client with questions about reversible acts.
	w.write(t, ".aai/config.json", `{"consent": {"elicitation": true, "preapproved": `+grants("org.example.App echo block die")+`}}`)
	target := map[string]any{"mode": c.mode}
	if c.over == "http" {
		s := w.serveHTTP(t)
		target["url"], target["token"] = s.url, s.token
	} else {
		target["command"], target["env"] = string(b), w.environ()
	}
	w.puppet = newPuppet(t, c.sdk, target)
	return w
}

func (w *sdkWorld) opens() {
	w.t.Helper()
	line := w.receive()
	var opened struct {
		Version      string
		Server       struct{ Name string }
		Instructions string
		Capabilities map[string]any
	}
	w.read(line.Result, &opened)
	assert.Check(w.t, is.Equal(opened.Version, w.version), line.Result)
	assert.Check(w.t, is.Equal(opened.Server.Name, "aai-gateway"), line.Result)
	assert.Check(w.t, is.Contains(opened.Instructions, "aai_exec"), line.Result)
	for _, can := range []string{"tools", "resources", "prompts", "completions", "logging"} {
		assert.Check(w.t, opened.Capabilities[can] != nil, "the client does not know of %s: %s", can, line.Result)
	}
	_, can := opened.Capabilities["tasks"]
	assert.Check(w.t, can != w.isModern(), "tasks of %s are told as %v", w.version, opened.Capabilities["tasks"])
}

func (w *sdkWorld) lists() {
	w.t.Helper()
	type named struct{ Name, URI, URITemplate string }
	var tools struct{ Tools []named }
	w.do(&tools, "listTools")
	got := names(tools.Tools, func(n named) string { return n.Name })
	assert.Check(w.t, slices.Equal(got, []string{"aai_exec", "app_desktop", "app_org_example_App", "web_discover"}), "the tools are %q", got)
	var resources struct{ Resources, ResourceTemplates []named }
	w.do(&resources, "listResources")
	got = names(resources.Resources, func(n named) string { return n.URI })
	assert.Check(w.t, slices.Equal(got, []string{
		"app:" + exampleApp, "axterminator://apps", "axterminator://clipboard", "axterminator://recording/start", "axterminator://recording/stop", "axterminator://system/status"}), "the resources are %q", got)
	w.do(&resources, "listResourceTemplates")
	got = names(resources.ResourceTemplates, func(n named) string { return n.URITemplate })
	assert.Check(w.t, slices.Equal(got, []string{
		"app:{+id}", "app:{+id}/events", "app:{+id}/resource/{uri}",
		"axterminator://app/{name}/events", "axterminator://app/{name}/events/{after}", "axterminator://app/{name}/screenshot",
		"axterminator://app/{name}/state", "axterminator://app/{name}/tree", "axterminator://app/{name}/window/{index}/tree", "axterminator://recording/start?app={name}",
		"guide:{+id}", "output:{id}"}), "the templates are %q", got)
	var prompts struct{ Prompts []named }
	w.do(&prompts, "listPrompts")
	assert.Check(w.t, is.Len(prompts.Prompts, 7), "the prompts are %+v", prompts)
	var prompt struct {
		Messages []struct{ Content struct{ Text string } }
	}
	w.do(&prompt, "getPrompt", map[string]any{"name": "cross-app-copy", "arguments": map[string]any{
		"source_app": "Editor", "source_element": "the title", "target_app": "Mail", "target_element": "the subject"}})
	if len(prompt.Messages) != 1 || !strings.Contains(prompt.Messages[0].Content.Text, `source_element: "the title"`) {
		w.t.Errorf("the prompt is %+v", prompt)
	}
	var completed struct{ Completion struct{ Values []string } }
	w.do(&completed, "complete", map[string]any{
		"ref": map[string]any{"type": "ref/resource", "uri": "app:{+id}"}, "argument": map[string]any{"name": "id", "value": "org.ex"}})
	assert.Check(w.t, slices.Equal(completed.Completion.Values, []string{exampleApp}), "the id is completed to %q", completed.Completion.Values)
}

// awaitJournal waits until the last call of the journal has ended as expected: a cancelled call
// ends there a moment later.
func (w *sdkWorld) awaitJournal(want string) {
	w.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if calls := w.journal(w.t); calls[len(calls)-1].result != "" {
			break
		}
	}
	w.journalHas(want)
}

// journalHas compares the last calls of the journal with "app tool result" lines.
func (w *sdkWorld) journalHas(want ...string) {
	w.t.Helper()
	calls := w.journal(w.t)
	var got []string
	for _, p := range calls[max(0, len(calls)-len(want)):] {
		got = append(got, strings.Join([]string{p.app, p.tool, p.result}, " "))
		assert.Check(w.t, is.Equal(p.caller, "typescript-"+w.sdk))
	}
	assert.Check(w.t, slices.Equal(got, want), "the journal ends with\n\t%s\nexpected\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
}

func (w *sdkWorld) calls() {
	w.t.Helper()
	var guide toolResult
	w.do(&guide, "callTool", map[string]any{"name": "app_org_example_App"})
	if guide.IsError || len(guide.Content) != 1 || !strings.Contains(guide.Content[0].Text, "echo") {
		w.t.Errorf("the guide is %+v", guide)
	}
	if r := w.call("echo", map[string]any{"v": "päivää"}); r.IsError || r.StructuredContent.Result != "päivää" || w.app.Calls("EchoString") != 1 {
		w.t.Errorf("echo gave %+v, and the app was called %d times", r, w.app.Calls("EchoString"))
	}
	r := w.call("echo", map[string]any{"v": 7})
	if !r.IsError || r.StructuredContent.Type != "INVALID_PARAMS" || w.app.Calls("EchoString") != 1 {
		w.t.Errorf("a number for a text gave %+v", r)
	}
	if line := w.end(w.begin("callTool", map[string]any{"name": "no_such_tool"})); line.Failed == nil || line.Failed.Code != -32602 {
		w.t.Errorf("an unknown tool gave %+v with %s", line, line.Result)
	}
	var read struct{ Contents []struct{ Text string } }
	w.do(&read, "readResource", map[string]any{"uri": "app:" + exampleApp})
	if len(read.Contents) != 1 || !describesExample(read.Contents[0].Text) {
		w.t.Errorf("the descriptor is %+v", read)
	}
	w.journalHas("aai guide ok", exampleApp+" echo ok", exampleApp+" echo INVALID_PARAMS", " no_such_tool TOOL_NOT_FOUND", "aai descriptor ok")
}

// isAsked: a call without consent asks the user through the client, and does not reach the app
// before the answer, nor after a refusal.
func (w *sdkWorld) isAsked() {
	w.t.Helper()
	for _, c := range []struct {
		say  any
		code string
	}{
		{map[string]any{"action": "decline"}, "PERMISSION_DENIED"},
		{map[string]any{"action": "accept", "content": map[string]any{"decision": "deny"}}, "PERMISSION_DENIED"},
		{map[string]any{"action": "accept", "content": map[string]any{"decision": "once"}}, ""},
	} {
		call := w.begin("callTool", execParams("nothing", nil))
		before := w.app.Calls("Nothing")
		if question := w.asked("elicitation/create", c.say); !strings.Contains(question, `calls itself \"typescript-`+w.sdk) || !strings.Contains(question, "nothing") {
			w.t.Errorf("the person was asked %s", question)
		}
		var r toolResult
		w.read(w.end(call).Result, &r)
		ran := w.app.Calls("Nothing") > before
		assert.Check(w.t, is.Equal(r.StructuredContent.Type, c.code), "%v %+v", c.say, r)
		assert.Check(w.t, is.Equal(ran, (c.code == "")), "%v %+v", c.say, r)
	}
}

// hasProjects: only the client's roots are searched.
func (w *sdkWorld) hasProjects() {
	w.t.Helper()
	w.write(w.t, "project/.aai/aai.json", exampleDescriptor)
	folder := filepath.Join(w.folder, "project")
	call := w.begin("callTool", map[string]any{"name": "aai_exec", "arguments": map[string]any{"app": "aai", "tool": "projects"}})
	w.asked("roots/list", map[string]any{"roots": []any{map[string]any{"uri": "file://" + folder, "name": "project"}}})
	line := w.end(call)
	if line.Failed != nil || !strings.Contains(string(line.Result), filepath.Join(folder, ".aai/aai.json")) || strings.Contains(string(line.Result), `"isError":true`) {
		w.t.Errorf("the projects are %+v: %s", line.Failed, line.Result)
	}
}

// cancels: a call that the client cancels ends in the app too.
func (w *sdkWorld) cancels() {
	w.t.Helper()
	call := w.begin("callTool", execParams("block", nil))
	w.app.WaitBlocked(1)
	w.send(map[string]any{"abort": call})
	line := w.end(call)
	assert.Check(w.t, line.Failed != nil, "a cancelled call gave %s", line.Result)
	w.awaitJournal(exampleApp + " block AUTOMATION_FAILED")
}

// hearsProgress: a long call reports progress, and ends when the app does.
func (w *sdkWorld) hearsProgress() {
	w.t.Helper()
	call := w.begin("callTool", execParams("block", nil))
	for before, heard := 0.0, 0; heard < 2; heard++ {
		p := w.receive().Progress
		assert.Assert(w.t, p != nil, "the progress after %v is %+v", before, p)
		assert.Assert(w.t, !(p.Progress <= before), "the progress after %v is %+v", before, p)
		assert.Assert(w.t, p.Total == 600, "the progress after %v is %+v", before, p)
		assert.Assert(w.t, is.Contains(p.Message, "Example"), "%v %+v", before, p)
		before = p.Progress
	}
	w.app.Release()
	if line := w.end(call); line.Failed != nil || strings.Contains(string(line.Result), `"isError":true`) {
		w.t.Errorf("what was waited for gave %+v with %s", line.Failed, line.Result)
	}
	w.journalHas(exampleApp + " block ok")
}

func (w *sdkWorld) closes() {
	w.t.Helper()
	var nothing struct{}
	w.do(&nothing, "close")
}

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
