package com_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/com"
	"github.com/gybob/aai-gateway/internal/drivers/com/fakeserver"
)

func TestCallsAnObject(t *testing.T) {
	d := newDriver(t)
	got, err := run(t, d, `[{"action":"create","var":"d","progid":"Scripting.Dictionary"},
		{"action":"call","object":"d","method":"Add","args":["a","${x}"]},
		{"action":"get","object":"d","property":"Item","args":["a"]}]`, map[string]any{"x": "grüße 漢字 😀"})
	assert.NilError(t, err)
	assert.Equal(t, got.Data, "grüße 漢字 😀")
}

func TestCallsAnApp(t *testing.T) {
	d := newDriver(t)
	got, err := run(t, d, `[{"action":"create","var":"a","progid":"`+startable(t)+`"},
		{"action":"call","object":"a","method":"Add","args":[2,40]}]`, nil)
	assert.NilError(t, err)
	assert.Equal(t, got.Data, int64(42))
}

// TestHangs checks that a call ends at its deadline while the app hangs, that no other call is disturbed, and that the app lives on.
func TestHangs(t *testing.T) {
	d, app := newDriver(t), startable(t)
	_, err := run(t, d, `[{"action":"create","var":"a","progid":"`+app+`"},{"action":"get","object":"a","property":"Name"}]`, nil) // starts the app
	assert.NilError(t, err)
	others := make(chan error, 1)
	go func() {
		_, err := run(t, d, `[{"action":"create","var":"a","progid":"`+app+`"},{"action":"call","object":"a","method":"Sleep","args":[3500]},
			{"action":"call","object":"a","method":"Add","args":[1,2]}]`, nil)
		others <- err
	}()
	const limit = 3 * time.Second
	start := time.Now()
	_, err = runWithin(t, d, limit, `[{"action":"create","var":"a","progid":"`+app+`"},{"action":"call","object":"a","method":"Sleep","args":[10000]}]`, nil)
	took := time.Since(start)
	assert.Check(t, is.ErrorContains(err, "did not answer by the deadline"))
	assert.Equal(t, aai.AsError(err).Code, aai.Timeout)
	assert.Equal(t, aai.AsError(err).Delivery, aai.DeliveryUnknown)
	assert.Check(t, took > limit-100*time.Millisecond, "%v", took)
	assert.Check(t, took < limit+100*time.Millisecond, "%v", took)
	assert.NilError(t, <-others)
	t.Logf("a limit of %v took %v", limit, took)
}

// TestStopped checks that a call ends at once when its caller cancels it.
func TestStopped(t *testing.T) {
	d, app := newDriver(t), startable(t)
	action, err := d.Compile(recipe(t, `[{"action":"create","var":"a","progid":"`+app+`"},{"action":"call","object":"a","method":"Sleep","args":[10000]}]`))
	assert.NilError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Second, cancel)
	start := time.Now()
	_, err = action(ctx, &aai.Call{})
	assert.Check(t, is.ErrorContains(err, "the caller cancelled the call"))
	assert.Check(t, time.Since(start) < 1100*time.Millisecond, "%v", time.Since(start))
}

// TestAlwaysBusy checks the error for an app that rejects every call until the deadline.
func TestAlwaysBusy(t *testing.T) {
	d, app := newDriver(t), startable(t)
	_, err := run(t, d, `[{"action":"create","var":"a","progid":"`+app+`"}]`, nil) // starts the app
	assert.NilError(t, err)
	_, err = runWithin(t, d, 4*time.Second, `[{"action":"create","var":"a","progid":"`+app+`"},
		{"action":"call","object":"a","method":"Busy","args":[1000000]},{"action":"call","object":"a","method":"Add","args":[1,2]}]`, nil)
	assert.Check(t, is.ErrorContains(err, "step 3, call Add: the app was busy until the deadline"))
	assert.Equal(t, aai.AsError(err).Code, aai.Timeout)
}

