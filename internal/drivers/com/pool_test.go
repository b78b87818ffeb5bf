//go:build !windows

package com_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/com"
)

// TestMain runs the tests, or is a process that answers like that of package host.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "run-com" {
		answerRequests()
	}
	os.Exit(m.Run())
}

// answerRequests answers each request by the class of its first step.
func answerRequests() {
	connection := com.NewConnection(os.Stdin, os.Stdout, 64<<20)
	_ = connection.Send(&com.Reply{})
	for {
		var r com.Request
		if connection.Receive(&r) != nil {
			os.Exit(0)
		}
		reply := com.Reply{Last: com.Variant{VT: com.VTI4, Bits: uint64(os.Getpid())}}
		switch r.Steps[0].ProgID {
		case "Test.Hang":
			select {}
		case "Test.Exit":
			os.Exit(3)
		case "Test.Bad":
			_, _ = os.Stdout.WriteString(strings.Repeat("{", 1000))
			continue
		case "Test.Long":
			reply.Last = com.Variant{VT: com.VTString, Text: strings.Repeat("é", 1<<20)}
		case "Test.Late":
			time.Sleep(time.Until(r.Deadline))
			reply = com.Reply{Failure: &com.Failure{Late: true}}
		}
		_ = connection.Send(&reply)
	}
}

func newDriver(t *testing.T) *com.Driver {
	d := com.New(com.Config{Command: func() (*exec.Cmd, error) {
		return exec.CommandContext(context.Background(), os.Args[0], "run-com"), nil
	}})
	t.Cleanup(func() { assert.Check(t, d.Close()) })
	return d
}

func call(t *testing.T, d *com.Driver, app, class string, limit time.Duration) (*aai.Result, error) {
	t.Helper()
	action, err := d.Compile(&aai.Recipe{App: app, COM: &aai.COMRecipe{Steps: []aai.COMStep{{Action: "create", Var: "a", ProgID: class}}}})
	assert.NilError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return action(ctx, &aai.Call{})
}

// TestProcesses checks that a process is kept for the calls of its app and of no other.
func TestProcesses(t *testing.T) {
	d := newDriver(t)
	pid := func(app string) any {
		got, err := call(t, d, app, "Test.PID", time.Minute)
		assert.NilError(t, err)
		return got.Data
	}
	first := pid("a")
	assert.Equal(t, pid("a"), first)
	assert.Check(t, pid("b") != first)
	assert.Equal(t, pid("a"), first)
	_, err := call(t, d, "a", "Test.Late", time.Second)
	assert.ErrorContains(t, err, "did not answer by the deadline")
	assert.Check(t, pid("a") != first)
	got, err := call(t, d, "a", "Test.Long", time.Minute)
	assert.NilError(t, err)
	assert.Equal(t, len(got.Text), 2<<20)
}

// TestHungProcess checks that a process which hangs is killed at the deadline.
func TestHungProcess(t *testing.T) {
	d := newDriver(t)
	start := time.Now()
	_, err := call(t, d, "a", "Test.Hang", 300*time.Millisecond)
	assert.Equal(t, aai.AsError(err).Code, aai.Timeout)
	assert.Equal(t, aai.AsError(err).Delivery, aai.DeliveryUnknown)
	assert.Check(t, time.Since(start) < 2*time.Second, "%v", time.Since(start))
}

// TestBrokenProcess checks the errors for a process that ends, that answers otherwise, and that cannot be started.
func TestBrokenProcess(t *testing.T) {
	d := newDriver(t)
	for _, class := range []string{"Test.Exit", "Test.Bad"} {
		_, err := call(t, d, "a", class, time.Minute)
		assert.Check(t, is.ErrorContains(err, "the process that ran the COM calls of a ended during the call"))
		assert.Equal(t, aai.AsError(err).Delivery, aai.DeliveryUnknown)
	}
	none := com.New(com.Config{Command: func() (*exec.Cmd, error) { return exec.Command("/none"), nil }})
	_, err := call(t, none, "a", "Test.PID", time.Minute)
	assert.Check(t, is.ErrorContains(err, "cannot be started"))
	assert.Equal(t, aai.AsError(err).Delivery, aai.NotDelivered)
	assert.NilError(t, d.Close())
	_, err = call(t, d, "a", "Test.PID", time.Minute)
	assert.Check(t, is.ErrorContains(err, "cannot be started"))
}
