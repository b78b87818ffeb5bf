package descriptors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/descriptors"
	"github.com/gybob/aai-gateway/internal/automation/undo"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/drivers/dbus"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// allowAllGate is a gate that admits every call.
type allowAllGate struct{}

func (allowAllGate) Check(context.Context, *aai.Request) ([]aai.Question, error) {
	return nil, nil
}

// memoryJournal is a journal in memory.
type memoryJournal struct {
	mu      sync.Mutex
	entries []aai.Entry
}

func (m *memoryJournal) Record(_ context.Context, e *aai.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries = append(m.entries, *e)
	return nil
}

// all returns the entries so far, in order.
func (m *memoryJournal) all() []aai.Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.entries)
}

// succeeded returns the tools of the app with a call that was received, admitted and successful.
func (m *memoryJournal) succeeded(app string) map[string]bool {
	tools := map[string]bool{}
	admitted := map[string]string{}
	for _, e := range m.all() {
		switch {
		case e.Kind == aai.Outcome && e.Code == "" && (e.Admitted && e.App == app || admitted[e.Call] != ""):
			tools[e.Tool] = true
		case e.Admitted && e.App == app:
			admitted[e.Call] = e.Tool
		}
	}
	return tools
}

// hasReached returns nil if a call of the tool has an entry of the kind.
func (m *memoryJournal) hasReached(kind aai.EntryKind, tool string) error {
	for _, e := range m.all() {
		if e.Kind == kind && e.Tool == tool {
			return nil
		}
	}
	return fmt.Errorf("the journal has no %s of %s", kind, tool)
}

// world is a session with a gateway that reaches its programs.
type world struct {
	*session
	gateway *gateway.Gateway
	journal *memoryJournal
}

// newWorld creates a session and a gateway with the descriptors in the folder, which is a
// temporary ~/.aai. The programs have env in their environment.
func newWorld(t testing.TB, folder string, env ...string) *world {
	t.Helper()
	s := newSession(t, env...)
	driver := dbus.New(dbus.Config{AllowSystemBus: true, Getenv: s.getenv})
	t.Cleanup(func() { _ = driver.Close() })
	apps := catalog.New(catalog.Config{
		Places:  []catalog.Place{catalog.Folders(folder)},
		Drivers: map[string]aai.Driver{"dbus": driver, "ipc": driver},
	})
	report, err := apps.Report(t.Context())
	assert.NilError(t, err)
	for _, file := range report.Files {
		assert.Check(t, is.Equal(file.Status, catalog.StatusOK), "%s %v %v", file.Path, file.Errors, file.Warnings)
		assert.Check(t, len(file.Errors)+len(file.Warnings) <= 0, "%s %v %v", file.Path, file.Errors, file.Warnings)
	}
	journal := &memoryJournal{}
	return &world{session: s, journal: journal, gateway: &gateway.Gateway{
		Catalog: apps, Gates: []aai.Gate{allowAllGate{}}, Journal: journal,
	}}
}

// installed returns a temporary ~/.aai with the original descriptors.
func installed(t testing.TB) string {
	t.Helper()
	folder := t.TempDir()
	assert.NilError(t, os.CopyFS(folder, descriptors.FS()))
	return folder
}

// app is one of the world's apps, ready for calls.
type app struct {
	*world
	id string
}

// app returns the app with the id. If the bus cannot start its program, it must be running. app
// compares the descriptor with the program's introspection data.
func (w *world) app(id string) *app {
	w.Helper()
	a := &app{w, id}
	a.agreesWithProgram()
	return a
}

// do makes one call. The arguments are a JSON object in which $HOME and $RUN stand for folders of
// the session; numbers keep their spelling, as in the doors.
func (a *app) do(tool, args string) (*aai.Result, error) {
	a.Helper()
	decoder := json.NewDecoder(strings.NewReader(a.expand(args)))
	decoder.UseNumber()
	var object map[string]any
	assert.NilError(a, decoder.Decode(&object), tool)
	return a.gateway.Do(a.Context(), &aai.Call{
		App: a.id, Tool: tool, Args: object, Caller: aai.Caller{Door: "test"},
	})
}

