package mcp_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
)

// entries are all the ways by which an agent's message becomes a call, each as one that would run "add"
// of the notes, or read from the gateway or the desktop. TestEveryWayIn of the root package compares
// the places in the code with this list and the tests of the other doors.
func entries() map[string]func(w *world, c *tasker) {
	const old = "2025-11-25"
	call := func(version, params string) func(*world, *tasker) {
		return func(_ *world, c *tasker) {
			c.open(version, `{}`)
			c.answer("tools/call", params)
		}
	}
	named := func(name, args string) string { return fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args) }
	execOf := func(app string) string {
		return fmt.Sprintf(`{"name":"aai_exec","arguments":{"app":%q,"tool":"add","args":{"text":"x"}}}`, app)
	}
	request := func(method, params string) func(*world, *tasker) {
		return func(_ *world, c *tasker) {
			c.open(old, `{}`)
			c.answer(method, params)
		}
	}
	return map[string]func(*world, *tasker){
		"aai_exec":                   call(old, exec(addTool, `{"text":"x"}`)),
		"aai_exec of the first era":  call("2024-11-05", exec(addTool, `{"text":"x"}`)),
		"aai_exec of the newest era": func(_ *world, c *tasker) { c.answer("tools/call", modern(exec(addTool, `{"text":"x"}`), "", `{}`)) },
		"aai_exec by alias":          call(old, execOf("jotter")),
		"aai_exec by wire name":      call(old, execOf("app_org_example_Notes")),
		"aai:exec":                   call(old, named("aai:exec", `{"app":"org.example.Notes","tool":"add","args":{"text":"x"}}`)),
		"<id>:<tool>":                call(old, named("org.example.Notes:add", `{"text":"x"}`)),
		"an app's entry":             call(old, named("app_org_example_Notes", `{}`)),
		"app:<id>":                   call(old, named("app:org.example.Notes", `{}`)),
		"a tool that is listed":      call(old, named("ax_list_apps", `{}`)),
		"a tool that is not":         call(old, named("nothing", `{}`)),
		"desktop:<tool>":             call(old, named("desktop:ax_list_apps", `{}`)),
		"a task": func(_ *world, c *tasker) {
			c.open(old, `{}`)
			c.answer("tasks/result", about(c.begin(asTask(addTool, `{"text":"x"}`))))
		},
		"a resource": request("resources/read", `{"uri":"app:org.example.Notes"}`),
		"a resource of the newest era": func(_ *world, c *tasker) {
			c.answer("resources/read", modern(`{"uri":"app:org.example.Notes"}`, "", `{}`))
		},
		"a resource that is followed": func(w *world, c *tasker) {
			c.open(old, `{}`)
			if c.answer("resources/subscribe", `{"uri":"app:org.example.Notes"}`).Error != nil {
				return // the read failed
			}
			before := len(w.journal.asked())
			w.rewrite(notes, `{"other":1}`)
			for until := time.Now().Add(5 * time.Second); len(w.journal.asked()) == before && time.Now().Before(until); {
				time.Sleep(time.Millisecond)
			}
		},
		"a completion": request("completion/complete", `{"ref":{"type":"ref/prompt","name":"test-app"},"argument":{"name":"app_name","value":""}}`),
	}
}

// TestEveryEntryIsGatedAndRecorded checks for every entry that a refused call does not run, and that
// all calls are recorded.
func TestEveryEntryIsGatedAndRecorded(t *testing.T) {
	for name, enter := range entries() {
		for _, admits := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, admitted %v", name, admits), func(t *testing.T) {
				g := &countingGate{admits: admits}
				w := newWorld(t, withDesktop, withProfile("all"), func(w *world) {
					before := w.options
					w.options = func(c *door.Config) {
						before(c)
						c.Gateway.Gates = []aai.Gate{g}
					}
				})
				c := newTasker(w, t)
				enter(w, c)
				c.settle(w)
				received, outcomes := w.journal.asked(), w.journal.calls(aai.Outcome)
				if len(received) == 0 || len(received) != len(outcomes) {
					t.Fatalf("%d calls and %d outcomes are on record: %q", len(received), len(outcomes), w.journal.lines())
				}
				admitted := len(w.journal.admitted())
				switch {
				case admits && name != "a tool that is not" && (admitted == 0 || admitted != int(g.checks.Load())):
					t.Errorf("%d passed the gate, %d are on record as admitted: %q", g.checks.Load(), admitted, w.journal.lines())
				case !admits && (admitted > 0 || len(w.added) > 0):
					t.Errorf("it ran: %q", w.journal.lines())
				}
				for _, r := range received {
					assert.Check(t, is.Equal(r.Caller.Door, aai.DoorMCP), "it came by %q", r.Caller.Door)
				}
			})
		}
	}
}

// settle waits until every recorded call has its outcome.
func (c *tasker) settle(w *world) {
	c.t.Helper()
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if received := len(w.journal.asked()); received > 0 && received == len(w.journal.calls(aai.Outcome)) {
			return
		}
	}
}

// A countingGate admits all calls or none, and counts them.
type countingGate struct {
	admits bool
	checks atomic.Int32
}

// Check implements aai.Gate.
func (g *countingGate) Check(context.Context, *aai.Request) ([]aai.Question, error) {
	if !g.admits {
		return nil, aai.Errorf(aai.PermissionDenied, "nobody passes")
	}
	g.checks.Add(1)
	return nil, nil
}
