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
			if found != nil {
				t.Fatalf("two entries of kind %s", kind)
			}
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
	if got := codeOf(err); got != code {
		t.Fatalf("code %q, want %q: %v", got, code, err)
	}
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
			if result != nil {
				t.Errorf("result %v", result)
			}
			_ = wantCode(t, err, aai.RecordFailed)
		})
	}
	_, err := (&gateway.Gateway{Catalog: w, Journal: w}).Do(t.Context(), plain().call())
	_ = wantCode(t, err, aai.PermissionDenied)
	_, err = (&gateway.Gateway{Journal: w}).Do(t.Context(), plain().call())
	_ = wantCode(t, err, aai.AppNotFound)
	if w.count("run") != 0 {
		t.Error("an Action ran")
	}
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
	if _, err := w.gateway().Do(t.Context(), s.call()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"given": "x", "password": secretValue, "filled": true}, got); diff != "" {
		t.Errorf("arguments of the Action (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"given": "x", "password": sanitize.Hide(secretValue), "filled": true}, w.entryOf(t, aai.Intent).Args, cmp.AllowUnexported(sanitize.Hidden{})); diff != "" {
		t.Errorf("arguments on record (-want +got):\n%s", diff)
	}
}

func TestActionWithoutParametersGetsArgs(t *testing.T) {
	s := plain()
	s.Params = absent
	w := newWorld(s)
	w.app.Tools[0].Run = func(_ context.Context, c *aai.Call) (*aai.Result, error) {
		if c.Args == nil {
			t.Error("Args is nil")
		}
		return nil, nil
	}
	result, err := w.gateway().Do(t.Context(), s.call())
	if err != nil || result == nil {
		t.Fatalf("Do returned %v, %v", result, err)
	}
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
		if _, err := w.gateway().Do(t.Context(), call); err != nil {
			t.Fatal(err)
		}
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
				if e.Elapsed < 0 || e.Time.IsZero() {
					t.Errorf("%s at %s after %s", e.Kind, e.Time, e.Elapsed)
				}
				e.Time, e.Elapsed, e.ResultValue = time.Time{}, 0, nil
				got = append(got, e)
			}
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b map[string]any) bool { return len(a) == len(b) })); diff != "" {
			t.Errorf("lines of what %s (-want +got):\n%s", effect, diff)
		}
	}
}

func TestCallsGetDifferentIDs(t *testing.T) {
	seen := make(map[string]bool)
	for range 50 {
		w := newWorld(plain())
		if _, err := w.gateway().Do(t.Context(), plain().call()); err != nil {
			t.Fatal(err)
		}
		id := w.entryOf(t, aai.Outcome).Call
		if len(id) != 16 || seen[id] {
			t.Fatalf("id %q is not new or not of 16 characters", id)
		}
		seen[id] = true
	}
}

func TestToolNotFoundNamesCandidates(t *testing.T) {
	s := plain()
	s.Tool = "wrk\x1b"
	o := play(t.Context(), s)
	e := wantCode(t, o.err, aai.ToolNotFound)
	if !slices.Equal(e.Candidates, []string{"work"}) {
		t.Errorf("candidates %q", e.Candidates)
	}
	if want := `org.example.App has no tool "wrk"`; e.Message != want {
		t.Errorf("message %q, want %q", e.Message, want)
	}
	if !strings.Contains(e.Hint, "work") || !e.RetrySafe() {
		t.Errorf("hint %q, delivery %q", e.Hint, e.Delivery)
	}
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
	if !strings.Contains(e.Message, "org.example.App") || e.Hint == "" || !e.RetrySafe() {
		t.Errorf("%+v", e)
	}
	if o.count("ask") != 0 {
		t.Error("a person was asked about what cannot run anyway")
	}
	s.Run = forbidden
	if o := play(t.Context(), s); aai.AsError(o.err).Message != "refused by the scenario" {
		t.Errorf("the tool's own reason is lost: %v", o.err)
	}
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
	if _, err := g.Do(t.Context(), s.call()); err != nil {
		t.Fatal(err)
	}
	if see.saw.App != w.app || see.saw.Call.Target != w.other {
		t.Errorf("the gate saw app %s, target %s", see.saw.App.ID, see.saw.Call.Target.ID)
	}
	if e := w.entryOf(t, aai.Intent); e.App != "org.example.App" || e.Target != "org.example.Other" {
		t.Errorf("on record is app %s, target %s", e.App, e.Target)
	}
}

func TestTargetMustBeAnApp(t *testing.T) {
	for name, args := range map[string]map[string]any{
		"missing": {}, "empty": {"app": ""}, "number": {"app": 7.0}, "null": {"app": nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := plain()
			s.Target, s.Args = "a number", args
			e := wantCode(t, play(t.Context(), s).err, aai.InvalidParams)
			if !strings.HasPrefix(e.Message, "app: ") {
				t.Errorf("the message does not name the place: %s", e.Message)
			}
		})
	}
}

func TestFaultIsRecordedAndRefused(t *testing.T) {
	s := plain()
	s.Fault = true
	o := play(t.Context(), s)
	e := wantCode(t, o.err, aai.InvalidParams)
	if e.Message != "the arguments are no object" {
		t.Errorf("message %q", e.Message)
	}
	if got := o.story(); got != "outcome true" {
		t.Errorf("trace: %s", got)
	}
	if e := o.entryOf(t, aai.Outcome); e.Code != aai.InvalidParams || e.Message != "the arguments are no object" {
		t.Errorf("outcome %+v", e)
	}
}

func TestTimeoutIsLabelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := plain()
		s.Run = ignores
		o := play(t.Context(), s)
		e := wantCode(t, o.err, aai.Timeout)
		if e.Delivery != aai.DeliveryUnknown || e.RetrySafe() || !strings.Contains(e.Message, "within 800ms") || e.Hint == "" {
			t.Errorf("%+v", e)
		}
		if o.elapsed != toolTimeout+grace {
			t.Errorf("took %s", o.elapsed)
		}
	})
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
			if _, err := w.gateway().Do(t.Context(), plain().call()); err != nil {
				t.Fatal(err)
			}
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
				if _, err := g.Do(t.Context(), call); codeOf(err) != want[call.Tool] {
					t.Errorf("%s: %v", call.Tool, err)
				}
			})
		}
		all.Wait()
		if n := w.count(string(aai.Outcome)); n != 40 {
			t.Errorf("%d outcomes", n)
		}
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
		if on := w.entryOf(t, aai.Outcome); e.Delivery != c.told || e.RetrySafe() != c.safe || on.Delivery != c.told {
			t.Errorf("%v: delivery %q, on record %q, want %q", c, e.Delivery, on.Delivery, c.told)
		}
		if failure.Delivery != c.said {
			t.Error("the Action's own error was changed")
		}
	}
}
