package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/undo"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
)

// killedStore is a store in memory of a process that is killed: after a number of operations,
// nothing more is stored or done.
type killedStore struct {
	workflow.StoredRun
	taken  map[int]undo.Status
	mu     sync.Mutex // calls of a group are concurrent
	count  sync.Mutex // guards living
	living int        // operations left before it is killed
}

// dies reports whether the process is dead now.
func (m *killedStore) dies() bool {
	m.count.Lock()
	defer m.count.Unlock()
	m.living--
	return m.living < 0
}

var errKilled = errors.New("killed")

func (m *killedStore) Begin(_ context.Context, r *workflow.Run) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dies() {
		return errKilled
	}
	m.Run, m.State = r, workflow.Begun
	return nil
}

func (m *killedStore) Step(_ context.Context, _ string, r *workflow.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dies() {
		return errKilled
	}
	for i := range m.Records {
		if m.Records[i].Step == r.Step && m.Records[i].Part == r.Part {
			m.Records[i] = *r
			return nil
		}
	}
	m.Records = append(m.Records, *r)
	return nil
}

func (m *killedStore) UndoAct(_ context.Context, _ string, b *workflow.UndoRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dies() {
		return errKilled
	}
	if m.taken == nil {
		m.taken = map[int]undo.Status{}
	}
	m.taken[b.Act] = b.Status
	return nil
}

func (m *killedStore) End(_ context.Context, _ string, state workflow.State) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dies() {
		return errKilled
	}
	m.State = state
	return nil
}

// kept returns the stored run as another process finds it.
func (m *killedStore) kept() *workflow.StoredRun {
	k := m.StoredRun
	k.Records = nil
	for _, r := range m.Records {
		acts := r.Acts
		r.Acts = nil
		for _, act := range acts {
			act.UndoStatus = m.taken[act.ID]
			r.Acts = append(r.Acts, act)
		}
		k.Records = append(k.Records, r)
	}
	return &k
}

// runUntilKilled runs the steps in a process that is killed after some operations, and returns the world
// at that point; alive if it completed.
func runUntilKilled(t *testing.T, living int, steps []any) (w *world, m *killedStore, alive bool) {
	t.Helper()
	w, m = newWorld(t), &killedStore{living: living}
	w.Store = m
	w.apps[0].Tools = w.BuiltinTools()
	w.kept["a"], w.kept["b"], w.kept["g2"] = "old a", "old b", "old g2"
	w.dead = m.dies
	_, err := w.does(t, steps...)
	alive = m.living >= 0
	assert.Assert(t, !alive || err == nil, err)
	m.living, w.dead = 1<<30, nil
	return w, m, alive
}

// once fails for effects that happened twice.
func once(t *testing.T, w *world, what string) {
	t.Helper()
	for name, n := range w.sets {
		assert.Check(t, n <= 1, "%s: %s was set %d times", what, name, n)
	}
}

// manySteps returns steps of every kind. With checks, their acts can be verified.
func manySteps(checks bool) []any {
	set := func(name string, value any, more ...any) documentObject {
		if checks {
			more = append(more, "check", documentObject{"app": shelfID, "tool": "get", "args": documentObject{"name": name}, "equals": documentObject{"value": value}})
		}
		return step("set", documentObject{"name": name, "value": value}, more...)
	}
	return []any{
		step("get", documentObject{"name": "a"}, "name", "before"),
		set("a", "new a"),
		set("never", 1, "when", documentObject{"value": "{{before.value}}", "equals": "other"}),
		set("{{item}}", "each {{item}}", "for_each", []any{"b", "c", "d"}),
		documentObject{"parallel": []any{set("g1", 1), set("g2", 2), step("get", documentObject{"name": "a"})}},
		set("last", "was {{before.value}}"),
		step("get", documentObject{"name": "last"}),
	}
}

var promised = map[string]any{"a": "new a", "b": "each b", "c": "each c", "d": "each d", "g1": 1, "g2": 2, "last": "was old a"}

// Wherever a process is killed, another one resumes to the same end, and nothing happens twice.
func TestResume(t *testing.T) {
	for living := 1; ; living++ { // one that is killed before it is stored is no run
		w, m, alive := runUntilKilled(t, living, manySteps(true))
		if alive {
			break
		}
		what := fmt.Sprintf("killed after %d", living)
		_, err := w.Resume(t.Context(), &aai.Call{ID: "c2", Caller: agent()}, m.kept(), nil)
		assert.NilError(t, err, what)
		assert.Equal(t, m.State, workflow.Done, what)
		assert.Check(t, is.Equal(fmt.Sprint(w.kept), fmt.Sprint(promised)), "%s %v", what, w.kept)
		once(t, w, what)
		_, err = w.Resume(t.Context(), &aai.Call{ID: "c3", Caller: agent()}, m.kept(), nil)
		assert.Check(t, is.ErrorContains(err, "has ended"), "%s: resumed again: %v", what, err)
	}
}

