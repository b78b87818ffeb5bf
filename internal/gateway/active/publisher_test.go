package active_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gateway/active"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// The variable makes this program another gateway, and names the folder in which it publishes a
// call.
const activeGatewayEnv = "RUNNING_TEST_GATEWAY"

func TestMain(m *testing.M) {
	if serveForTest() || leaseForTest() {
		return
	}
	if folder := os.Getenv(activeGatewayEnv); folder != "" {
		var g activeCalls
		g.set(call("theirs", 10*time.Second))
		active.NewPublisher(folder, g.Underway, slog.Default()).StageChanged()
		for rows, _, _ := active.ListActive(folder); len(rows) == 0; rows, _, _ = active.ListActive(folder) {
			time.Sleep(time.Millisecond)
		}
		fmt.Println("told")
		select {}
	}
	os.Exit(m.Run())
}

// An activeCalls has the calls that a test sets.
type activeCalls struct {
	mu    sync.Mutex
	calls []gateway.ActiveCall
}

func (g *activeCalls) set(calls ...gateway.ActiveCall) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls = calls
}

func (g *activeCalls) Underway() []gateway.ActiveCall {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls
}

func call(id string, since time.Duration) gateway.ActiveCall {
	return gateway.ActiveCall{
		Call: id, Parent: "p1", Caller: aai.Caller{Door: aai.DoorMCP, Name: "claude", Identity: "/bin/a"},
		App: "desktop", Tool: "ax_click", Target: "org.example.App", Element: aai.TargetElement{Role: "button", Name: "Save"},
		Stage: gateway.StageActing, Since: time.Now().Add(-since), Done: 1, Total: 3, Message: "Step 1/3",
	}
}

// listed waits until n calls are published in the folder.
func listed(t *testing.T, folder string, n int) []answer.ActiveCall {
	t.Helper()
	for late := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		rows, _, err := active.ListActive(folder)
		assert.NilError(t, err)
		if len(rows) == n {
			return rows
		}
		assert.Assert(t, !time.Now().After(late), "%d calls are told, expected %d: %+v", len(rows), n, rows)
	}
}

// TestToldInOrder: snapshots are written in order, even if a write is slow; otherwise an ended
// call would stay listed.
func TestToldInOrder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "running")
	second, asked := make(chan struct{}), 0
	var mu sync.Mutex
	count := func() int { mu.Lock(); defer mu.Unlock(); asked++; return asked }
	var teller *active.Publisher
	teller = active.NewPublisher(folder, func() []gateway.ActiveCall {
		switch count() {
		case 1:
			return []gateway.ActiveCall{call("before", time.Minute)}
		case 2:
			seen := []gateway.ActiveCall{call("c", time.Minute)}
			teller.StageChanged() // it has ended
			select {
			case <-second: // and that is written
				time.Sleep(100 * time.Millisecond)
			case <-time.After(300 * time.Millisecond):
			}
			return seen
		case 3:
			close(second)
		}
		return nil
	}, slog.Default())
	defer teller.Close() //nolint:errcheck // the folder goes too
	teller.StageChanged()
	listed(t, folder, 1)
	teller.StageChanged()
	for told := false; !told; time.Sleep(time.Millisecond) {
		select {
		case <-second:
			told = true
		default:
		}
	}
	time.Sleep(200 * time.Millisecond)
	listed(t, folder, 0)
}

