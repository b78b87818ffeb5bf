package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

// decodedObject decodes as encoding/json does.
func decodedObject(raw []byte) (object map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&object)
	return object, err
}

// TestDecodeObject checks that arguments without a name twice decode as by encoding/json.
func TestDecodeObject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var draw func(depth int) any
		draw = func(depth int) any {
			switch rapid.IntRange(0, 4+2*depth).Draw(t, "kind") {
			case 0:
				return rapid.MapOfN(rapid.StringN(0, 3, 9), rapid.Just[any](1), 0, 3).Draw(t, "object")
			case 1, 2:
				list := []any{}
				for range rapid.IntRange(0, 3).Draw(t, "elements") {
					list = append(list, draw(depth+1))
				}
				return list
			}
			return rapid.SampledFrom([]any{"", "{", 1.5e300, -7, true, nil, map[string]any{}}).Draw(t, "scalar")
		}
		raw, err := json.MarshalIndent(map[string]any{"a": draw(0), "b": draw(0)}, "", " ")
		assert.NilError(t, err)
		want, err := decodedObject(raw)
		assert.NilError(t, err)
		got, err := decodeObject(raw)
		assert.NilError(t, err, "%s %v", raw, got)
		assert.Assert(t, reflect.DeepEqual(got, want), "%s %v", raw, got)
	})
}

// TestNamesTwice checks that a name that occurs twice in one object is an error with its path.
func TestNamesTwice(t *testing.T) {
	for raw, want := range map[string]string{
		`{"s":"a","s":"b"}`:             "s: the name",
		`{"s":1,"\u0073":2}`:            "s: the name",
		`{"a":[0,{"b":{"c":1,"c":1}}]}`: "a[1].b.c: the name",
		`"{\"s\":1,\"s\":1}"`:           "s: the name",
		`{"s":1,"S":2,"a":{"s":1}}`:     "",
		`{"a":[{"s":1},{"s":1}]}`:       "",
	} {
		_, err := parseArgs(json.RawMessage(raw))
		switch {
		case want == "":
			assert.Check(t, err == nil, "%s %v", raw, err)
		case err == nil || err.Code != aai.InvalidParams || !strings.HasPrefix(err.Message, want) || err.Hint == "":
			t.Errorf("%s: got %+v, want %q", raw, err, want)
		}
	}
}

// TestMalformedObjects checks that an argDecoder refuses each text that encoding/json refuses.
func TestMalformedObjects(t *testing.T) {
	for _, raw := range []string{`{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":[1 2]}`, `{"a":[1,]}`, `{"a":01}`, `{"a":1]`, `[}`, `{1:2}`, `{"a":1} {}`, `{"a":1}x`, `[]`, `1`, `{"a" 1}`, `{"a":1 "b":2}`} {
		got, err := decodeObject([]byte(raw))
		assert.Check(t, err != nil, "%s %v", raw, got)
	}
}

// reservingCall returns the context of a call of g.
func reservingCall(t *testing.T, g *Gateway) (context.Context, *invocation) {
	t.Helper()
	p := newInvocation(t.Context(), g, &aai.Call{}, make(chan struct{}, 1))
	t.Cleanup(func() { p.clock.alarm.Stop() })
	return context.WithValue(t.Context(), invocationKey{}, p), p
}

// TestLargeResultsWait checks that the second of two large results waits for the end of the first call,
// and that small ones do not.
func TestLargeResultsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &Gateway{}
		first, call := reservingCall(t, g)
		assert.NilError(t, ReserveResult(first, maxResultMemory/resultByteCost/2, 1000))
		second, other := reservingCall(t, g)
		got := make(chan error, 1)
		go func() { got <- ReserveResult(second, 0, maxResultMemory/resultValueCost) }()
		synctest.Wait()
		small, third := reservingCall(t, g)
		assert.Check(t, ReserveResult(small, 1000, 10))
		third.releaseResult()
		assert.Assert(t, len(got) <= 0, "the second did not wait")
		call.releaseResult()
		assert.Check(t, <-got)
		other.releaseResult()
		assert.Check(t, is.Equal(g.results.used, 0), "%d bytes are left", g.results.used)
	})
}

// TestResultsWaitNotForever checks that a large result is refused after a few seconds, and at the end of its
// call.
func TestResultsWaitNotForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &Gateway{}
		first, _ := reservingCall(t, g)
		if err := ReserveResult(first, 1<<40, 1<<20); err != nil { // more than all there is
			t.Fatal(err)
		}
		second, _ := reservingCall(t, g)
		begun := time.Now()
		e := aai.AsError(ReserveResult(second, 1, 0))
		assert.Assert(t, e != nil, "%+v after %s", e, time.Since(begun))
		assert.Equal(t, e.Delivery, aai.Delivered, "%+v", e)
		assert.Equal(t, time.Since(begun), resultMemoryWait, "%+v", e)
		ended, cancel := context.WithCancel(second)
		cancel()
		assert.Check(t, is.ErrorIs(ReserveResult(ended, 1, 0), context.Canceled))
	})
}

// QueueCount returns the number of queues.
func QueueCount(g *Gateway) int {
	g.queues.mu.Lock()
	defer g.queues.mu.Unlock()
	return len(g.queues.byKey)
}
