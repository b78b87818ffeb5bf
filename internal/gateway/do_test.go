package gateway_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// entryOf returns the one entry of a kind in the trace.
func (w *world) entryOf(t *testing.T, kind aai.EntryKind) *aai.Entry {
	t.Helper()
	var found *aai.Entry
	for _, s := range w.steps() {
		if s.what == string(kind) {
			assert.Assert(t, found == nil, "two entries of kind %s", kind)
			found = s.entry
		}
	}
	if found == nil {
		t.Fatalf("no entry of kind %s in: %s", kind, w.story())
	}
	return found
}

// wantCode fails unless the error has the code, and returns it.
func wantCode(t *testing.T, err error, code aai.Code) *aai.Error {
	t.Helper()
	assert.Equal(t, codeOf(err), code, err)
	return aai.AsError(err)
}

func TestZeroGatewayRunsNothing(t *testing.T) {
	w := newWorld(plain())
	for name, g := range map[string]*gateway.Gateway{
		"zero":         {},
		"catalog only": {Catalog: w},
		"no journal":   {Catalog: w, Gates: []aai.Gate{gate{w, 0, works}}},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := g.Do(t.Context(), plain().call())
			assert.Check(t, result == nil, "result %v", result)
			_ = wantCode(t, err, aai.RecordFailed)
		})
	}
	_, err := (&gateway.Gateway{Catalog: w, Journal: w}).Do(t.Context(), plain().call())
	_ = wantCode(t, err, aai.PermissionDenied)
	_, err = (&gateway.Gateway{Journal: w}).Do(t.Context(), plain().call())
	_ = wantCode(t, err, aai.AppNotFound)
	assert.Check(t, is.Equal(w.count("run"), 0), "an Action ran")
}

func TestDefaultsReachActionAndJournal(t *testing.T) {
	s := plain()
	s.Params = defaults
	s.Args = map[string]any{"given": "x", "password": secretValue}
	w := newWorld(s)
	var got map[string]any
	w.app.Tools[0].Run = func(_ context.Context, c *aai.Call) (*aai.Result, error) {
		got = c.Args
		return &aai.Result{}, nil
	}
	_, err := w.gateway().Do(t.Context(), s.call())
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(map[string]any{"given": "x", "password": secretValue, "filled": true}, got))
	assert.Check(t, is.DeepEqual(map[string]any{"given": "x", "password": sanitize.Hide(secretValue), "filled": true}, w.entryOf(t, aai.Intent).Args, cmp.AllowUnexported(sanitize.Hidden{})))
}

func TestActionWithoutParametersGetsArgs(t *testing.T) {
	s := plain()
	s.Params = absent
	w := newWorld(s)
	w.app.Tools[0].Run = func(_ context.Context, c *aai.Call) (*aai.Result, error) {
		assert.Check(t, c.Args != nil, "Args is nil")
		return nil, nil
	}
	result, err := w.gateway().Do(t.Context(), s.call())
	assert.NilError(t, err, result)
	assert.Assert(t, result != nil, "Do returned %v, %v", result, err)
}

// TestLinesTellTheCall: a call that acts has two lines, one that reads has one, and the first
// contains all known fields.
func TestLinesTellTheCall(t *testing.T) {
	for _, effect := range []aai.Effect{aai.Changes, aai.Reads} {
		s := plain()
		s.Gates, s.Answers, s.Effect = []string{asks}, "yes", effect
		w := newWorld(s)
		w.app.Tools[0].Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			return &aai.Result{}, gateway.ReportTargetElement(ctx, aai.TargetElement{Role: "button", Name: "Save\x1b", ID: "save", Window: "Notes\n", AllText: "not kept", Irreversible: true})
		}
		call := s.call()
		call.ID, call.Parent, call.App, call.Caller.Name = "c1", "c0", "org.example.App", "evil\x1b[31m\u202ename"
		_, err := w.gateway().Do(t.Context(), call)
		assert.NilError(t, err)
		first := aai.Entry{
			Call: "c1", Parent: "c0", App: "org.example.App", Tool: "work", Target: "org.example.App",
			Caller:   aai.Caller{Door: "test", Name: "evil[31mname", Session: "s1"},
			Admitted: true, Effect: effect, Digest: "d1", Consent: "by q0",
		}
		last := aai.Entry{Call: "c1", App: first.App, Tool: first.Tool, Target: first.Target}
		want := []aai.Entry{first, last}
		if want[0].Kind, want[0].Durable = aai.Intent, true; effect == aai.Reads {
			want = []aai.Entry{first}
		}
		end := &want[len(want)-1]
		end.Kind, end.Ran, end.Element = aai.Outcome, true, aai.TargetElement{Role: "button", Name: "Save", ID: "save", Window: "Notes"}
		var got []aai.Entry
		for _, s := range w.steps() {
			if s.entry != nil {
				e := *s.entry
				assert.Check(t, e.Elapsed >= 0, "%s at %s after %s", e.Kind, e.Time, e.Elapsed)
				assert.Check(t, !e.Time.IsZero(), "%s at %s after %s", e.Kind, e.Time, e.Elapsed)
				e.Time, e.Elapsed, e.ResultValue = time.Time{}, 0, nil
				got = append(got, e)
			}
		}
		assert.Check(t, is.DeepEqual(want, got, cmp.Comparer(func(a, b map[string]any) bool { return len(a) == len(b) })), "%s", effect)
	}
}

