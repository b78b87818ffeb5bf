//go:build unix

package active_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gateway/active"
	"github.com/gybob/aai-gateway/internal/schema"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// stopGatewayEnv is in the environment of a test's process that is a gateway of the person.
const stopGatewayEnv = "HALT_TEST_GATEWAY"

// serveForTest runs this process as a gateway of another test, if it is one, and reports that.
func serveForTest() bool {
	if os.Getenv(stopGatewayEnv) == "" {
		return false
	}
	serve()
	return true
}

// An order is a command to such a process. It answers each with a line: an error, or an empty
// line.
type order struct {
	Do     string         `json:"do"`
	Folder string         `json:"folder,omitempty"`
	Tool   string         `json:"tool,omitempty"`
	Args   map[string]any `json:"args,omitempty"`
}

// serve executes the orders of standard input until it ends.
func serve() {
	var s served
	for in := json.NewDecoder(os.Stdin); ; {
		var o order
		if in.Decode(&o) != nil {
			return
		}
		answer := ""
		if err := s.do(o); err != nil {
			answer = err.Error()
		}
		fmt.Printf("%q\n", answer)
	}
}

// served is the gateway of a process.
type served struct {
	gateway *gateway.Gateway
	end     func()
	callers sync.WaitGroup

	mu  sync.Mutex // guards the fields below
	bad error
}

func (s *served) do(o order) error {
	switch o.Do {
	case "open":
		s.gateway, s.end = gatewayAt(o.Folder)
	case "call":
		s.callers.Go(func() { s.call(o) })
	case "recording":
		return s.recording()
	case "stop":
		_, err := s.gateway.Do(context.Background(), &aai.Call{Caller: aai.Caller{Door: aai.DoorCLI}, App: aai.BuiltinApp, Tool: active.StopToolName, Args: o.Args})
		return err
	case "end":
		s.callers.Wait()
		s.end()
		return s.bad
	}
	return nil
}

// call makes one call after the other until it is stopped.
func (s *served) call(o order) {
	for {
		_, err := s.gateway.Do(context.Background(), &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP, Identity: "/bin/a"}, App: "org.example.App", Tool: o.Tool, Args: o.Args})
		if e := aai.AsError(err); e != nil && e.Code != aai.PermissionDenied {
			s.mu.Lock()
			s.bad = fmt.Errorf("a call ended with %w", err)
			s.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// errNone reports that no call is about to be recorded.
var errNone = errors.New("no call is about to be put on record")

// recording waits a moment until a call is about to be recorded.
func (s *served) recording() error {
	for late := time.Now().Add(20 * time.Millisecond); time.Now().Before(late); time.Sleep(100 * time.Microsecond) {
		if slices.ContainsFunc(s.gateway.Active(), func(u gateway.ActiveCall) bool { return u.Stage == gateway.StageRecording }) {
			return nil
		}
	}
	return errNone
}

// A process is one gateway.
type process struct{ *testkit.Process }

func begin(t *rapid.T) process {
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), stopGatewayEnv+"=yes"), os.Stderr
	return process{testkit.StartProcess(t, cmd)}
}

// tell sends an order, and waits until it is done.
func (p process) tell(t *rapid.T, o order) {
	assert.Equal(t, p.ask(t, o), "", o.Do)
}

// ask is tell, and returns the error text.
func (p process) ask(t *rapid.T, o order) (answer string) {
	assert.NilError(t, json.NewEncoder(p.In).Encode(o))
	assert.NilError(t, json.Unmarshal([]byte(p.ReadLine(t)), &answer))
	return answer
}

// standStill suspends the process while one of its calls waits for the lock to write its line;
// goOn resumes it.
func (p process) standStill(t *rapid.T, folder string) (goOn func()) {
	for late := time.Now().Add(10 * time.Second); !p.stands(t, filepath.Join(folder, "audit.jsonl.chain")); time.Sleep(100 * time.Microsecond) {
		assert.Assert(t, !time.Now().After(late), errNone)
	}
	return func() {
		assert.NilError(t, p.Cmd.Process.Signal(syscall.SIGCONT))
	}
}

// stands takes the lock of a file, and suspends the process if one of its calls waits for it to
// record its intent.
func (p process) stands(t *rapid.T, path string) bool {
	turn, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false // its first call makes it
	}
	defer turn.Close() //nolint:errcheck // the turn ends with it
	assert.NilError(t, syscall.Flock(int(turn.Fd()), syscall.LOCK_EX))
	if p.ask(t, order{Do: "recording"}) != "" {
		return false
	}
	assert.NilError(t, p.Cmd.Process.Signal(syscall.SIGSTOP))
	var status syscall.WaitStatus
	_, err = syscall.Wait4(p.Cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	assert.NilError(t, err, status)
	assert.Assert(t, status.Stopped(), "it does not stand still: %v, %v", status, err)
	return true
}

// one is a catalog with two apps, which admits everything.
type one []*aai.App

func (c one) Apps() []*aai.App              { return c }
func (c one) OnChange(func()) (stop func()) { return func() {} }
func (c one) Find(_ context.Context, id string) (*aai.App, error) {
	for _, app := range c {
		if app.ID == id {
			return app, nil
		}
	}
	return nil, aai.Errorf(aai.AppNotFound, "no %s", id)
}
func (one) Check(context.Context, *aai.Request) ([]aai.Question, error) { return nil, nil }

