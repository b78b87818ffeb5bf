package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/secrets"
)

const setA = `{"description": "Sets a.", "params": {"type": "object", "properties": {"to": {"type": "string", "default": "after"}}},
	"steps": [{"app": "org.example.Shelf", "tool": "set", "args": {"name": "a", "value": "{{params.to}} {{{{x}}"}}]}`

// A file is a tool, its arguments are data, and a changed file is another tool.
func TestAFileIsATool(t *testing.T) {
	w := newLibraryWorld(t)
	assert.Check(t, !slices.ContainsFunc(w.Catalog.Apps(), func(a *aai.App) bool { return a.ID == workflow.LibraryAppID }), "listed without a workflow")
	w.write(t, "set-a.json", setA)
	_, e := w.do(t, sessionAgent("s"), workflow.LibraryAppID, "set-a", map[string]any{"to": `{{step_1.x}} "quoted" {{params.to}}`})
	assert.Assert(t, e == nil, e)
	assert.Check(t, is.Equal(w.kept["a"], `{{step_1.x}} "quoted" {{params.to}} {{x}}`))
	if _, e := w.do(t, sessionAgent("s"), workflow.LibraryAppID, "set-a", nil); e != nil || w.kept["a"] != "after {{x}}" {
		t.Errorf("%v, set to %q", e, w.kept["a"])
	}
	w.write(t, "set-a.json", strings.Replace(setA, `"a", "value"`, `"b", "value"`, 1))
	if _, e := w.do(t, sessionAgent("s"), workflow.LibraryAppID, "set-a", nil); e != nil || w.kept["b"] != "after {{x}}" {
		t.Errorf("%v, set to %q", e, w.kept["b"])
	}
	assert.NilError(t, os.Remove(filepath.Join(w.folder, "set-a.json")))
	_, e = w.do(t, sessionAgent("s"), workflow.LibraryAppID, "set-a", nil)
	assert.Assert(t, e != nil, e)
	assert.Equal(t, e.Code, aai.ToolNotFound, e)
}

// Permanent consent to a workflow applies to the file's content at that time.
func TestAChangedFileAsksAgain(t *testing.T) {
	w := newLibraryWorld(t)
	asks := func(text string) int {
		t.Helper()
		w.write(t, "set-a.json", text)
		w.asked = nil
		_, e := w.do(t, sessionAgent("s"), workflow.LibraryAppID, "set-a", nil)
		assert.Assert(t, e == nil, e)
		return len(w.asked)
	}
	first := asks(setA)
	if first != 2 || asks(setA) != 0 { // for the workflow and for its step
		t.Errorf("asked %d times, then %v", first, w.asked)
	}
	if n := asks(setA + " "); n != 1 || !strings.Contains(w.asked[0].Title, "set-a") {
		t.Errorf("of a changed file asked %v", w.asked)
	}
}

// At a terminal the first question is about the workflow, the next about its steps.
func TestAskedAtATerminal(t *testing.T) {
	for answer, want := range map[string]string{"always": "after {{x}}", "session": "after {{x}}", "deny": "before"} {
		w := newLibraryWorld(t)
		w.Dialog = nil
		w.write(t, "set-a.json", setA)
		call := &aai.Call{Caller: aai.Caller{Door: aai.DoorCLI, Name: "terminal", Identity: aai.IdentityTerminal, Session: "s"}, App: workflow.LibraryAppID, Tool: "set-a"}
		_, err := w.Do(t.Context(), call)
		rounds := 0
		for e := aai.AsError(err); e != nil && len(e.Questions) > 0 && rounds < 3; e = aai.AsError(err) { // as the door does
			again := *call
			again.ID, again.Answers = "", map[string]aai.Answer{}
			for _, q := range e.Questions {
				given := answer
				if answer == "deny" && rounds == 0 {
					given = "always" // for the workflow; not for its step
				}
				again.Answers[q.ID] = aai.Answer{Choice: given, Seal: q.Seal, Channel: aai.Terminal}
			}
			rounds++
			_, err = w.Do(t.Context(), &again)
		}
		assert.Check(t, is.Equal(w.kept["a"], want), "%s %v", answer, err)
		assert.Check(t, is.Equal(rounds, 2), "%s %v", answer, err)
		assert.Check(t, is.Equal((err == nil), (answer != "deny")), "%s %v", answer, err)
	}
}

