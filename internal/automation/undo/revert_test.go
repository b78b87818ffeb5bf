package undo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/undo"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// world answers state steps with data and counts steps.
type world struct {
	self  bool // the step's own tool checks the state
	data  any
	look  error
	step  error
	calls []*aai.Call
}

func (w *world) do(_ context.Context, call *aai.Call) (*aai.Result, error) {
	w.calls = append(w.calls, call)
	if call.Tool == "look" {
		return &aai.Result{Data: w.data}, w.look
	}
	if w.self {
		if err := call.CheckUnchanged(w.data); err != nil {
			return nil, err
		}
	}
	return &aai.Result{}, w.step
}

func (w *world) stepped() bool {
	return len(w.calls) > 0 && w.calls[len(w.calls)-1].Tool == "put"
}

var me = aai.Caller{Door: aai.DoorMCP, Session: "s"}

func putBack(left any) *aai.Undo {
	return &aai.Undo{
		Description: "Volume is 0.4 again", ExpectedState: left,
		Step:      aai.Step{App: "a", Tool: "put", Args: map[string]any{"v": 0.4}},
		StateStep: &aai.Step{App: "a", Tool: "look"},
	}
}

func TestWhatIsAsItWasLeftIsTakenBack(t *testing.T) {
	for name, c := range map[string]struct{ left, now any }{
		"the same":              {"x", "x"},
		"nothing":               {nil, nil},
		"numbers by value":      {0.5, json.Number("5e-1")},
		"whole numbers":         {int64(3), 3.0},
		"large ones":            {uint64(1<<63 + 1), json.Number("9223372036854775809")},
		"members that count":    {map[string]any{"a": 1}, map[string]any{"a": 1.0, "b": "other"}},
		"at any depth":          {map[string]any{"a": []any{map[string]any{"x": true}}}, map[string]any{"a": []any{map[string]any{"x": true, "y": 2}}}},
		"a member that is null": {map[string]any{"a": nil}, map[string]any{}},
		"of a Go type": {map[string]any{"n": 2}, struct {
			N int `json:"n"`
		}{2}},
	} {
		t.Run(name, func(t *testing.T) {
			w, u := &world{data: c.now}, putBack(c.left)
			u.ExpectedShape = c.left
			o := undo.Revert(t.Context(), w.do, me, u)
			assert.Assert(t, o.IsUndone(), "%+v", o)
			assert.Equal(t, o.Message, "Volume is 0.4 again", "%+v", o)
			assert.Assert(t, w.stepped(), "%+v", o)
			for _, call := range w.calls {
				assert.Check(t, is.Equal(call.Caller, me))
			}
		})
	}
}

func TestNewerWorkIsNotOverwritten(t *testing.T) {
	for name, c := range map[string]struct {
		left, now any
		says      string
	}{
		"another text":      {"x", "y", `it is "y", expected "x"`},
		"another number":    {0.5, 0.9, "it is 0.9, expected 0.5"},
		"large ones":        {uint64(1<<63 + 1), uint64(1<<63 + 2), "9223372036854775810"},
		"a number as text":  {1, "1", `it is "1", expected 1`},
		"a huge exponent":   {json.Number("1"), json.Number("1e999999999"), "it is 1e999999999"},
		"a member":          {map[string]any{"volume": 0.5}, map[string]any{"volume": 0.9, "b": 1}, "volume is 0.9, expected 0.5"},
		"a member is gone":  {map[string]any{"volume": 0.5}, map[string]any{}, "volume is gone"},
		"deep":              {map[string]any{"a": []any{1, 2}}, map[string]any{"a": []any{1, 3}}, "a.2 is 3, expected 2"},
		"a new member":      {map[string]any{"a": "1"}, map[string]any{"a": "1", "letter": "an hour of work"}, "letter is new"},
		"no longer empty":   {map[string]any{}, map[string]any{"letter": "an hour of work"}, "letter is new"},
		"a new one deep":    {[]any{map[string]any{}}, []any{map[string]any{"x": 1}}, "1.x is new"},
		"a longer list":     {[]any{1}, []any{1, 2}, "it is [1,2], expected [1]"},
		"nothing there":     {"x", nil, `it is null, expected "x"`},
		"no object":         {map[string]any{"a": 1}, "a", "expected {"},
		"what is no JSON":   {"x", func() {}, "cannot be compared"},
		"a secret":          {map[string]any{"password": "hunter2"}, map[string]any{"password": "hunter3"}, "password has changed"},
		"secrets in others": {map[string]any{"a": 1}, map[string]any{"a": map[string]any{"token": "hunter3"}}, "a is {"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{data: c.now}
			o := undo.Revert(t.Context(), w.do, me, putBack(c.left))
			assert.Check(t, is.Equal(o.Status, undo.StatusChangedSince), "%+v", o)
			assert.Check(t, !w.stepped(), "%+v", o)
			assert.Assert(t, is.Contains(o.Message, c.says))
			assert.Assert(t, strings.HasPrefix(o.Message, "the state has changed since: "), "says %q", o.Message)
			assert.Assert(t, !strings.Contains(o.Message, "hunter"), "says %q", o.Message)
		})
	}
}