// If a step's effect is unknown, nothing runs before happened is given.
func TestResumeAsks(t *testing.T) {
	asked := 0
	for living := 1; ; living++ {
		w, m, alive := runUntilKilled(t, living, manySteps(false))
		if alive {
			break
		}
		what := fmt.Sprintf("killed after %d", living)
		was := len(w.calls)
		_, err := w.Resume(t.Context(), &aai.Call{ID: "c2", Caller: agent()}, m.kept(), nil)
		if err != nil {
			asked++
			e := aai.AsError(err)
			assert.Assert(t, is.Contains(e.Message, "it is unknown whether this was done: step "), "%s %+v", what, e)
			assert.Assert(t, e.Hint != "", "%s %+v", what, e)
			assert.Assert(t, e.RetrySafe(), "%s %+v", what, e)
			assert.Assert(t, is.Len(w.calls, was), "%s %+v", what, e)
			assert.Equal(t, m.State, workflow.Interrupted, "%s %+v", what, e)
			if strings.Contains(e.Message, "; step 5.2") { // of one it may be so, of the other not
				continue
			}
			said := w.sets[w.doubtful] > 0
			if _, err = w.Resume(t.Context(), &aai.Call{ID: "c3", Caller: agent()}, m.kept(), &said); err != nil {
				t.Fatalf("%s: said %v of %s: %v", what, said, w.doubtful, err)
			}
		}
		assert.Check(t, is.Equal(fmt.Sprint(w.kept), fmt.Sprint(promised)), "%s %v", what, w.kept)
		once(t, w, what)
	}
	assert.Check(t, asked >= 5, "asked %d times", asked)
}

// Wherever a process is killed, known acts are undone, and the rest is named; also if the rollback
// is killed.
func TestRollBackLater(t *testing.T) {
	before := map[string]any{"a": "old a", "b": "old b", "g2": "old g2"}
	for living := 1; ; living++ {
		w, m, alive := runUntilKilled(t, living, manySteps(true))
		for again := 1; again < 40; again += 3 {
			m.living = again
			w.dead = m.dies
			_, _ = w.RollBack(t.Context(), &aai.Call{ID: "c2", Caller: agent()}, m.kept())
		}
		m.living, w.dead = 1<<30, nil
		result, err := w.RollBack(t.Context(), &aai.Call{ID: "c3", Caller: agent()}, m.kept())
		state := workflow.RolledBack
		if err == nil && strings.Contains(result.Text, "not undone: ") {
			state = workflow.PartlyRolledBack
		}
		assert.NilError(t, err, "%d", living)
		assert.Equal(t, m.State, state, "%d", living)
		for name, value := range w.kept {
			if value != nil && before[name] != value && !strings.Contains(result.Text, "not undone: ") {
				t.Errorf("killed after %d: %s is %v, and %s", living, name, value, result.Text)
			}
		}
		assert.Check(t, strings.Count(result.Text, "not undone") <= 2, "killed after %d: %s", living, result.Text)
		if alive {
			break
		}
	}
}

// The value of a step confirmed by its check is lost; a step that needs it fails before anything runs.
func TestLostValues(t *testing.T) {
	w := newWorld(t)
	m := &killedStore{living: 3}
	w.Store = m
	w.apps[0].Tools = w.BuiltinTools()
	w.dead = m.dies
	_, err := w.does(t, step("set", documentObject{"name": "a", "value": 1}, "name", "made"), step("set", documentObject{"name": "b", "value": "{{made.text}}"}))
	if err == nil || w.sets["a"] != 1 {
		t.Fatal(err, w.kept)
	}
	m.living, w.dead = 1<<30, nil
	happened := true
	_, err = w.Resume(t.Context(), &aai.Call{ID: "c2", Caller: agent()}, m.kept(), &happened)
	if err == nil || !strings.Contains(err.Error(), "step 2 needs {{made.text}}, but that step's result was lost") || m.State != workflow.Interrupted || w.kept["b"] != nil {
		t.Error(err, m.State, w.kept)
	}
}

// recordingStore records its calls, and fails on demand.
type recordingStore struct {
	lines   []string
	records []workflow.Record
	run     *workflow.Run
	full    string // line at which it fails
}

func (n *recordingStore) line(format string, args ...any) error {
	line := fmt.Sprintf(format, args...)
	n.lines = append(n.lines, line)
	if line == n.full {
		return errors.New("no space left on device")
	}
	return nil
}

func (n *recordingStore) Begin(_ context.Context, r *workflow.Run) error {
	n.run = r
	return n.line("begin")
}

func (n *recordingStore) Step(_ context.Context, _ string, r *workflow.Record) error {
	if r.State != workflow.Begun {
		n.records = append(n.records, *r)
	}
	if r.Part > 0 {
		return n.line("%d.%d %s", r.Step, r.Part, r.State)
	}
	return n.line("%d %s", r.Step, r.State)
}