// A faulty file reports its error and place, and does not affect the others.
func TestBrokenFiles(t *testing.T) {
	w := newLibraryWorld(t)
	w.write(t, "good.json", setA)
	for name, c := range map[string]struct{ text, says string }{
		"cut":     {`{"steps": [`, "it ends in the middle (line 1, column 12)"},
		"twice":   {`{"steps": [], "steps": []}`, `has "steps" twice (line 1, column`},
		"list":    {`[]`, "expected an object"},
		"stray":   {`{"steps": [{"app": "a", "tool": "b", "argz": {}}]}`, "step 1, argz: there is no such member; args?"},
		"param":   {`{"steps": [{"app": "a", "tool": "b", "args": {"x": "{{params.y}}"}}]}`, "step 1, args.x: {{params.y}}"},
		"schema":  {`{"params": {"type": "object", "properties": {"x": {"type": "nothing"}}}, "steps": [{"app": "a", "tool": "b"}]}`, "the workflow, params: "},
		"check":   {`{"steps": [{"app": "a", "tool": "b", "check": {"tool": "c"}}]}`, "step 1, check, equals: expected"},
		"a b":     {setA, "the file's name becomes the tool's"},
		"nothing": {"", "it is empty"},
	} {
		w.write(t, name+".json", c.text)
		_, e := w.do(t, sessionAgent("s"), workflow.LibraryAppID, aai.CleanLabel(name, 60), nil)
		assert.Assert(t, e != nil, "%s %+v", name, e)
		assert.Assert(t, is.Contains(e.Message, c.says), "%s %+v", name, e)
		assert.Assert(t, is.Contains(e.Message, name+".json: "), "%s %+v", name, e)
		assert.Assert(t, e.Hint != "", "%s %+v", name, e)
		assert.Equal(t, e.Delivery, aai.NotDelivered, "%s %+v", name, e)
	}
	assert.NilError(t, os.Symlink("/dev/zero", filepath.Join(w.folder, "zero.json")))
	_, e := w.do(t, sessionAgent("s"), workflow.LibraryAppID, "zero", nil)
	assert.Assert(t, e != nil, e)
	assert.Assert(t, is.Contains(e.Message, "expected a regular file"), e)
	_, e = w.do(t, sessionAgent("s"), workflow.LibraryAppID, "good", nil)
	assert.Check(t, e == nil, e)
}

// ran runs set-a for a caller, and returns the run.
func (w *libraryWorld) ran(t *testing.T, caller aai.Caller) string {
	t.Helper()
	w.write(t, "set-a.json", setA)
	if _, e := w.do(t, caller, workflow.LibraryAppID, "set-a", nil); e != nil {
		t.Fatal(e)
	}
	result, e := w.do(t, caller, aai.BuiltinApp, workflow.RunsTool, nil)
	assert.Assert(t, e == nil, e)
	b, _ := json.Marshal(result.Data)
	var rows []struct{ Run string }
	err := json.Unmarshal(b, &rows)
	assert.NilError(t, err, b)
	assert.Assert(t, is.Len(rows, 1), b)
	return rows[0].Run
}