func TestCallsGetDifferentIDs(t *testing.T) {
	seen := make(map[string]bool)
	for range 50 {
		w := newWorld(plain())
		_, err := w.gateway().Do(t.Context(), plain().call())
		assert.NilError(t, err)
		id := w.entryOf(t, aai.Outcome).Call
		assert.Equal(t, len(id), 16, "%q", id)
		assert.Assert(t, !seen[id], "id %q is not new or not of 16 characters", id)
		seen[id] = true
	}
}

func TestToolNotFoundNamesCandidates(t *testing.T) {
	s := plain()
	s.Tool = "wrk\x1b"
	o := play(t.Context(), s)
	e := wantCode(t, o.err, aai.ToolNotFound)
	assert.Check(t, slices.Equal(e.Candidates, []string{"work"}), "candidates %q", e.Candidates)
	assert.Check(t, is.Equal(e.Message, `org.example.App has no tool "wrk"`))
	assert.Assert(t, is.Contains(e.Hint, "work"), "%q", e.Delivery)
	assert.Assert(t, e.RetrySafe(), "hint %q, delivery %q", e.Hint, e.Delivery)
}

func TestManyToolsMakeAShortHint(t *testing.T) {
	w := newWorld(plain())
	for i := range 100 {
		w.app.Tools = append(w.app.Tools, &aai.Tool{Name: fmt.Sprintf("tool%d", i)})
	}
	call := plain().call()
	call.Tool = "nothing like it"
	_, err := w.gateway().Do(t.Context(), call)
	e := wantCode(t, err, aai.ToolNotFound)
	if n := strings.Count(e.Hint, ", "); n != 30 || !strings.HasSuffix(e.Hint, ", ….") {
		t.Errorf("the hint names %d tools: %s", n, e.Hint)
	}
}

func TestNoActionIsNotSupported(t *testing.T) {
	s := plain()
	s.Run, s.Dialog, s.Gates = absent, works, []string{asks}
	o := play(t.Context(), s)
	e := wantCode(t, o.err, aai.AutomationNotSupported)
	assert.Assert(t, is.Contains(e.Message, "org.example.App"), "%+v", e)
	assert.Assert(t, e.Hint != "", "%+v", e)
	assert.Assert(t, e.RetrySafe(), "%+v", e)
	assert.Check(t, is.Equal(o.count("ask"), 0), "a person was asked about what cannot run anyway")
	s.Run = forbidden
	o = play(t.Context(), s)
	assert.Check(t, is.Equal(aai.AsError(o.err).Message, "refused by the scenario"), "the tool's own reason is lost: %v", o.err)
}

// seer is a gate that stores its request.
type seer struct{ saw *aai.Request }

func (s *seer) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	s.saw = r
	return nil, nil
}

func TestGatesSeeTheTarget(t *testing.T) {
	s := plain()
	s.Target = "org.example.Other"
	s.Args = map[string]any{"app": "org.example.Other"}
	w := newWorld(s)
	g, see := w.gateway(), &seer{}
	g.Gates = []aai.Gate{see}
	_, err := g.Do(t.Context(), s.call())
	assert.NilError(t, err)
	if see.saw.App != w.app || see.saw.Call.Target != w.other {
		t.Errorf("the gate saw app %s, target %s", see.saw.App.ID, see.saw.Call.Target.ID)
	}
	e := w.entryOf(t, aai.Intent)
	assert.Check(t, is.Equal(e.App, "org.example.App"))
	assert.Check(t, is.Equal(e.Target, "org.example.Other"))
}

func TestTargetMustBeAnApp(t *testing.T) {
	for name, args := range map[string]map[string]any{
		"missing": {}, "empty": {"app": ""}, "number": {"app": 7.0}, "null": {"app": nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := plain()
			s.Target, s.Args = "a number", args
			e := wantCode(t, play(t.Context(), s).err, aai.InvalidParams)
			assert.Check(t, strings.HasPrefix(e.Message, "app: "), "the message does not name the place: %s", e.Message)
		})
	}
}