// TestCrash checks the error for an app that ends during a call. The next call starts it again.
func TestCrash(t *testing.T) {
	d := newDriver(t)
	_, err := run(t, d, `[{"action":"create","var":"a","progid":"`+startable(t)+`"},{"action":"call","object":"a","method":"Crash"}]`, nil)
	assert.Check(t, is.ErrorContains(err, "the app ended during the call (error 0x800706BE)"))
	assert.Equal(t, aai.AsError(err).Code, aai.AppNotRunning)
	assert.Equal(t, aai.AsError(err).Delivery, aai.DeliveryUnknown)
	_, err = run(t, d, `[{"action":"create","var":"a","progid":"`+startable(t)+`"},{"action":"call","object":"a","method":"Add","args":[1,2]}]`, nil)
	assert.NilError(t, err)
}

// TestLostProcess checks the error if the process of the call ends, as by a component in it that fails.
func TestLostProcess(t *testing.T) {
	d := com.New(com.Config{Command: func() (*exec.Cmd, error) { return exec.Command(os.Args[0], "end"), nil }})
	_, err := run(t, d, `[{"action":"create","var":"a","progid":"Scripting.Dictionary"}]`, nil)
	assert.Check(t, is.ErrorContains(err, "the process that ran the COM calls of org.example.test ended during the call (exit status 3)"))
	assert.Equal(t, aai.AsError(err).Delivery, aai.DeliveryUnknown)
}

// TestAliasOfProgramClass checks that a class which runs programs is refused under another name than the consent knows.
func TestAliasOfProgramClass(t *testing.T) {
	d := newDriver(t)
	assert.NilError(t, fakeserver.Alias("AaiTest.Harmless", aai.ProgramClasses()["WScript.Shell"]))
	t.Cleanup(func() { fakeserver.Unregister("AaiTest.Harmless", "{none}") })
	_, err := run(t, d, `[{"action":"create","var":"w","progid":"AaiTest.Harmless"},{"action":"call","object":"w","method":"Run","args":["cmd"]}]`, nil)
	assert.Check(t, is.ErrorContains(err, "the class runs programs"))
	assert.Equal(t, aai.AsError(err).Code, aai.PermissionDenied)
	assert.Equal(t, aai.AsError(err).Delivery, aai.NotDelivered)
}

// TestEnvelope checks the app's own protocol.
func TestEnvelope(t *testing.T) {
	d, app := newDriver(t), startable(t)
	call := func(tool string) (*aai.Result, error) {
		action, err := d.Compile(&aai.Recipe{App: "org.example.test", Tool: tool, Platform: "windows", IPC: &aai.IPCRecipe{ProgID: app}})
		assert.NilError(t, err)
		return action(t.Context(), &aai.Call{ID: "c1", Args: map[string]any{"text": "grüße"}})
	}
	got, err := call("add_note")
	assert.NilError(t, err)
	assert.DeepEqual(t, got.Data, map[string]any{"tool": "add_note", "params": map[string]any{"text": "grüße"}})
	_, err = call("fail")
	assert.Check(t, is.ErrorContains(err, "answered with the error TIMEOUT: too slow"))
	assert.Equal(t, aai.AsError(err).Code, aai.Timeout)
}

// TestManyAtOnce runs eight calls at once, each on 200 objects of the app.
func TestManyAtOnce(t *testing.T) {
	d, app := newDriver(t), startable(t)
	steps := `[{"action":"create","var":"a","progid":"` + app + `"}`
	for i := range 200 {
		steps += fmt.Sprintf(`,{"action":"call","object":"a","method":"Child","var":"c%d"},{"action":"set","object":"c%d","property":"Name","value":"n%d"}`, i, i, i)
	}
	steps += `,{"action":"get","object":"c0","property":"Name","var":"first"},{"action":"get","object":"c199","property":"Name","var":"last"},
		{"action":"return","value":["${first}","${last}"]}]`
	var all sync.WaitGroup
	start := time.Now()
	for range 8 {
		all.Go(func() {
			got, err := runWithin(t, d, 2*time.Minute, steps, nil)
			assert.Check(t, err)
			if err == nil {
				assert.Check(t, is.DeepEqual(got.Data, []any{"n0", "n199"}))
			}
		})
	}
	all.Wait()
	t.Logf("8 calls with 200 objects each took %v", time.Since(start))
}
