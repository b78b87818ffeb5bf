package active_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gateway/active"
)

func agent(identity string) gateway.CallScope {
	return gateway.CallScope{CallIDs: []string{"c1", "c0"}, Caller: aai.Caller{Door: aai.DoorMCP, Name: "claude", Identity: identity}, App: "org.example.App", Tool: "work"}
}

func person() gateway.CallScope {
	return gateway.CallScope{CallIDs: []string{"c9"}, Caller: aai.Caller{Door: aai.DoorCLI, Identity: aai.IdentityTerminal}, App: aai.BuiltinApp, Tool: "start"}
}

// called returns an agent without an identity, with the given name.
func called(name string) gateway.CallScope {
	w := agent("")
	w.Caller.Name = name
	return w
}

func at(path string) *active.StopList {
	return active.NewStopList(active.StopConfig{Path: path, Exempt: func(w gateway.CallScope) bool { return w.Caller.Door == aai.DoorCLI && w.App == aai.BuiltinApp }})
}

func everything(answer.Stop) bool { return true }

// TestWhatIsStopped: a stop applies to its scope, in every gateway of the person, until a start.
func TestWhatIsStopped(t *testing.T) {
	for name, c := range map[string]struct {
		stop    answer.Stop
		stopped []gateway.CallScope
		goesOn  []gateway.CallScope
		says    string
	}{
		"everything":   {answer.Stop{}, []gateway.CallScope{agent("/bin/a"), agent("")}, []gateway.CallScope{person()}, "stopped everything, at "},
		"a caller":     {answer.Stop{Caller: "/bin/a"}, []gateway.CallScope{agent("/bin/a")}, []gateway.CallScope{agent("/bin/b"), agent(""), person()}, "all calls of /bin/a"},
		"a word":       {answer.Stop{Caller: "mcp:claude"}, []gateway.CallScope{agent(""), called("other"), called("")}, []gateway.CallScope{agent("/bin/a"), agent("http:work"), person()}, "all calls by mcp of callers without a verified identity"},
		"unknown ones": {answer.Stop{Caller: "mcp:"}, []gateway.CallScope{agent(""), called("other")}, []gateway.CallScope{agent("/bin/a")}, "all calls by mcp of callers without a verified identity"},
		"a call":       {answer.Stop{Call: "c1"}, []gateway.CallScope{agent("/bin/a"), agent("")}, []gateway.CallScope{person()}, "this call"},
		"an outer one": {answer.Stop{Call: "c0"}, []gateway.CallScope{agent("/bin/a")}, nil, "this call"},
		"own":          {answer.Stop{Call: "c9"}, []gateway.CallScope{person()}, []gateway.CallScope{agent("")}, "this call"},
		"the terminal": {answer.Stop{Caller: aai.IdentityTerminal}, nil, []gateway.CallScope{person()}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "halt", "stopped")
			one, other := at(path), at(path)
			for _, w := range append(c.stopped, c.goesOn...) {
				e := other.CheckStopped(w)
				assert.Assert(t, e == nil, "before: %v", e)
			}
			c.stop.At, c.stop.Door = time.Now(), aai.DoorCLI
			assert.NilError(t, one.Add(t.Context(), c.stop))
			for _, w := range c.stopped {
				e := other.CheckStopped(w)
				assert.Assert(t, e != nil, "%+v %v", w, e)
				assert.Equal(t, e.Code, aai.PermissionDenied, "%+v %v", w, e)
				assert.Assert(t, is.Contains(e.Message, c.says), "%+v %v", w, e)
				assert.Assert(t, e.Hint != "", "%+v %v", w, e)
				assert.Assert(t, strings.Contains(e.Hint, "not try again") != e.RetrySafe(), "%+v %v", w, e)
			}
			for _, w := range c.goesOn {
				e := other.CheckStopped(w)
				assert.Check(t, e == nil, "%+v %v", w, e)
			}
			ended, err := other.Remove(t.Context(), everything)
			assert.NilError(t, err)
			assert.Assert(t, is.Len(ended, 1))
			for _, w := range c.stopped {
				e := one.CheckStopped(w)
				assert.Check(t, e == nil, "afterwards: %v", e)
			}
			_, err = os.Lstat(path)
			assert.Check(t, is.ErrorIs(err, os.ErrNotExist), "the file is still there: %v", err)
		})
	}
}