// TestEndsAreLabelled: an Action that ignores its end costs the grace, and the message names the cause.
func TestEndsAreLabelled(t *testing.T) {
	for _, c := range []struct {
		cancel     string
		own, takes time.Duration // of the caller
		says       string
	}{
		{never, time.Hour, toolTimeout, "within 800ms"},
		{during, time.Hour, cancelAfter, "cancelled"},
		{never, 20 * time.Millisecond, 20 * time.Millisecond, "within 120ms"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := plain()
			s.Run, s.Cancel = ignores, c.cancel
			ctx, cancel := context.WithTimeout(t.Context(), c.own)
			defer cancel()
			o := play(ctx, s)
			e := aai.AsError(o.err)
			assert.Check(t, is.Contains(e.Message, c.says))
			assert.Check(t, is.Equal(o.elapsed, c.takes+grace), c.says)
		})
	}
}

func TestTimeoutDefault(t *testing.T) {
	for _, timeout := range []time.Duration{0, -1} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(plain())
			w.app.Tools[0].Limits.Timeout = timeout
			w.app.Tools[0].Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
				deadline, ok := ctx.Deadline()
				if left := time.Until(deadline); !ok || left != aai.DefaultTimeout {
					t.Errorf("the Action has %s, want %s", left, aai.DefaultTimeout)
				}
				return nil, nil
			}
			_, err := w.gateway().Do(t.Context(), plain().call())
			assert.NilError(t, err)
		})
	}
}

// TestOneHungCallCostsOnlyItself makes many concurrent calls, one of which never ends and some of
// which panic.
func TestOneHungCallCostsOnlyItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(plain())
		defer close(w.forever)
		w.app.Tools = nil
		for _, way := range []string{works, panics, exits, ignores} {
			s := plain()
			s.Run = way
			tool := *newWorld(s).app.Tools[0]
			if tool.Name = way; way == ignores {
				tool.Run = func(context.Context, *aai.Call) (*aai.Result, error) { <-w.forever; return nil, nil }
			}
			w.app.Tools = append(w.app.Tools, &tool)
		}
		g := w.gateway()
		want := map[string]aai.Code{works: "", panics: aai.Internal, exits: aai.Internal, ignores: aai.Timeout}
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				call := plain().call()
				call.Tool = w.app.Tools[i%len(w.app.Tools)].Name
				_, err := g.Do(t.Context(), call)
				assert.Check(t, is.Equal(codeOf(err), want[call.Tool]), "%s %v", call.Tool, err)
			})
		}
		all.Wait()
		assert.Check(t, is.Equal(w.count(string(aai.Outcome)), 40))
	})
}

// TestSilenceOfAnActionIsNoPromise: an Action's error without a delivery is not safe to retry,
// unless the tool only reads.
func TestSilenceOfAnActionIsNoPromise(t *testing.T) {
	for _, c := range []struct {
		effect     aai.Effect
		by         string // further changes of the tool
		said, told aai.Delivery
		safe       bool
	}{
		{aai.Destroys, "", "", aai.DeliveryUnknown, false},
		{aai.Changes, "", "", aai.DeliveryUnknown, false},
		{aai.Changes, "", aai.NotDelivered, aai.NotDelivered, true},
		{aai.Changes, "", aai.Delivered, aai.Delivered, false},
		{aai.Reads, "natural", "", "", true},
		{aai.Reads, "claimed", "", aai.DeliveryUnknown, false},
		{aai.Reads, "starts", "", aai.DeliveryUnknown, false},
	} {
		s := plain()
		s.Effect = c.effect
		w := newWorld(s)
		failure := &aai.Error{Code: aai.AutomationFailed, Message: "it broke", Delivery: c.said}
		w.app.Tools[0].Assess = aai.Always(aai.Assessment{EffectInherent: c.by != "claimed", MayStartProgram: c.by == "starts"})
		w.app.Tools[0].Run = func(context.Context, *aai.Call) (*aai.Result, error) { return nil, failure }
		_, err := w.gateway().Do(t.Context(), s.call())
		e := wantCode(t, err, aai.AutomationFailed)
		on := w.entryOf(t, aai.Outcome)
		assert.Check(t, is.Equal(e.Delivery, c.told), c)
		assert.Check(t, is.Equal(e.RetrySafe(), c.safe), c)
		assert.Check(t, is.Equal(on.Delivery, c.told), c)
		assert.Check(t, is.Equal(failure.Delivery, c.said), "the Action's own error was changed")
	}
}
