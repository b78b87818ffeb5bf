package com_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/windows"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/com"
	"github.com/gybob/aai-gateway/internal/drivers/com/fakeserver"
	"github.com/gybob/aai-gateway/internal/drivers/com/host"
)

// TestMain runs the tests, or is a process of the driver, or the app.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "run-com":
		os.Exit(host.Run(os.Stdin, os.Stdout))
	case len(os.Args) == 2 && os.Args[1] == "end":
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(3)
	case len(os.Args) > 2 && os.Args[1] == "serve":
		if err := fakeserver.Serve(os.Args[2], 8*time.Minute); err != nil {
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func newDriver(t *testing.T) *com.Driver {
	d := com.New(com.Config{Command: func() (*exec.Cmd, error) {
		cmd := exec.CommandContext(context.Background(), os.Args[0], "run-com")
		cmd.Stderr = os.Stderr
		return cmd, nil
	}})
	t.Cleanup(func() { assert.Check(t, d.Close()) })
	return d
}

// startable registers a new class of the test app and returns its ProgID. Wine remembers the class of an app that crashed.
func startable(t *testing.T) string {
	t.Helper()
	var id windows.GUID
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	id.Data1, id.Data2, id.Data3 = uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24, uint16(b[4]), uint16(b[5])
	copy(id.Data4[:], b[8:])
	progID := fmt.Sprintf("AaiTest.App%x", b[:6])
	self, err := os.Executable()
	assert.NilError(t, err)
	assert.NilError(t, fakeserver.Register(progID, id.String(), `"`+self+`" serve `+id.String()))
	t.Cleanup(func() { fakeserver.Unregister(progID, id.String()) })
	return progID
}

// recipe returns a recipe with steps as in a descriptor.
func recipe(t *testing.T, steps string, params ...string) *aai.Recipe {
	t.Helper()
	r := &aai.Recipe{Kind: "com", App: "org.example.test", Tool: "test", Platform: "windows", Params: params, COM: &aai.COMRecipe{}}
	var raw []struct {
		Action, Var, Object, ProgID, Method, Property string
		Value                                         json.RawMessage
		Args                                          []json.RawMessage
		Named                                         map[string]json.RawMessage
		Properties                                    []string
		Running                                       bool
	}
	assert.NilError(t, json.Unmarshal([]byte(steps), &raw))
	for _, s := range raw {
		r.COM.Steps = append(r.COM.Steps, aai.COMStep(s))
	}
	return r
}

// run runs steps as one call.
func run(t *testing.T, d *com.Driver, steps string, args map[string]any) (*aai.Result, error) {
	t.Helper()
	return runWithin(t, d, 20*time.Second, steps, args)
}

func runWithin(t *testing.T, d *com.Driver, limit time.Duration, steps string, args map[string]any) (*aai.Result, error) {
	t.Helper()
	var params []string
	for name := range args {
		params = append(params, name)
	}
	action, err := d.Compile(recipe(t, steps, params...))
	assert.NilError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return action(ctx, &aai.Call{Args: args})
}
