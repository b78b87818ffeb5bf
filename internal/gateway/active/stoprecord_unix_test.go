//go:build unix

package active_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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
)

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