// TestAFormListsMembers: with an object in ExpectedShape, additional members of the state are not
// compared; with another value there, they are.
func TestAFormListsMembers(t *testing.T) {
	u := putBack(map[string]any{"value": map[string]any{}})
	u.ExpectedShape = map[string]any{"value": "${args.value}"}
	w := &world{data: map[string]any{"value": map[string]any{}, "id": 7}}
	o := undo.Revert(t.Context(), w.do, me, u)
	assert.Check(t, o.IsUndone(), "%+v", o)
	w.data = map[string]any{"value": map[string]any{"letter": "an hour of work"}, "id": 7}
	o = undo.Revert(t.Context(), w.do, me, u)
	assert.Check(t, is.Equal(o.Status, undo.StatusChangedSince), "%+v", o)
}

// A tool that checks the state itself needs no state step.
func TestTheStepMayLookItself(t *testing.T) {
	u := putBack(map[string]any{"volume": 0.5})
	u.StateStep = nil
	w := &world{self: true, data: map[string]any{"volume": 0.5}}
	o := undo.Revert(t.Context(), w.do, me, u)
	assert.Assert(t, o.IsUndone(), "%+v", o)
	assert.Equal(t, o.Message, "Volume is 0.4 again", "%+v", o)
	assert.Assert(t, is.Len(w.calls, 1), "%+v", o)
	w.data = map[string]any{"volume": 0.9}
	o = undo.Revert(t.Context(), w.do, me, u)
	assert.Check(t, is.Equal(o.Status, undo.StatusChangedSince), "%+v", o)
	assert.Check(t, is.Equal(o.Message, "the state has changed since: volume is 0.9, expected 0.5; not overwritten"), "%+v", o)
}

func TestWhatCannotBeTakenBackIsSaid(t *testing.T) {
	denied := aai.Errorf(aai.PermissionDenied, "a is not for you")
	unknown := &aai.Error{Code: aai.Timeout, Message: "no answer", Delivery: aai.DeliveryUnknown}
	without := putBack(nil)
	without.StateStep = nil
	for name, c := range map[string]struct {
		w       *world
		u       *aai.Undo
		status  undo.Status
		says    string
		stepped bool
	}{
		"no undo":         {&world{}, nil, undo.StatusIrreversible, "the tool has no undo", false},
		"no step":         {&world{}, &aai.Undo{Description: "x"}, undo.StatusIrreversible, "the tool has no undo", false},
		"a look refused":  {&world{look: denied}, putBack(nil), undo.StatusFailed, "a is not for you", false},
		"a look hangs":    {&world{look: unknown}, putBack(nil), undo.StatusFailed, "no answer", false},
		"a step refused":  {&world{step: denied}, putBack(nil), undo.StatusFailed, "not undone: a is not for you", true},
		"a step hangs":    {&world{step: unknown}, putBack(nil), undo.StatusUnknown, "no answer", true},
		"a plain error":   {&world{step: errors.New("broken")}, putBack(nil), undo.StatusUnknown, "broken", true},
		"nobody can look": {&world{}, without, undo.StatusUndone, "could not be checked", true},
	} {
		t.Run(name, func(t *testing.T) {
			o := undo.Revert(t.Context(), c.w.do, me, c.u)
			assert.Equal(t, o.Status, c.status, "%+v", o)
			assert.Assert(t, is.Contains(o.Message, c.says), "%+v", o)
			assert.Equal(t, c.w.stepped(), c.stepped, "%+v", o)
			assert.Check(t, c.w.look == nil || o.Err != nil, "without the error")
			assert.Check(t, c.w.step == nil || o.Err != nil, "without the error")
		})
	}
}

// A partial revert has the status partly, and names the rest.
func TestWhatIsTakenBackInPartIsSaid(t *testing.T) {
	u := putBack("x")
	u.NotRestored = []string{`"Day"`, `"Secret"`}
	w := &world{data: "x"}
	o := undo.Revert(t.Context(), w.do, me, u)
	assert.Equal(t, o.Status, undo.StatusPartial, "%+v", o)
	assert.Assert(t, !o.IsUndone(), "%+v", o)
	assert.Assert(t, w.stepped(), "%+v", o)
	assert.Equal(t, o.Message, `Volume is 0.4 again; not restored: "Day", "Secret"`, "%+v", o)
}

var terminal = aai.Caller{Door: aai.DoorCLI, Name: "terminal", Identity: aai.IdentityTerminal}