// An agent can list, resume and roll back its own runs, and a user at the terminal all runs.
func TestRunsAreTheirCallers(t *testing.T) {
	w := newLibraryWorld(t)
	id := w.ran(t, sessionAgent("s"))
	person := aai.Caller{Door: aai.DoorCLI, Name: "terminal", Identity: aai.IdentityTerminal}
	later := sessionAgent("s")
	later.Session = "another conversation"
	nobody := aai.Caller{Door: aai.DoorMCP, Session: "u"}
	for _, tool := range []string{workflow.ShowTool, workflow.ResumeTool, workflow.RollBackTool} {
		for _, stranger := range []aai.Caller{sessionAgent("t"), nobody} {
			_, e := w.do(t, stranger, aai.BuiltinApp, tool, map[string]any{"run": id})
			assert.Assert(t, e != nil, "%s by %v: %v", tool, stranger, e)
			assert.Assert(t, is.Contains(e.Message, "there is no run"), "%s %v %v", tool, stranger, e)
		}
	}
	for _, caller := range []aai.Caller{person, later} {
		result, e := w.do(t, caller, aai.BuiltinApp, workflow.ShowTool, map[string]any{"run": id})
		assert.Assert(t, e == nil, "%v %v", caller, e)
		assert.Assert(t, is.Contains(result.Text, "run "+id+" of "), "%v %v", caller, e)
	}
	for caller, want := range map[aai.Caller]int{person: 1, later: 1, sessionAgent("t"): 0, nobody: 0} {
		result, e := w.do(t, caller, aai.BuiltinApp, workflow.RunsTool, nil)
		assert.Assert(t, e == nil, e)
		b, _ := json.Marshal(result.Data)
		assert.Check(t, is.Equal(strings.Count(string(b), `"run":`), want), "%v %s", caller, b)
	}
	result, e := w.do(t, later, aai.BuiltinApp, workflow.RollBackTool, map[string]any{"run": id})
	assert.Assert(t, e == nil, "%v %+v", e, result)
	assert.Assert(t, strings.HasPrefix(result.Text, "set-a: 1 of 1 act undone"), "%v %+v", e, result)
	assert.Equal(t, w.kept["a"], "before", "%v %+v", e, result)
	result, e = w.do(t, later, aai.BuiltinApp, workflow.ShowTool, map[string]any{"run": id})
	assert.Assert(t, e == nil, "%v %+v", e, result)
	assert.Assert(t, is.Contains(result.Text, "rolled_back"), "%v %+v", e, result)
	assert.Assert(t, is.Contains(result.Text, "undone: undone"), "%v %+v", e, result)
}

// The catalog's listeners are notified of changed files.
func TestChangesNotifyListeners(t *testing.T) {
	w := newLibraryWorld(t)
	told := make(chan bool, 10)
	defer w.Catalog.OnChange(func() { told <- true })()
	go w.library.Watch(t.Context())
	changes := 0
	for range 3 {
		for until := time.After(time.Minute); ; { // the watch may not have begun
			changes++
			w.write(t, "set-a.json", setA+strings.Repeat(" ", changes))
			select {
			case <-told:
			case <-time.After(time.Second):
				continue
			case <-until:
				t.Fatal("not told")
			}
			break
		}
	}
}

// A starting gateway logs interrupted runs, and opens no keychain.
func TestWhatWasLeftIsLogged(t *testing.T) {
	folder := t.TempDir()
	vault := secrets.New(secrets.Config{Folder: filepath.Join(folder, "secrets"), Getenv: func(string) string { return "" }, AllowInsecureFile: true})
	cfg := workflow.SQLiteConfig{Path: filepath.Join(folder, "state.db"), Vault: vault}
	said := func() string {
		var b strings.Builder
		workflow.WarnInterrupted(t.Context(), workflow.SQLiteConfig{Path: cfg.Path}, slog.New(slog.NewTextHandler(&b, nil)))
		return b.String()
	}
	assert.Check(t, is.Equal(said(), ""))
	if _, err := os.Stat(cfg.Path); err == nil {
		t.Error("made by looking")
	}
	d, err := workflow.ParseDocument(map[string]any{"steps": []any{map[string]any{"app": "a", "tool": "b"}, map[string]any{"app": "a", "tool": "b"}}}, false)
	assert.NilError(t, err)
	keeper := workflow.NewSQLiteStore(cfg)
	for _, id := range []string{"left", "ended"} {
		assert.NilError(t, errors.Join(keeper.Begin(t.Context(), &workflow.Run{ID: id, Document: d}), keeper.Step(t.Context(), id, &workflow.Record{Step: 1, State: workflow.Begun})))
	}
	if s := said(); s != "" { // it runs
		t.Error(s)
	}
	assert.NilError(t, errors.Join(keeper.End(t.Context(), "ended", workflow.Done), keeper.Close()))
	s := said()
	assert.Check(t, is.Equal(strings.Count(s, "was interrupted"), 1))
	assert.Check(t, is.Contains(s, `run=left at="step 1 of 2"`))
}

