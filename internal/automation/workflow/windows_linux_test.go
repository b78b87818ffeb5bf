package workflow_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/drivers/dbus"
	"github.com/gybob/aai-gateway/internal/events"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/schema"
	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// onWindow adds the real desktop, with a real window. app is its name in calls.
func onWindow(t *testing.T, w *world, kind linuxtest.Kind) (f *linuxtest.Fixture, app string) {
	t.Helper()
	return onDesktop(t, w)(kind)
}

// onDesktop adds the real desktop. open opens a window on it.
func onDesktop(t *testing.T, w *world) (open func(linuxtest.Kind) (f *linuxtest.Fixture, app string)) {
	t.Helper()
	s := linuxtest.StartAccessible(t)
	screen := x11.New(x11.Config{Getenv: s.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv})})
	tree := atspi.New(atspi.Config{Getenv: s.Getenv, Windows: screen})
	t.Cleanup(func() { tree.Close(); _ = screen.Close() })
	desk := gui.New(gui.Config{ExtraTools: w.DesktopTools(), Open: func() desktop.Backend {
		return desktop.Backend{Tree: tree, Offscreen: tree, Actor: tree, Events: tree, Windows: screen, Input: screen, Screen: screen, Clipboard: screen}
	}})
	for _, tool := range desk.Tools { // slow is not failed
		tool.Limits.Timeout += 2 * time.Minute
	}
	w.apps = append(w.apps, desk)
	return func(kind linuxtest.Kind) (*linuxtest.Fixture, string) {
		f := s.Fixture(t, kind)
		app := strconv.Itoa(f.PID)
		for {
			_, err := w.Do(t.Context(), &aai.Call{Caller: agent(), App: aai.DesktopApp, Tool: "ax_find", Args: documentObject{"app": app, "query": "button Press"}})
			if err == nil {
				return f, app
			}
			e := aai.AsError(err)
			assert.Assert(t, e.Code == aai.AppNotFound || e.Code == aai.ElementNotFound || e.Code == aai.AppNotRunning, err)
			_ = aai.Sleep(t.Context(), 50*time.Millisecond)
		}
	}
}

// On a real window a workflow copies one field to others, with progress per step; if a step fails,
// each act is undone or named.
func TestWorkflowOnAWindow(t *testing.T) {
	w := newWorld(t)
	w.answer = "session"
	f, app := onWindow(t, w, linuxtest.GTK3)
	var heard []string
	ctx := gateway.WithProgress(t.Context(), func(done, total float64, message string) {
		heard = append(heard, fmt.Sprintf("%v/%v %s", done, total, message))
	})
	do := func(steps ...any) (*aai.Result, error) {
		return w.Do(ctx, &aai.Call{Caller: agent(), App: aai.DesktopApp, Tool: workflow.DesktopToolName, Args: documentObject{"name": "copy", "steps": steps}})
	}
	set := func(query, value string, more ...any) documentObject {
		s := documentObject{"tool": "ax_set_value", "app": app, "args": documentObject{"query": query, "value": value}}
		for i := 0; i+1 < len(more); i += 2 {
			s[more[i].(string)] = more[i+1]
		}
		return s
	}
	result, err := do(
		set(`textbox "Full name"`, "Ann {{{{x}}"),
		documentObject{"tool": "ax_get_value", "args": documentObject{"app": app, "query": `textbox "Full name"`}, "name": "name"},
		documentObject{"tool": "ax_clipboard", "args": documentObject{"action": "write", "text": "{{name.value}}"}},
		set("textbox Notes", "of {{step_2.value}}!"),
		documentObject{"tool": "ax_find", "app": app, "args": documentObject{"query": "no such thing"}, "on_fail": "skip"},
		documentObject{"tool": "ax_click", "app": app, "args": documentObject{"query": "button Press"}, "when": documentObject{"value": "{{step_5.error.code}}", "equals": "ELEMENT_NOT_FOUND"}},
	)
	assert.NilError(t, err)
	f.WaitState(t, "name", "Ann {{x}}")
	f.WaitState(t, "notes", "of Ann {{x}}!")
	f.WaitState(t, "presses", float64(1))
	if !strings.HasPrefix(result.Text, "copy: 5 of 6 steps done\n5 ax_find: skipped: ") || len(heard) == 0 || heard[0] != "1/6 Step 1/6: ax_set_value" {
		t.Errorf("%s\nheard %q", result.Text, heard)
	}
	_, err = do(
		set(`textbox "Full name"`, "Bob"), set("slider Volume", "70"),
		documentObject{"tool": "ax_click", "app": app, "args": documentObject{"query": "button Press"}},
		documentObject{"tool": "ax_find", "app": app, "args": documentObject{"query": "no such thing"}, "on_fail": "rollback"},
	)
	e := aai.AsError(err)
	assert.Assert(t, e != nil, err)
	assert.Equal(t, e.Code, aai.ElementNotFound, err)
	assert.Assert(t, is.Contains(e.Message, "step 4 of 4 (ax_find)"), err)
	state := f.State(t)
	for name, c := range map[string]struct {
		was  any
		step string
	}{"name": {"Ann {{x}}", "step 1 "}, "volume": {float64(30), "step 2 "}, "presses": {float64(1), "step 3 "}} {
		assert.Check(t, state[name] == c.was || regexp.MustCompile(`not undone: .*`+c.step).MatchString(err.Error()), "%s is %v, was %v, and is not named in %v", name, state[name], c.was, err)
	}
	if !strings.Contains(err.Error(), "not undone: step 3 (ax_click)") { // the newest is the first
		t.Error(err)
	}
}