func (n *recordingStore) UndoAct(_ context.Context, _ string, b *workflow.UndoRecord) error {
	return n.line("back %d %s", b.Act, b.Status)
}

func (n *recordingStore) End(_ context.Context, _ string, state workflow.State) error {
	return n.line("end %s", state)
}

func runRecorded(t *testing.T, full string) (*world, *recordingStore) {
	w, n := newWorld(t), &recordingStore{full: full}
	w.Store = n
	w.apps[0].Tools = w.BuiltinTools()
	return w, n
}

func fourSteps() []any {
	return []any{
		step("set", documentObject{"name": "a", "value": 1}, "name", "first"),
		step("get", documentObject{"name": "a"}, "when", documentObject{"value": "{{first.text}}", "equals": "never"}),
		step("get", documentObject{"name": "missing"}, "on_fail", "skip"),
		step("set", documentObject{"name": "b", "value": "{{step_3.error.code}}"}, "on_fail", "rollback"),
	}
}

// The store records each step before and after it, and the end.
func TestStoreReceivesProgress(t *testing.T) {
	w, n := runRecorded(t, "")
	w.fails["get missing"] = aai.Errorf(aai.ElementNotFound, "there is none")
	_, err := w.does(t, fourSteps()...)
	assert.NilError(t, err)
	want := []string{"begin", "1 begun", "1 done", "2 begun", "2 passed", "3 begun", "3 failed", "4 begun", "4 done", "end done"}
	assert.Check(t, slices.Equal(n.lines, want), "told %v, expected %v", n.lines, want)
	assert.Assert(t, n.run.ID != "", "%+v", n.run)
	assert.Equal(t, n.run.Caller, agent(), "%+v", n.run)
	assert.Equal(t, n.run.Document.Name, "test", "%+v", n.run)
	assert.Assert(t, n.run.Document.Source["steps"] != nil, "%+v", n.run)
	assert.Equal(t, n.run.App, aai.BuiltinApp, "%+v", n.run)
	if acts := n.records[0].Acts; len(acts) != 1 || acts[0].Undo == nil || len(n.records[1].Acts) != 0 {
		t.Errorf("%+v", n.records)
	}
}

// A step that cannot be recorded does not run.
func TestWhatTheStoreCannotKeep(t *testing.T) {
	for full, ran := range map[string]int{"begin": 0, "1 begun": 0, "1 done": 1, "3 begun": 1, "3 failed": 1, "4 begun": 2, "4 done": 3} {
		w, n := runRecorded(t, full)
		w.fails["get missing"] = aai.Errorf(aai.ElementNotFound, "there is none")
		_, err := w.does(t, fourSteps()...)
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%s %v", full, err)
		assert.Equal(t, e.Code, aai.RecordFailed, "%s %v", full, err)
		assert.Check(t, len(slices.DeleteFunc(w.calls, func(c string) bool { return strings.HasPrefix(c, "get a") })) >= ran, "%s: ran %v", full, w.calls)
		if full == "begin" && len(w.calls) > 0 || full == "4 done" && w.kept["b"] != nil {
			t.Errorf("%s: ran %v, kept %v", full, w.calls, w.kept)
		}
		if full == "4 begun" && (n.lines[len(n.lines)-1] != "end rolled_back" || w.kept["a"] != nil) {
			t.Errorf("%v, kept %v", n.lines, w.kept)
		}
	}
}

// Another process resumes at a step, with the values and acts of the earlier ones.
func TestGoingOn(t *testing.T) {
	w, n := runRecorded(t, "")
	w.fails["get missing"] = aai.Errorf(aai.ElementNotFound, "there is none")
	if _, err := w.does(t, fourSteps()...); err != nil {
		t.Fatal(err)
	}
	later, again := runRecorded(t, "")
	later.kept["a"] = 1
	later.fails["set b"] = aai.Errorf(aai.ElementNotFound, "no b")
	d, err := workflow.ParseDocument(n.run.Document.Source, false)
	assert.NilError(t, err)
	call := &aai.Call{ID: "c2", Caller: agent(), App: aai.BuiltinApp, Tool: workflow.BuiltinToolName}
	_, err = later.Execute(t.Context(), call, d, workflow.ResumePoint{Step: 4, Before: n.records[:3]})
	if err == nil || !strings.Contains(err.Error(), "step 4 of 4") || !strings.Contains(err.Error(), "1 act undone") || !strings.Contains(err.Error(), "not undone") { // from the stored state
		t.Error(err)
	}
	want := []string{"set b", "get a", "set a"}
	assert.Assert(t, slices.Equal(later.calls, want), "ran %v, expected %v; kept %v", later.calls, want, later.kept)
	assert.Assert(t, later.kept["a"] == nil, "ran %v, expected %v; kept %v", later.calls, want, later.kept)
	want = []string{"begin", "4 begun", "4 failed", "back 1 unsure", "back 1 undone", "end partly_rolled_back"}
	assert.Check(t, slices.Equal(again.lines, want), "told %v, expected %v", again.lines, want)
}
