package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
)

// agents are two clients of one home with the same name that are different callers, by their
// programs or tokens.
type agents struct {
	home
	t          *testing.T
	app        *testkit.BusService
	one, other *puppet
	strangers  []*puppet
}

// mcpNothingCrosses: calls, kept data and subscriptions of one agent are inaccessible to another
// that has all the ids, for every transport and protocol version.
func mcpNothingCrosses(t *testing.T, b programPath) {
	for _, c := range []sdkClient{
		{"v1", "stdio", "", "2025-11-25"}, {"v1", "http", "", "2025-11-25"},
		{"v2", "stdio", "auto", "2026-07-28"}, {"v2", "http", "auto", "2026-07-28"},
	} {
		t.Run(c.sdk+" "+c.over, func(t *testing.T) {
			a := b.twoAgents(t, c)
			a.outputs()
			if c.sdk == "v1" { // v2 has no tasks
				a.tasks()
			}
			a.subscriptions()
		})
	}
}

func (b programPath) twoAgents(t *testing.T, c sdkClient) *agents {
	bus := testkit.StartBus(t)
	a := &agents{app: testkit.ServeOnBus(t, bus, exampleApp), home: b.home(t, bus), t: t}
	var targets [2]map[string]any
	var scripts [2]string
	if c.over == "http" {
		s := a.serveHTTP(t)
		for i, name := range []string{"work", "home"} {
			cmd := a.command(t.Context(), "mcp", "token", "add", name)
			cmd.Env = append(a.env, "PERSON=yes")
			token, err := cmd.Output()
			assert.NilError(t, err)
			targets[i] = map[string]any{"mode": c.mode, "url": s.url, "token": strings.TrimSpace(string(token))}
		}
	} else {
		targets[0] = map[string]any{"mode": c.mode, "command": string(b), "env": a.environ()}
		targets[1] = targets[0]
	}
	for i, folder := range []string{"work", "home"} {
		for _, file := range []string{c.sdk + ".mjs", "puppet.mjs"} {
			text, err := os.ReadFile(filepath.Join("testdata", "sdks", file))
			assert.NilError(t, err)
			a.write(t, filepath.Join(folder, file), string(text))
		}
		scripts[i] = filepath.Join(a.folder, folder, c.sdk+".mjs")
	}
	a.one, a.other = newPuppetOf(t, nil, os.Environ(), scripts[0], targets[0]), newPuppetOf(t, nil, os.Environ(), scripts[1], targets[1])
	var opened struct{ Version, Session string }
	a.other.receive()
	a.one.read(a.one.receive().Result, &opened)
	assert.Equal(t, opened.Version, c.version, "the client speaks %q", opened.Version)
	a.strangers = []*puppet{a.other}
	if opened.Session != "" {
		targets[1]["session"] = opened.Session // with its own token
		thief := newPuppetOf(t, nil, os.Environ(), scripts[1], targets[1])
		thief.receive()
		a.strangers = append(a.strangers, thief)
	}
	return a
}

// fails checks that the other agents' attempts fail, and that their errors do not contain the text.
func (a *agents) fails(kept, do string, with ...any) {
	a.t.Helper()
	for i, stranger := range a.strangers {
		line := stranger.end(stranger.begin(do, with...))
		if line.Failed == nil {
			a.t.Errorf("stranger %d: %s of another's gave %s", i, do, line.Result)
		} else if strings.Contains(line.Failed.Message, kept) {
			a.t.Errorf("stranger %d: %s of another's says %q", i, do, line.Failed.Message)
		}
	}
}

// outputs: only its caller can read a long output.
func (a *agents) outputs() {
	a.t.Helper()
	long := strings.Repeat("secret ", 20_000)
	line := a.one.end(a.one.begin("callTool", execParams("echo", map[string]any{"v": long})))
	_, after, _ := strings.Cut(string(line.Result), `"uri":"output:`)
	id, _, found := strings.Cut(after, `"`)
	assert.Assert(a.t, found, "no link is in %.300s, %+v", line.Result, line.Failed)
	uri := map[string]any{"uri": "output:" + id}
	a.fails("secret", "readResource", uri)
	var read struct{ Contents []struct{ Text string } }
	a.one.do(&read, "readResource", uri)
	if len(read.Contents) != 1 || read.Contents[0].Text != long {
		a.t.Errorf("its own output is %.300v", read)
	}
}

// tasks: only its caller can see, end or read a task.
func (a *agents) tasks() {
	a.t.Helper()
	stream := a.one.begin("callAsTask", execParams("block", nil), map[string]any{"ttl": 60_000})
	var begun taskMessage
	a.one.read(a.one.receive().Message, &begun)
	a.app.WaitBlocked(1)
	var listed struct{ Tasks []task }
	a.other.do(&listed, "listTasks")
	assert.Check(a.t, is.Len(listed.Tasks, 0), "another's tasks are %+v", listed.Tasks)
	id := begun.Task.TaskID
	a.fails("example", "getTask", id)
	a.fails("example", "cancelTask", id)
	a.app.Release()
	var last taskMessage
	for line := a.one.receive(); line.Result == nil; line = a.one.receive() {
		assert.Equal(a.t, line.ID, stream, "%+v %s", line, line.Result)
		assert.Assert(a.t, line.Message != nil, "unexpected: %+v with %s", line, line.Result)
		a.one.read(line.Message, &last)
	}
	assert.Check(a.t, is.Equal(last.Type, "result"), "%+v", last)
	assert.Check(a.t, !last.Result.IsError, "the task that others tried to end gave %+v", last)
	a.fails("content", "getTaskResult", id)
	a.one.do(&listed, "listTasks")
	assert.Check(a.t, slices.Contains(listed.Tasks, task{id, "completed"}), "its own tasks are %+v", listed.Tasks)
}

// subscriptions: each agent gets only its own notifications, and cannot end another's.
func (a *agents) subscriptions() {
	a.t.Helper()
	mine, others := map[string]any{"uri": "app:" + exampleApp}, map[string]any{"uri": "guide:" + exampleApp}
	var nothing json.RawMessage
	a.one.do(&nothing, "subscribeResource", mine)
	a.other.do(&nothing, "subscribeResource", mine)
	a.other.do(&nothing, "subscribeResource", others)
	a.other.do(&nothing, "unsubscribeResource", mine)
	for _, thief := range a.strangers[1:] {
		assert.Check(a.t, thief.end(thief.begin("unsubscribeResource", mine)).Failed != nil, "another's subscription was ended in its session")
	}
	// A wrong first notification would arrive by the second change.
	for i, says := range []string{"first", "second"} {
		a.write(a.t, ".aai/org.example.App/aai.json", strings.Replace(exampleDescriptor, "Does nothing.", "Does nothing, "+says+".", 1))
		a.one.hears(i + 1)
		a.other.hears(i + 1)
	}
	for who, want := range map[*puppet]string{a.one: "app:" + exampleApp, a.other: "guide:" + exampleApp} {
		assert.Check(a.t, slices.Equal(who.news, []string{want, want}), "who follows %s alone heard of %q", want, who.news)
	}
	for _, thief := range a.strangers[1:] {
		assert.Check(a.t, is.Len(thief.news, 0), "in another's session %q was heard", thief.news)
	}
}
