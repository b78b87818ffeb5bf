package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

// TestNothingThatBreaksTakesTheDoorAlong checks that after any failure within a request, the request
// has its answer, the call is recorded, and the door continues.
func TestNothingThatBreaksTakesTheDoorAlong(t *testing.T) {
	for name, c := range map[string]struct {
		breaks func(*world)
		tool   string
		want   string // in the answer
	}{
		"action panics":  {func(*world) {}, panicTool, "INTERNAL"},
		"gate panics":    {withGate(func(*aai.Request) ([]aai.Question, error) { panic("broken") }), addTool, "INTERNAL"},
		"gate fails":     {withGate(func(*aai.Request) ([]aai.Question, error) { return nil, errors.New("x") }), addTool, "AUTOMATION_FAILED"},
		"catalog panics": {func(w *world) { w.catalog.setBroken(true) }, addTool, "INTERNAL"},
		"no JSON value":  {func(*world) {}, nanTool, "no JSON value"},
		"journal full":   {func(w *world) { w.journal.full = true }, addTool, "RECORD_FAILED"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			client := w.dial(t).open("2025-06-18", `{}`)
			healthy := w.gate
			c.breaks(w)
			result := client.ask("tools/call", exec(c.tool, `{}`)).result(t)
			assert.Assert(t, len(result.Content) != 0, "%+v", result)
			assert.Assert(t, is.Contains(result.Content[0].Text, c.want), "%+v", result)
			assert.Check(t, !strings.Contains(result.Content[0].Text, "goroutine"), "a stack went to the client: %+v", result)
			w.gate, w.journal.full = healthy, false
			w.catalog.setBroken(false)
			client.lives()
			client.ends()
		})
	}
}

// An explosive value panics when it is encoded.
type explosive struct{}

func (explosive) MarshalJSON() ([]byte, error) { panic("boom") }

// TestAPanicInTheDoor checks that a panic in the door itself is a protocol error for that request alone.
func TestAPanicInTheDoor(t *testing.T) {
	w := newWorld(t)
	w.catalog.apps[1].Tools[0].Run = func(context.Context, *aai.Call) (*aai.Result, error) {
		return &aai.Result{Data: explosive{}}, nil
	}
	c := w.dial(t).open("2025-06-18", `{}`)
	said := c.refused(-32603, "", "tools/call", exec(addTool, `{}`))
	assert.Assert(t, !strings.Contains(said, "boom"), "expected an internal error without its cause, got %s", said)
	c.lives()
}

// TestAResultThatIsNoJSONIsNotHidden checks that a call with such a result counts as executed, and is
// not a failure.
func TestAResultThatIsNoJSONIsNotHidden(t *testing.T) {
	w := newWorld(t)
	result := w.dial(t).open("2025-06-18", `{}`).ask("tools/call", exec(nanTool, `{}`)).result(t)
	result.succeeds(t)
	_, there := result.StructuredContent["result"]
	assert.Assert(t, !there, "expected a warning alone, got %v", result.StructuredContent)
	assert.Assert(t, result.StructuredContent["warning"] != nil, "expected a warning alone, got %v", result.StructuredContent)
	got := w.journal.outcomes(nanTool)
	assert.Check(t, is.Equal(got[""], 1), got)
}

// TestACatalogThatPanicsWhileListed checks that a panic of the catalog, at the start or later, only
// suppresses the update.
func TestACatalogThatPanicsWhileListed(t *testing.T) {
	w := newWorld(t)
	w.catalog.setBroken(true)
	c := w.dial(t).open("2025-06-18", `{}`)
	names := c.toolNames()
	assert.Check(t, is.Equal(strings.Join(names, " "), "aai_exec"), "%q", names)
	w.catalog.setBroken(false)
	w.catalog.tell()
	c.awaitChanges("tools", "resources")
	c.lives()
	w.catalog.setBroken(true)
	w.catalog.tell()
	names = c.toolNames()
	assert.Check(t, is.Equal(strings.Join(names, " "), "aai_exec app_org_example_Notes"), "%q", names)
}

// TestAnAppThatCannotBeListed checks that only the app that the SDK refuses is omitted.
func TestAnAppThatCannotBeListed(t *testing.T) {
	w := newWorld(t)
	w.catalog.apps = append(w.catalog.apps, w.app("org.example.\x7f", "Odd", ""), w.app("org.example.Zoo", "Zoo", ""))
	c := w.dial(t).open("2025-06-18", `{}`)
	names := c.toolNames()
	assert.Check(t, is.Equal(strings.Join(names, " "), "aai_exec app_org_example_Notes app_org_example_Zoo"), "%q", names)
}

// TestTheTargetOfADoorDoesNotCount checks that the target that a door sets in a call is ignored: by the
// catalog, the gates, the tool and the journal.
func TestTheTargetOfADoorDoesNotCount(t *testing.T) {
	editor, harmless := &aai.App{ID: "desktop/editor", PID: 7}, &aai.App{ID: "desktop/clock", PID: 8}
	var found, gated, ran []*aai.App
	w := newWorld(t, withGate(func(r *aai.Request) ([]aai.Question, error) {
		gated = append(gated, r.Call.Target)
		return nil, nil
	}))
	press := tool("press", aai.Changes, func(_ context.Context, call *aai.Call) (*aai.Result, error) {
		ran = append(ran, call.Target)
		return &aai.Result{}, nil
	})
	press.Target = "app"
	w.catalog.apps = append(w.catalog.apps, &aai.App{
		ID: aai.DesktopApp, Name: "Desktop", Tools: []*aai.Tool{press},
		Operator: fakeoperator.Operator{Find: func(_ context.Context, call *aai.Call, name string) (*aai.App, error) {
			found = append(found, call.Target)
			if name != "editor" {
				return nil, nil
			}
			return editor, nil
		}},
	})
	call := func(app string) error {
		_, err := (&gateway.Gateway{Catalog: w.catalog, Gates: []aai.Gate{w}, Journal: w.journal}).Do(t.Context(), &aai.Call{
			Caller: aai.Caller{Door: aai.DoorMCP}, App: aai.DesktopApp, Tool: "press", Target: harmless,
			Args: map[string]any{"app": app},
		})
		return err
	}
	assert.NilError(t, call("editor"))
	assert.Check(t, call("nothing") != nil, "a call that finds no app went on")
	for what, saw := range map[string][]*aai.App{"the finder": found, "the gates": gated, "the tool": ran} {
		for _, app := range saw {
			assert.Check(t, app != harmless, "%s saw the door's target", what)
		}
		assert.Check(t, len(saw) != 0, "%s saw nothing", what)
	}
	assert.Assert(t, is.Len(ran, 1))
	assert.Equal(t, ran[0], editor)
	w.journal.mu.Lock()
	defer w.journal.mu.Unlock()
	for _, e := range w.journal.entries {
		assert.Check(t, e.Target != harmless.ID, "on record is %+v", e)
	}
}

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
