package workflow_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/dbus"
	"github.com/gybob/aai-gateway/internal/events"
	"github.com/gybob/aai-gateway/internal/schema"
	"github.com/gybob/aai-gateway/internal/testkit"
)

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