// call makes a call that must succeed, with a result that matches the descriptor. It returns the
// result as encoding/json decodes it.
func (a *app) call(tool, args string) any {
	a.Helper()
	result, err := a.do(tool, args)
	assert.NilError(a, err, "%s %s %s", a.id, tool, args)
	assert.Check(a, is.Equal(result.Warning, ""), "%s %s %s", a.id, tool, args)
	text, err := json.Marshal(result.Data)
	assert.NilError(a, err, "%s %s %s: the result is no JSON: %v", a.id, tool, args, err)
	return a.value(string(text))
}

// value decodes JSON.
func (s *session) value(text string) any {
	s.Helper()
	var v any
	assert.NilError(s, json.Unmarshal([]byte(text), &v), "%q", text)
	return v
}

// gives makes a call with exactly the JSON value as result.
func (a *app) gives(tool, args, want string) {
	a.Helper()
	assert.Check(a, is.DeepEqual(a.value(a.expand(want)), a.call(tool, args)), "%s %s %s", a.id, tool, args)
}

// eventuallyGives repeats a call until the result is the JSON value.
func (a *app) eventuallyGives(tool, args, want string) {
	a.Helper()
	a.eventually(func() error {
		if diff := cmp.Diff(a.value(a.expand(want)), a.call(tool, args)); diff != "" {
			return fmt.Errorf("%s %s %s: expected - but got +:\n%s", a.id, tool, args, diff)
		}
		return nil
	})
}

// callsVoid makes a call that must succeed without a value.
func (a *app) callsVoid(tool, args string) {
	a.Helper()
	a.gives(tool, args, "null")
}

// checkUndo makes a call, checks its effect, and undoes it.
func (a *app) checkUndo(tool, args string, look func()) {
	a.Helper()
	result, err := a.do(tool, args)
	assert.NilError(a, err, "%s %s %s", a.id, tool, args)
	look()
	o := undo.Revert(a.Context(), a.gateway.Do, aai.Caller{Door: "test"}, result.Undo)
	assert.Check(a, o.IsUndone(), "%s %s %s %+v", a.id, tool, args, o)
}

// fails makes a call that must fail with the code and a message that contains the text, and
// returns the error.
func (a *app) fails(tool, args string, code aai.Code, text string) aai.Error {
	a.Helper()
	result, err := a.do(tool, args)
	assert.Assert(a, err != nil, "%s %s %s %s %+v", a.id, tool, args, code, result)
	e := aai.AsError(err)
	assert.Check(a, is.Equal(e.Code, code), "%s %s %s %v", a.id, tool, args, e)
	assert.Check(a, is.Contains(e.Message, text), "%s %s %s %v", a.id, tool, args, e)
	return *e
}

// list makes a call that must give a list of strings.
func (a *app) list(tool, args string) []string {
	a.Helper()
	items, ok := a.call(tool, args).([]any)
	texts := make([]string, len(items))
	for i, item := range items {
		text, isText := item.(string)
		texts[i], ok = text, ok && isText
	}
	assert.Assert(a, ok, "%s %s: expected a list of strings, got %v", a.id, tool, items)
	return texts
}

// has makes a call whose list of strings must hold the words.
func (a *app) has(tool, args string, words ...string) {
	a.Helper()
	items := a.list(tool, args)
	for _, word := range words {
		assert.Check(a, is.Contains(items, word), "%s %s", a.id, tool)
	}
}

// text makes a call that must give a string.
func (a *app) text(tool, args string) string {
	a.Helper()
	text, ok := a.call(tool, args).(string)
	assert.Assert(a, ok, "%s %s: expected a string", a.id, tool)
	return text
}

// number makes a call that must give a number.
func (a *app) number(tool, args string) float64 {
	a.Helper()
	number, ok := a.call(tool, args).(float64)
	assert.Assert(a, ok, "%s %s: expected a number", a.id, tool)
	return number
}