// TestTold: active calls are listed, ended ones are not, and no file remains.
func TestTold(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "running")
	var one, other activeCalls
	tellers := []*active.Publisher{active.NewPublisher(folder, one.Underway, slog.Default()), active.NewPublisher(folder, other.Underway, slog.Default())}
	one.set(call("c1", time.Second))
	other.set(call("c2", time.Minute))
	for _, teller := range tellers {
		teller.StageChanged()
	}
	rows := listed(t, folder, 2)
	r := rows[0]
	assert.Check(t, is.Equal(r.Call, "c2"), "%+v", rows)
	assert.Check(t, is.Equal(rows[1].Call, "c1"), "%+v", rows)
	assert.Check(t, is.Equal(r.Caller, "mcp:claude"), "%+v", rows)
	assert.Check(t, is.Equal(r.Identity, "/bin/a"), "%+v", rows)
	assert.Check(t, is.Equal(r.App, "desktop"), "%+v", rows)
	assert.Check(t, is.Equal(r.Target, "org.example.App"), "%+v", rows)
	assert.Check(t, is.Equal(r.On, `button "Save"`), "%+v", rows)
	assert.Check(t, is.Equal(r.Stage, string(gateway.StageActing)), "%+v", rows)
	assert.Check(t, r.Done == 1, "%+v", rows)
	assert.Check(t, r.Total == 3, "%+v", rows)
	assert.Check(t, is.Equal(r.Message, "Step 1/3"), "%+v", rows)
	assert.Check(t, is.Equal(r.Process, os.Getpid()), "%+v", rows)
	assert.Check(t, is.Equal(r.Parent, "p1"), "%+v", rows)
	assert.Check(t, is.Equal(r.Door, aai.DoorMCP), "%+v", rows)
	other.set()
	tellers[1].StageChanged()
	rows = listed(t, folder, 1)
	assert.Check(t, is.Equal(rows[0].Call, "c1"), "%+v", rows)
	many := make([]gateway.ActiveCall, 500)
	for i := range many {
		many[i] = call(fmt.Sprint("m", i), time.Second)
	}
	other.set(many...)
	tellers[1].StageChanged()
	listed(t, folder, 201)
	_, more, _ := active.ListActive(folder)
	assert.Check(t, is.Equal(more, 300), "%d more are said to run", more)
	for _, teller := range tellers {
		assert.Check(t, teller.Close())
		teller.StageChanged()
	}
	files, err := os.ReadDir(folder)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(files, 0))
}

// TestNotTold: short calls and the listing itself are not published; a longer call is.
func TestNotTold(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "running")
	var g activeCalls
	teller := active.NewPublisher(folder, g.Underway, slog.Default())
	look := call("look", time.Minute)
	look.App, look.Tool = aai.BuiltinApp, active.ActiveToolName
	g.set(look, call("young", -time.Hour))
	for range 1000 {
		teller.StageChanged()
	}
	time.Sleep(120 * time.Millisecond) // two writes are over by now, or come later with nothing to publish
	_, err := os.Lstat(folder)
	assert.Check(t, err != nil, "a folder was made for nothing")
	g.set(look, call("old", time.Minute))
	teller.StageChanged()
	rows := listed(t, folder, 1)
	assert.Check(t, is.Equal(rows[0].Call, "old"), "%+v", rows)
	assert.Check(t, teller.Close())
}

// TestOfTheDead: the file of a killed gateway is ignored and removed.
func TestOfTheDead(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "running")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), activeGatewayEnv+"="+folder)
	p := testkit.StartProcess(t, cmd)
	assert.Equal(t, p.ReadLine(t), "told")
	rows := listed(t, folder, 1)
	assert.Check(t, is.Equal(rows[0].Call, "theirs"), "%+v", rows)
	assert.Check(t, is.Equal(rows[0].Process, p.Process.Pid), "%+v", rows)
	p.Kill()
	listed(t, folder, 0)
	files, err := os.ReadDir(folder)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(files, 0))
}