// gatewayAt returns one of several gateways of a person with a common journal. The tool "work"
// takes as long as its argument says, or until it is stopped.
func gatewayAt(folder string) (g *gateway.Gateway, end func()) {
	j := audit.New(filepath.Join(folder, "audit.jsonl"))
	g = &gateway.Gateway{Journal: j}
	h := active.NewStopList(active.StopConfig{
		Path: filepath.Join(folder, "halt", "stopped"), OnChange: g.CancelStopped,
		Exempt: func(w gateway.CallScope) bool { return w.App == aai.BuiltinApp },
	})
	g.Stops = h
	takes := schema.MustParse(`{"type": "object", "properties": {"ms": {"type": "integer"}}}`)
	work := &aai.Tool{Name: "work", Params: takes, Effect: aai.Changes, Limits: aai.Limits{Timeout: time.Minute}, Run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		long, _ := strconv.Atoi(fmt.Sprint(call.Args["ms"]))
		if err := aai.Sleep(ctx, time.Duration(long)*time.Millisecond); err != nil {
			return nil, err
		}
		return &aai.Result{Text: "done"}, nil
	}}
	flow := &aai.Tool{Name: "flow", Params: takes, Effect: aai.Changes, Limits: aai.Limits{Timeout: time.Minute}, Assess: aai.Always(aai.Assessment{OnlyMakesCalls: true}), Run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		for range 3 {
			if _, err := g.Do(ctx, &aai.Call{Caller: call.Caller, App: "org.example.App", Tool: "work", Args: call.Args}); err != nil {
				return nil, err
			}
		}
		return &aai.Result{Text: "done"}, nil
	}}
	app := &aai.App{ID: "org.example.App", PID: 77, Tools: []*aai.Tool{work, flow}} // one at a time: others queue
	c := one{app, {ID: aai.BuiltinApp, Tools: h.Tools()}}
	g.Catalog, g.Gates = c, []aai.Gate{c}
	return g, func() { _, _ = h.Close(), j.Close() }
}

// told is a line of the journal.
type told struct{ Kind, Call, App, Tool, Result string }

func record(t *rapid.T, folder string) (lines []told) {
	f, err := os.Open(filepath.Join(folder, "audit.jsonl"))
	assert.NilError(t, err)
	defer f.Close() //nolint:errcheck // it was only read
	for s := bufio.NewScanner(f); s.Scan(); {
		var l told
		assert.NilError(t, json.Unmarshal(s.Bytes(), &l))
		lines = append(lines, l)
	}
	return lines
}

// TestNothingIsIntendedBehindAStop: with calls in several processes and a stop at any time, no
// intent follows the outcome of the stop, and each intent has an outcome. Some processes are
// suspended just after a call has checked for stops and waits for its line.
func TestNothingIsIntendedBehindAStop(t *testing.T) {
	var intended, refused, stood int
	rapid.Check(t, func(rt *rapid.T) {
		folder, err := os.MkdirTemp(t.TempDir(), "")
		assert.NilError(rt, err)
		processes := make([]process, 3)
		for i := range processes {
			p := begin(rt)
			defer p.Kill() // all that it was to do is done, or has failed
			p.tell(rt, order{Do: "open", Folder: folder})
			processes[i] = p
		}
		for i := range rapid.IntRange(1, 8).Draw(rt, "callers") {
			processes[i%2].tell(rt, order{
				Do: "call", Tool: rapid.SampledFrom([]string{"work", "work", "flow"}).Draw(rt, "tool"),
				Args: map[string]any{"ms": rapid.IntRange(0, 4).Draw(rt, "ms")},
			})
		}
		time.Sleep(time.Duration(rapid.IntRange(0, 8000).Draw(rt, "µs")) * time.Microsecond)
		goOn := func() {}
		if rapid.Bool().Draw(rt, "one stands still") {
			goOn = processes[0].standStill(rt, folder)
			stood++
		}
		args := map[string]any{}
		if rapid.Bool().Draw(rt, "the caller alone") {
			args["caller"] = "/bin/a"
		}
		processes[2].tell(rt, order{Do: "stop", Args: args})
		goOn()
		for _, p := range processes {
			p.tell(rt, order{Do: "end"})
		}
		some, others := judge(rt, record(rt, folder))
		intended, refused = intended+some, refused+others
	})
	assert.Check(t, intended != 0, "%d calls were intended, %d refused, %d times one stood still: nothing was tried", intended, refused, stood)
	assert.Check(t, refused != 0, "%d calls were intended, %d refused, %d times one stood still: nothing was tried", intended, refused, stood)
	assert.Check(t, stood != 0, "%d calls were intended, %d refused, %d times one stood still: nothing was tried", intended, refused, stood)
}

// judge checks the lines of a journal, and counts intents and refusals.
func judge(rt *rapid.T, lines []told) (intended, refused int) {
	behind, open := false, map[string]bool{}
	for _, l := range lines {
		switch {
		case l.Kind == "intent" && behind:
			rt.Errorf("behind the stop there is %+v", l)
		case l.Kind == "intent":
			open[l.Call] = true
			intended++
		case l.Kind == "outcome" && l.App == aai.BuiltinApp:
			behind = true
		case l.Kind == "outcome" && l.Result == string(aai.PermissionDenied):
			refused++
		}
		if l.Kind == "outcome" {
			delete(open, l.Call)
		}
	}
	assert.Assert(rt, behind, "the stop is on record: %v; without an outcome are %v", behind, open)
	assert.Assert(rt, is.Len(open, 0), behind)
	return intended, refused
}