const notesID = "org.example.Notes"

// onNotes adds an app on a real bus; its tool add reports the event added of each title.
func onNotes(t *testing.T, w *world) *testkit.BusService {
	t.Helper()
	bus := testkit.StartBus(t)
	service := testkit.ServeOnBus(t, bus, notesID)
	d := dbus.New(dbus.Config{Getenv: bus.Getenv})
	recorders := new(events.Recorders)
	t.Cleanup(func() { _, _ = recorders.Close(), d.Close() })
	source, err := d.CompileEvents([]*aai.Recipe{{Event: "added", DBus: &aai.DBusRecipe{
		Bus: "session", Service: notesID, Interface: testkit.ServiceInterface, Signal: "Added", Fields: []string{"title"},
	}}})
	assert.NilError(t, err)
	add := &aai.Tool{
		Name: "add", Effect: aai.Changes, Params: schema.MustParse(`{"type": "object", "properties": {"titles": {"type": "array"}}}`),
		Run: func(_ context.Context, call *aai.Call) (*aai.Result, error) {
			titles, _ := call.Args["titles"].([]any)
			for _, title := range titles {
				if err := service.Conn.Emit(testkit.ServicePath, testkit.ServiceInterface+".Added", title); err != nil {
					return nil, err
				}
			}
			return &aai.Result{}, nil
		},
	}
	reader := recorders.Tool(events.Feed{App: notesID, Description: "Events", Key: func() string { return notesID }, Source: source})
	w.apps = append(w.apps, &aai.App{ID: notesID, Name: "Notes", Digest: "n", Tools: []*aai.Tool{add, reader}})
	return service
}

func addNotes(titles ...any) documentObject {
	return documentObject{"app": notesID, "tool": "add", "args": documentObject{"titles": titles}}
}

func waitFor(more documentObject) documentObject {
	wait := documentObject{"app": notesID, "event": "added"}
	for name, value := range more {
		wait[name] = value
	}
	return documentObject{"wait_for": wait}
}

// An event between an act and the wait is not missed, and one before the act does not count.
func TestWaitForAnEvent(t *testing.T) {
	w := newWorld(t)
	onNotes(t, w)
	if _, err := w.does(t, addNotes("old"), waitFor(nil), addNotes("older")); err != nil {
		t.Fatal(err)
	}
	milk := documentObject{"when": documentObject{"value": "{{event.fields.title}}", "equals": "milk"}}
	result, err := w.does(t, addNotes("bread", "milk", "eggs"), waitFor(milk), waitFor(nil), addNotes("{{step_2.fields.title}}", "{{step_3.fields.title}}"),
		waitFor(milk))
	assert.NilError(t, err)
	// old, older, bread, milk, eggs, and then those that the waits found: milk, eggs
	said := fmt.Sprint(result.Data)
	assert.Check(t, is.Contains(said, "fields:map[title:milk] number:6 "), "the last event is not the sixth one: %s", said)
}

func TestWaitForAnEventThatDoesNotCome(t *testing.T) {
	w := newWorld(t)
	onNotes(t, w)
	_, err := w.does(t, addNotes("milk"), waitFor(documentObject{"timeout_ms": 200, "when": documentObject{"value": "{{event.fields.title}}", "equals": "cheese"}}))
	e := aai.AsError(err)
	assert.Assert(t, e != nil, err)
	assert.Assert(t, is.Contains(e.Message, "no event added of org.example.Notes came within 200ms"), err)
}

// A wait ends with its run.
func TestWaitForEndsWithTheRun(t *testing.T) {
	w := newWorld(t)
	onNotes(t, w)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := w.Do(ctx, &aai.Call{Caller: agent(), App: aai.BuiltinApp, Tool: "workflow", Args: map[string]any{"steps": []any{waitFor(documentObject{"timeout_ms": 300_000})}}})
		ended <- err
	}()
	time.AfterFunc(time.Second, cancel)
	select {
	case err := <-ended:
		assert.Check(t, err != nil, "the run succeeded")
	case <-time.After(time.Minute):
		t.Error("the wait goes on")
	}
}

func TestInvalidWaits(t *testing.T) {
	w := newWorld(t)
	onNotes(t, w)
	for want, step := range map[string]documentObject{
		"step 1, tool":           {"tool": "add", "wait_for": documentObject{"app": notesID, "event": "added"}},
		"wait_for, event":        {"wait_for": documentObject{"app": notesID}},
		"wait_for, when, value":  waitFor(documentObject{"when": documentObject{"value": "{{other.title}}", "equals": 1}}),
		"wait_for, timeout_ms":   waitFor(documentObject{"timeout_ms": -1}),
		"step 1, wait_for: expe": {"wait_for": 7},
	} {
		_, err := w.does(t, step)
		assert.Check(t, is.ErrorContains(err, want))
	}
}
