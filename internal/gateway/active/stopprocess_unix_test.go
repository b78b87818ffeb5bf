//go:build unix

package active_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gateway/active"
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