// TestAFileThatIsNotUnderstood: an invalid file stops everything except exempt calls, and a start
// removes it.
func TestAFileThatIsNotUnderstood(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "stop!", "no stops": `{"stops":[]}`, "half": `{"stops":[{"call":"c1"`,
		"more": `{"stops":[{"call":"c1"}]} and more`, "of later": `{"stops":[{"call":"c1","until":"noon"}]}`,
		"too long": `{"stops":[{"call":"` + strings.Repeat("c", 1<<20) + `"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "stopped")
			assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
			h := at(path)
			e := h.CheckStopped(agent("/bin/a"))
			assert.Assert(t, e != nil, e)
			assert.Equal(t, e.Code, aai.PermissionDenied, e)
			assert.Assert(t, is.Contains(e.Message, "cannot be read"), e)
			e = h.CheckStopped(person())
			assert.Check(t, e == nil, e)
			_, err := h.Remove(t.Context(), everything)
			assert.Check(t, err)
			e = h.CheckStopped(agent("/bin/a"))
			assert.Check(t, e == nil, e)
		})
	}
	path := filepath.Join(t.TempDir(), "stopped")
	assert.NilError(t, os.Mkdir(path, 0o700))
	assert.Check(t, at(path).CheckStopped(agent("")) != nil, "a folder in the file's place stops nothing")
}

// TestAStopThatCannotBeWritten: a stop of everything takes effect even if only an empty file can
// be created.
func TestAStopThatCannotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stopped")
	if err := os.Mkdir(path+".lock", 0o700); err != nil { // makes the lock unavailable
		t.Fatal(err)
	}
	h := at(path)
	assert.Check(t, h.Add(t.Context(), answer.Stop{Caller: "/bin/a"}) != nil, "it is said that a caller was stopped")
	e := h.CheckStopped(agent("/bin/a"))
	assert.Check(t, e == nil, "a stop that failed stops: %v", e)
	assert.Check(t, h.Add(t.Context(), answer.Stop{}))
	assert.Check(t, h.CheckStopped(agent("/bin/a")) != nil, "nothing is stopped")
}

// Stops of many calls do not make the file grow for ever, and stops of callers stay.
func TestManyStops(t *testing.T) {
	h := at(filepath.Join(t.TempDir(), "stopped"))
	now := time.Now()
	for _, s := range []answer.Stop{{Caller: "/bin/a", At: now}, {Call: "old", At: now.Add(-48 * time.Hour)}, {Call: "c1", At: now}, {Call: "c1", At: now}} {
		assert.NilError(t, h.Add(t.Context(), s))
	}
	stops, err := h.Stops()
	assert.NilError(t, err)
	assert.Assert(t, is.Len(stops, 2))
}

// TestAStopOfNobody: a stop of an impossible caller is an error.
func TestAStopOfNobody(t *testing.T) {
	h := at(filepath.Join(t.TempDir(), "stopped"))
	for _, who := range []string{"claude", "bin/a", ":"} {
		e := aai.AsError(h.Add(t.Context(), answer.Stop{Caller: who}))
		assert.Assert(t, e != nil, "%s %v", who, e)
		assert.Equal(t, e.Code, aai.InvalidParams, "%s %v", who, e)
		assert.Assert(t, is.Contains(e.Hint, "aai-gateway running"), "%s %v", who, e)
	}
	for _, who := range []string{"/bin/a", `"/bin/a" x`, "flatpak:org.example.App", "http:work", "cli:terminal", "web:page", "page", "terminal"} {
		assert.Check(t, h.Add(t.Context(), answer.Stop{Caller: who}), who)
	}
	stops, err := h.Stops()
	assert.NilError(t, err)
	assert.Assert(t, is.Len(stops, 6))
}

// TestAStopOfBefore: an older gateway's stop of a name applies to all callers without an
// identity.
func TestAStopOfBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stopped")
	assert.NilError(t, os.WriteFile(path, []byte(`{"stops":[{"caller":"mcp:claude","at":"2026-01-01T00:00:00Z","door":"cli"}]}`), 0o600))
	h := at(path)
	assert.Check(t, h.CheckStopped(called("other")) != nil, "it goes on under another name")
	// For any name, the tools list and end the one stop.
	for i, want := range []string{"stopped:all calls by mcp of callers", "started:[all calls by mcp of callers"} {
		result, err := h.Tools()[i].Run(t.Context(), &aai.Call{Caller: person().Caller, Args: map[string]any{"caller": "mcp:another"}})
		assert.NilError(t, err, result)
		assert.Assert(t, is.Contains(fmt.Sprint(result.Data), want), result)
	}
}

// TestStartLeavesSingleStops: a start of everything ends only the stop of everything. Stops of
// single callers and calls remain, and the answer lists them.
func TestStartLeavesSingleStops(t *testing.T) {
	h := at(filepath.Join(t.TempDir(), "stopped"))
	for _, s := range []answer.Stop{{Call: "c7"}, {}, {Caller: "/opt/an agent"}} {
		s.At = time.Now()
		assert.NilError(t, h.Add(t.Context(), s))
	}
	start := h.Tools()[1]
	call := func(args map[string]any) *aai.Call { return &aai.Call{Caller: person().Caller, Args: args} }
	assert.Check(t, start.Precheck(t.Context(), call(nil)))
	result, err := start.Run(t.Context(), call(nil))
	assert.NilError(t, err, result)
	assert.Assert(t, is.Contains(fmt.Sprint(result.Data), "stopped:[the call c7 all calls of /opt/an agent]"), result)
	e := h.CheckStopped(agent("/opt/an agent"))
	assert.Assert(t, e != nil, "the caller was started too, or nobody says how: %v", e)
	assert.Assert(t, is.Contains(e.Hint, "start --caller '/opt/an agent'"), e)
	e = h.CheckStopped(agent("/bin/b"))
	assert.Check(t, e == nil, e)
	e = aai.AsError(start.Precheck(t.Context(), call(nil)))
	assert.Assert(t, e != nil, "everything is not stopped any more: %v", e)
	assert.Assert(t, is.Contains(e.Message, "all calls of /opt/an agent is"), e)
	assert.Assert(t, is.Contains(e.Hint, "--caller"), e)
	result, err = start.Run(t.Context(), call(map[string]any{"caller": "/opt/an agent"}))
	assert.NilError(t, err, result)
	assert.Assert(t, !result.NoOp, result)
	assert.Assert(t, h.CheckStopped(agent("/opt/an agent")) == nil, result)
}

// TestWatched: a gateway with calls learns of another's change, until it is closed.
func TestWatched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "halt", "stopped")
	var told atomic.Int32
	h := active.NewStopList(active.StopConfig{Path: path, OnChange: func() { told.Add(1) }})
	e := h.CheckStopped(agent(""))
	assert.Assert(t, e == nil, e)
	for i := range int32(4) {
		var err error
		if i%2 == 0 {
			err = at(path).Add(t.Context(), answer.Stop{At: time.Now()})
		} else {
			_, err = at(path).Remove(t.Context(), everything)
		}
		assert.NilError(t, err)
		wait(t, fmt.Sprint("it was told of change ", i), func() bool { return told.Load() == i+1 })
	}
	assert.Check(t, h.Close())
	assert.NilError(t, at(path).Add(context.Background(), answer.Stop{}))
	n := told.Load()
	assert.Check(t, n == 4, "it was told %d times, also when it was closed", n)
	assert.Check(t, active.NewStopList(active.StopConfig{Path: path, OnChange: func() {}}).Close())
}

func wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	for late := time.Now().Add(30 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("in vain: %s", what)
		}
	}
}