// The example of the documentation is valid.
func TestTheDocumentedExample(t *testing.T) {
	text, err := os.ReadFile("../../../docs/workflows.md")
	assert.NilError(t, err)
	_, example, found := strings.Cut(string(text), "```json\n")
	example, _, ended := strings.Cut(example, "```")
	name, err := workflow.ParseName([]byte(example))
	assert.Assert(t, found)
	assert.Assert(t, ended)
	assert.NilError(t, err)
	assert.Equal(t, name, "Quieter")
}

// The error for an absent file says that.
func TestReadOfAnAbsentFile(t *testing.T) {
	_, err := workflow.ReadFile(filepath.Join(t.TempDir(), "nope.json"))
	e := aai.AsError(err)
	assert.Assert(t, err != nil, "%+v", err)
	assert.Assert(t, !strings.Contains(e.Hint, "Correct"), "%+v", err)
	assert.Assert(t, is.Contains(e.Hint, "an existing file"), "%+v", err)
}

// TestMacroOfAProject checks that an agent runs the workflows of the projects that its client works in, and no others.
func TestMacroOfAProject(t *testing.T) {
	w := newLibraryWorld(t)
	project := t.TempDir()
	folder := filepath.Join(project, ".aai", "macros")
	assert.NilError(t, os.MkdirAll(folder, 0o700))
	macro := []byte(`{"steps": [{"app": "org.example.Shelf", "tool": "set", "args": {"name": "a", "value": "macro"}}]}`)
	for _, path := range []string{filepath.Join(folder, "note.json"), filepath.Join(project, "outside.json")} {
		assert.NilError(t, os.WriteFile(path, macro, 0o600))
	}
	assert.NilError(t, os.Symlink(filepath.Join(w.folder, "stored.json"), filepath.Join(folder, "link.json")))
	w.write(t, "stored.json", string(macro))
	run := func(args map[string]any, roots ...aai.Root) *aai.Error {
		ctx := aai.WithClientCapabilities(t.Context(), aai.ClientCapabilities{Roots: func(context.Context) ([]aai.Root, error) { return roots, nil }})
		_, err := w.Do(ctx, &aai.Call{Caller: sessionAgent("m"), App: aai.BuiltinApp, Tool: workflow.FileTool, Args: args})
		return aai.AsError(err)
	}
	root := aai.Root{Path: project}
	err := run(map[string]any{"file": ".aai/macros/note.json"}, root)
	assert.Assert(t, err == nil, err)
	assert.Check(t, is.Equal(w.kept["a"], "macro"), "the macro did nothing: %v", w.kept)
	for name, try := range map[string]struct {
		args  map[string]any
		roots []aai.Root
	}{
		"no project":       {map[string]any{"file": filepath.Join(folder, "note.json")}, nil},
		"other folder":     {map[string]any{"file": filepath.Join(project, "outside.json")}, []aai.Root{root}},
		"out of it":        {map[string]any{"file": ".aai/../outside.json"}, []aai.Root{root}},
		"link out of it":   {map[string]any{"file": ".aai/macros/link.json"}, []aai.Root{root}},
		"a stored one":     {map[string]any{"file": filepath.Join(w.folder, "stored.json")}, []aai.Root{root}},
		"save of an agent": {map[string]any{"file": ".aai/macros/note.json", "save": "mine"}, []aai.Root{root}},
	} {
		t.Run(name, func(t *testing.T) {
			err := run(try.args, try.roots...)
			assert.Assert(t, err != nil, "it has run")
			assert.Check(t, is.Equal(err.Delivery, aai.NotDelivered), err)
		})
	}
}