// TestStopsOfCallsThatHaveEnded: a stop of a call is listed while the call or one that it made is
// active, and not afterwards; it still stops a repetition. For calls that are not listed it is
// unknown whether they have ended.
func TestStopsOfCallsThatHaveEnded(t *testing.T) {
	data := t.TempDir()
	folder := filepath.Join(data, "running")
	stopped := active.NewStopList(active.StopConfig{Path: filepath.Join(data, "halt", "stopped")})
	var g activeCalls
	teller := active.NewPublisher(folder, g.Underway, slog.Default())
	defer teller.Close() //nolint:errcheck // the folder goes too
	lists := func(calls []gateway.ActiveCall, rows int, want ...string) {
		t.Helper()
		g.set(calls...)
		teller.StageChanged()
		listed(t, folder, rows)
		result, err := active.NewActiveTool(folder, stopped, leaseStore(filepath.Join(data, "leases"))).Run(t.Context(), new(aai.Call))
		assert.NilError(t, err)
		b, _ := json.Marshal(result.Data)
		var a struct{ Stops []answer.Stop }
		assert.NilError(t, json.Unmarshal(b, &a))
		var got []string
		for _, s := range a.Stops {
			got = append(got, s.Call+s.Caller)
		}
		assert.Check(t, slices.Equal(got, want), "with %d calls under way %q are listed as stopped, want %q", rows, got, want)
	}
	for _, s := range []answer.Stop{{Caller: "/bin/a"}, {Call: "c1"}, {Call: "p1"}} {
		s.At = time.Now()
		assert.NilError(t, stopped.Add(t.Context(), s))
	}
	lists([]gateway.ActiveCall{call("c1", time.Minute)}, 1, "/bin/a", "c1", "p1") // it is within p1
	lists(nil, 0, "/bin/a")
	lists([]gateway.ActiveCall{call("c2", time.Minute)}, 1, "/bin/a", "p1")
	assert.Check(t, stopped.CheckStopped(gateway.CallScope{CallIDs: []string{"c1", "c3"}}) != nil, "what is made again of a stopped call goes on")
	many := make([]gateway.ActiveCall, 500)
	for i := range many {
		many[i] = call(fmt.Sprint("m", i), time.Second)
		many[i].Parent = ""
	}
	lists(many, 200, "/bin/a", "c1", "p1")
}

// TestWaits: a listing with a version waits for another one, after a change of calls or stops.
func TestWaits(t *testing.T) {
	data := t.TempDir()
	folder := filepath.Join(data, "running")
	stopped := active.NewStopList(active.StopConfig{Path: filepath.Join(data, "halt", "stopped")})
	tool := active.NewActiveTool(folder, stopped, leaseStore(filepath.Join(data, "leases")))
	ask := func(ctx context.Context, after string) (a struct {
		Version string
		Calls   []answer.ActiveCall
		Stops   []answer.Stop
	}) {
		t.Helper()
		result, err := tool.Run(ctx, &aai.Call{Args: map[string]any{"after": after, "wait": json.Number("30")}})
		if err != nil {
			t.Error(err)
			return a
		}
		b, _ := json.Marshal(result.Data)
		assert.Check(t, json.Unmarshal(b, &a))
		if !strings.Contains(string(b), `"calls":[`) || !strings.Contains(string(b), `"stops":[`) {
			t.Errorf("a list is no list: %s", b)
		}
		return a
	}
	first := ask(t.Context(), "")
	var g activeCalls
	teller := active.NewPublisher(folder, g.Underway, slog.Default())
	defer teller.Close() //nolint:errcheck // the folder goes too
	g.set(call("c1", time.Minute))
	teller.StageChanged()
	second := ask(t.Context(), first.Version)
	assert.Assert(t, is.Len(second.Calls, 1), "%+v", second)
	assert.Assert(t, is.Len(second.Stops, 0), "%+v", second)
	assert.NilError(t, stopped.Add(t.Context(), answer.Stop{Caller: "/bin/a"}))
	third := ask(t.Context(), second.Version)
	assert.Assert(t, is.Len(third.Stops, 1), "%+v", third)
	assert.Equal(t, third.Stops[0].Caller, "/bin/a", "%+v", third)
	assert.NilError(t, os.WriteFile(stopped.Path(), []byte("?"), 0o600))
	last := ask(t.Context(), third.Version)
	assert.Assert(t, is.Len(last.Stops, 1), "%+v", last)
	assert.Assert(t, last.Stops[0].IsEverything(), "%+v", last)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := tool.Run(ctx, &aai.Call{Args: map[string]any{"after": ask(t.Context(), "").Version, "wait": 30}})
	assert.Check(t, err != nil, "who left was answered")
}
