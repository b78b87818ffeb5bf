package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// The budget of a call that is refused, in bytes that it makes the gateway allocate:
// so many times its frame, and a little for the call itself.
const (
	costOver  = 2  // where its arguments are more than a tool takes
	costBelow = 50 // where they are not
	costCall  = 128 << 10
	slowest   = 300 * time.Millisecond
)

// refusing returns a gateway that refuses calls in the given way.
func refusing(way string) *gateway.Gateway {
	s := plain()
	s.Effect = aai.Changes
	w := newWorld(s)
	g := w.gateway()
	said := aai.Errorf(aai.PermissionDenied, "no, said the gate at some length, so that there is something to look through for secrets, such as aaaaaaaaaaaaaaaa")
	switch way {
	case "tool":
		w.app.Tools = nil
	case "gate":
		g.Gates = []aai.Gate{gateFunc(func(*aai.Request) ([]aai.Question, error) { return nil, said })}
	case "schema":
		w.app.Tools[0].Params.Check = func(v any) (any, error) {
			return nil, aai.Errorf(aai.InvalidParams, "password: expected a number, got %s", aai.CleanLabel(fmt.Sprintf("%.400v", v), 200))
		}
	case "app":
		w.app.Tools[0].Run = func(_ context.Context, call *aai.Call) (*aai.Result, error) {
			return nil, aai.Errorf(aai.AutomationFailed, "the app says: %s", aai.CleanLabel(fmt.Sprintf("%.4000v", call.Args), 2000))
		}
	}
	return g
}

// costOf makes the call and returns its allocated bytes and its duration.
func costOf(g *gateway.Gateway, raw string) (bytes uint64, took time.Duration, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun := time.Now()
	_, err = g.Do(context.Background(), &aai.Call{
		Caller: aai.Caller{Door: "test"}, App: "org.example.App", Tool: "work", Raw: json.RawMessage(raw),
	})
	took = time.Since(begun)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, took, err
}

// FuzzRefusedCallsAreCheap: for any arguments, a refused call costs no more than a small multiple
// of their size. The seeds once took gigabytes.
func FuzzRefusedCallsAreCheap(f *testing.F) {
	mix := "<\\\"\u00e9\u2028 &\\t"
	for _, size := range []int{10, 1000, 20_000, 200_000, 1 << 20, 2 << 20} {
		for _, piece := range []string{"a", `\\`, `\"`, mix, "\u00e9", "…", "a…", "%", "<"} {
			f.Add(`{"password":"` + strings.Repeat(piece, size/len(piece)) + `"}`)
		}
		f.Add(`{"password":[` + strings.Repeat(`"12345678",`, size/11) + `1]}`)
		f.Add(`{"password":[` + strings.Repeat(`"<\"é",`, size/8) + `1]}`)
		f.Add(`{"a":` + strings.Repeat(`[`, size) + strings.Repeat(`]`, size) + `}`)
		f.Add(`{"token":{` + strings.Repeat(`"k":{"x":"1234"},`, size/18) + `"z":1}}`)
		f.Add(strings.Repeat(`{"secret":`, size/10) + "1" + strings.Repeat("}", size/10))
	}
	f.Add(`"{\"password\":\"x\"}"`)
	f.Fuzz(func(t *testing.T, raw string) {
		if len(raw) > 4<<20 {
			return
		}
		for _, way := range []string{"tool", "gate", "schema", "app"} {
			g := refusing(way)
			got, took, err := costOf(g, raw)
			assert.Assert(t, err != nil, "%s: it was not refused", way)
			times := uint64(costBelow)
			if len(raw) > 1<<20 {
				times = costOver
			}
			if most := times*uint64(len(raw)) + costCall; got > most {
				t.Errorf("%s: a frame of %d bytes (%.40q…) made it allocate %d, %.1f times as much; at most %d", way, len(raw), raw, got, float64(got)/float64(len(raw)), most)
			}
			if took > 10*slowest { // the figure itself is measured by the benchmarks
				t.Errorf("%s: a frame of %d bytes (%.40q…) took %s", way, len(raw), raw, took)
			}
		}
	})
}
