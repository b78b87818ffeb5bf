package host

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/com"
	"github.com/gybob/aai-gateway/internal/drivers/com/fakeserver"
	"github.com/gybob/aai-gateway/internal/platform/windows/comcall"
)

const (
	testProgID = "AaiTest.Speed"
	testClass  = "{5B0D7A51-6C0E-4D2B-9A53-0F7C1E2A9B77}"
)

// TestMain runs the tests, or is a process of the driver, or the app.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "run-com":
		os.Exit(Run(os.Stdin, os.Stdout))
	case len(os.Args) > 1 && os.Args[1] == "serve":
		if fakeserver.Serve(testClass, 8*time.Minute) != nil {
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// bareLoop creates an object, calls a method with two arguments and releases the object, with nothing of the driver between.
func bareLoop(t *testing.T, l *library, progID, member string, calls int) {
	id, hr := l.class(progID)
	assert.Assert(t, !comcall.Failed(hr), "%#x", hr)
	var object unsafe.Pointer
	hr = comcall.Call(l.createInstance, addressOf(&id), 0, 5, addressOf(iidDispatch()), addressOf(&object))
	assert.Assert(t, !comcall.Failed(hr), "%#x", hr)
	for n := range calls {
		found, _, hr := ids(object, member, nil)
		assert.Assert(t, !comcall.Failed(hr), "%#x", hr)
		var result comcall.Variant
		args := []comcall.Variant{{VT: uint16(com.VTI4), Value: uint64(n)}, {VT: uint16(com.VTI4), Value: 2}}
		hr, _, _ = (&invocation{object: object, id: found[0], flags: flagMethod | flagGet, args: args}).run(&result)
		assert.Assert(t, !comcall.Failed(hr), "%#x", hr)
		l.Clear(&result)
	}
	comcall.Release(object)
}

// TestSpeed compares a call in a warm process with a bare loop, by their medians. A call of an object in the same process takes a few
// microseconds, so there the way to the process and back is most of the time.
func TestSpeed(t *testing.T) {
	runtime.LockOSThread()
	l := newLibrary()
	assert.Assert(t, !comcall.Failed(comcall.Call(l.initialize, 0, apartmentThreaded)))
	self, err := os.Executable()
	assert.NilError(t, err)
	assert.NilError(t, fakeserver.Register(testProgID, testClass, `"`+self+`" serve`))
	d := com.New(com.Config{Command: func() (*exec.Cmd, error) {
		return exec.CommandContext(context.Background(), self, "run-com"), nil
	}})
	defer d.Close() //nolint:errcheck // it cannot fail
	for _, c := range []struct {
		progID, what string
		calls        int
		limited      bool // the driver may cost twice the bare loop at most
	}{
		{testProgID, "one call of an app in a process of its own", 1, true},
		{"Scripting.Dictionary", "one call of an object in the same process", 1, false},
		{"Scripting.Dictionary", "1000 calls of an object in the same process", 1000, false},
	} {
		steps := []aai.COMStep{{Action: "create", Var: "a", ProgID: c.progID}}
		for n := range c.calls {
			steps = append(steps, aai.COMStep{Action: "call", Object: "a", Method: "Add", Args: []json.RawMessage{json.RawMessage(strconv.Itoa(n)), json.RawMessage("2")}})
		}
		action, err := d.Compile(&aai.Recipe{App: "x", COM: &aai.COMRecipe{Steps: steps}})
		assert.NilError(t, err)
		one := func() {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			_, err := action(ctx, &aai.Call{})
			assert.NilError(t, err)
		}
		one()
		var bare, driven []time.Duration
		for range 30 {
			bare = append(bare, timed(func() { bareLoop(t, l, c.progID, "Add", c.calls) }))
			driven = append(driven, timed(one))
		}
		t.Logf("%s: bare %v, by the driver %v", c.what, median(bare), median(driven))
		if c.limited {
			assert.Check(t, median(driven) < 2*median(bare), "%s: %v, %v", c.what, median(driven), median(bare))
		}
	}
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