// vaultIn returns a vault in the folder, which can seal only if insecure is true.
func vaultIn(folder string, insecure bool) *secrets.Vault {
	return secrets.New(secrets.Config{Folder: folder, Getenv: func(string) string { return "" }, AllowInsecureFile: insecure})
}

// Each command is a separate process: another log on the same vault.
func TestTheTerminalsActsOutliveItsCommands(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "secrets")
	command := func() *shelf { return newShelf(t, undo.Config{Vault: vaultIn(folder, true)}) }
	first := command()
	first.values["a"] = uint64(1<<63 + 1)
	first.puts(terminal, "a", "hunter2")
	first.puts(terminal, "b", 2)
	first.puts(me, "c", 3)

	second := command()
	second.values = first.values
	undone, _, text := second.undo(terminal, 1)
	assert.Check(t, is.Equal(undone, 1))
	assert.Check(t, is.Contains(text, "b is as before"))
	third := command()
	third.values = first.values
	undone, skipped, text := third.undo(terminal, 20)
	assert.Check(t, is.Equal(undone, 1), text)
	assert.Check(t, is.Equal(skipped, 0), text)
	third.holds("a", uint64(1<<63+1))
	third.holds("b", nil)
	third.holds("c", 3)

	files := 0
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		info, _ := d.Info()
		if err != nil || bytes.Contains(b, []byte("hunter2")) || bytes.Contains(b, []byte("org.example")) {
			t.Errorf("%s can be read: %v", path, err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v", path, info.Mode())
		}
		files++
		return nil
	})
	assert.Check(t, files != 0, "nothing was kept")
}

func TestAWorkflowsRollbackIsKeptToo(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "secrets")
	s := newShelf(t, undo.Config{Vault: vaultIn(folder, true)})
	step := s.do(terminal, theShelf, "put", "name", "a", "value", 1)
	acts, err := s.log.Acts(t.Context(), terminal)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(acts, 1))
	o := undo.Revert(t.Context(), s.gateway.Do, terminal, step.Undo)
	assert.Assert(t, o.IsUndone(), o)
	_, _, text := s.undo(terminal, 1)
	assert.Check(t, is.Equal(text, "nothing is left to undo"))
	next := newShelf(t, undo.Config{Vault: vaultIn(folder, true)})
	_, _, text = next.undo(terminal, 1)
	assert.Check(t, is.Equal(text, "nothing is left to undo"))
}

func TestWhatCannotBeSealedIsNotKept(t *testing.T) {
	for name, vault := range map[string]func(folder string) undo.Vault{
		"no vault":        func(string) undo.Vault { return nil },
		"nothing to seal": func(folder string) undo.Vault { return vaultIn(folder, false) },
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "secrets")
			s := newShelf(t, undo.Config{Vault: vault(folder)})
			s.puts(terminal, "a", "hunter2")
			_, err := s.gateway.Do(t.Context(), &aai.Call{Caller: terminal, App: aai.BuiltinApp, Tool: undo.BuiltinToolName, Args: map[string]any{"count": 1}})
			e := aai.AsError(err)
			assert.Assert(t, e != nil, err)
			assert.Equal(t, e.Code, aai.AutomationNotSupported, err)
			assert.Assert(t, is.Contains(e.Message, "not stored here"), err)
			assert.Assert(t, e.Hint != "", err)
			_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					b, _ := os.ReadFile(path)
					assert.Check(t, !bytes.Contains(b, []byte("hunter2")), "%s has it", path)
				}
				return nil
			})
		})
	}
}

func TestWhatIsOlderThanAnHourIsForgotten(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "secrets")
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(t, undo.Config{Vault: vaultIn(folder, true)})
		s.puts(terminal, "a", 1)
		for _, want := range []int{1, 0} {
			time.Sleep(31 * time.Minute)
			acts, err := s.log.Acts(t.Context(), terminal)
			assert.NilError(t, err, want)
			assert.Assert(t, is.Len(acts, want), want)
		}
	})
}

func TestTheTerminalsActsFitARecord(t *testing.T) {
	vault := vaultIn(filepath.Join(t.TempDir(), "secrets"), true)
	s := newShelf(t, undo.Config{Vault: vault})
	for range 15 {
		s.puts(terminal, "a", strings.Repeat("x", 90<<10))
	}
	s.puts(terminal, "b", strings.Repeat("x", 90<<10))
	next := newShelf(t, undo.Config{Vault: vault})
	acts, err := next.log.Acts(t.Context(), terminal)
	assert.NilError(t, err, "%d", len(acts))
	assert.Assert(t, len(acts) >= 3, "%d acts, %v", len(acts), err)
	assert.Assert(t, acts[len(acts)-1].Undo != nil, "%d acts, %v", len(acts), err)
	assert.Equal(t, acts[len(acts)-1].Undo.Description, "b is as before", "%d", len(acts))
}
