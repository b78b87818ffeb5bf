package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// An observation is a scenario that was played.
type observation struct {
	*world
	call    *aai.Call // as the caller holds it after the call
	was     *aai.Call // as it was before
	result  *aai.Result
	err     error
	elapsed time.Duration
	rounds  int // of the gates, at most
}

// inTwo is Do in its two halves.
func inTwo(g *gateway.Gateway, ctx context.Context, call *aai.Call) (*aai.Result, error) {
	a, err := g.Admit(ctx, call)
	if err != nil {
		return nil, err
	}
	defer a.Release()
	return a.Run(ctx, 0)
}

// play makes the scenario's call once. In a bubble of synctest its clock is that
// of the bubble.
func play(ctx context.Context, s scenario) observation { return playBy(ctx, s, (*gateway.Gateway).Do) }

// playBy is play by Do, or in two.
func playBy(ctx context.Context, s scenario, do func(*gateway.Gateway, context.Context, *aai.Call) (*aai.Result, error)) observation {
	w := newWorld(s)
	defer close(w.forever)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	switch s.Cancel {
	case before:
		cancel()
	case during:
		defer time.AfterFunc(cancelAfter, cancel).Stop()
	}
	o := observation{world: w, call: s.call(), was: s.call()}
	begun := time.Now()
	o.result, o.err = do(w.gateway(), ctx, o.call)
	o.elapsed = time.Since(begun)
	return o
}

// call makes the scenario's call; each time it shares nothing with the last.
func (s scenario) call() *aai.Call {
	c := &aai.Call{
		Caller: aai.Caller{Door: "test", Name: "rapid", Session: "s1"},
		App:    s.App, Tool: s.Tool, Args: copied(s.Args),
	}
	if s.Fault {
		c.RequestError = aai.Errorf(aai.InvalidParams, "the arguments are no object")
	}
	if s.Answers != "" {
		c.Answers = make(map[string]aai.Answer)
		for i := range s.Gates {
			q := gate{index: i}.id()
			c.Answers[q] = aai.Answer{Choice: s.Answers, Seal: "seal of " + q, Channel: aai.Client}
		}
	}
	return c
}

// copied is a deep copy of arguments.
func copied(args map[string]any) map[string]any {
	if args == nil {
		return nil
	}
	return copiedValue(args).(map[string]any)
}

func copiedValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = copiedValue(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = copiedValue(item)
		}
		return out
	}
	return v
}

// TestDo runs random scenarios and checks every one of them against the guarantees of Do.
func TestDo(t *testing.T) {
	promises := []struct {
		name string
		kept func(observation) error
	}{
		{"a result or an *Error, never both and never neither", oneEnding},
		{"the code is the one that the documentation says", rightCode},
		{"runs only what is on record and admitted", runsWhatMayRun},
		{"as few lines as tell all of it, one outcome last", wholeRecord},
		{"returns by the deadline or the cancellation", inTime},
		{"leaves the caller's call alone", callUntouched},
		{"what acts, and what a person is asked about, is on disk before", durableIntent},
		{"keeps no secret on record", noSecrets},
		{"puts questions in one round, which a no ends", oneRound},
		{"is safe to retry if nothing ran, and only then", safeRetry},
	}
	// Lives that go wrong late are rare among random ones, so many are played.
	for i := range 45 {
		if t.Failed() {
			return
		}
		rapid.Check(t, func(rt *rapid.T) {
			s := scenarios().Draw(rt, "scenario")
			rapid.SyncTest(rt, func(rt *rapid.T) {
				do, rounds := (*gateway.Gateway).Do, 2
				if i%3 == 2 {
					do, rounds = inTwo, 3 // deferred calls are checked again
				}
				o := playBy(rt.Context(), s, do)
				o.rounds = rounds
				for _, promise := range promises {
					if err := promise.kept(o); err != nil {
						rt.Errorf("broken: %s: %v\nDo returned %v, %v\ntrace: %s", promise.name, err, o.result, o.err, o.story())
					}
				}
			})
		})
	}
}

// story returns the trace in one line.
func (w *world) story() string {
	var words []string
	for _, s := range w.steps() {
		words = append(words, fmt.Sprintf("%s %v", s.what, s.ok))
	}
	return strings.Join(words, ", ")
}

// codeOf returns the code of Do's error; success has none.
func codeOf(err error) aai.Code {
	if e := aai.AsError(err); e != nil {
		return e.Code
	}
	return ""
}

func oneEnding(o observation) error {
	if o.err == nil {
		if o.result == nil {
			return errors.New("neither a result nor an error")
		}
		return nil
	}
	e, ok := o.err.(*aai.Error) //nolint:errorlint // the promise is the type itself, not a chain
	switch {
	case !ok:
		return fmt.Errorf("the error is a %T", o.err)
	case e == nil:
		return errors.New("the error is a nil *Error")
	case o.result != nil:
		return errors.New("both a result and an error")
	case e.Code == "" || e.Message == "":
		return fmt.Errorf("the error has code %q and message %q", e.Code, e.Message)
	}
	return nil
}

func rightCode(o observation) error {
	want := o.fate()
	if got := codeOf(o.err); got != want.code {
		return fmt.Errorf("code %q, want %q", got, want.code)
	}
	if want.questions == 0 {
		return nil
	}
	if got := len(aai.AsError(o.err).Questions); got != want.questions {
		return fmt.Errorf("%d questions, want %d", got, want.questions)
	}
	return nil
}

// runsWhatMayRun checks the trace: when the Action began, its intent was recorded, and the last
// decision of every gate was an admission.
func runsWhatMayRun(o observation) error {
	admitted := make(map[int]bool)
	var intent bool
	ran := 0
	for _, s := range o.steps() {
		switch s.what {
		case "gate":
			admitted[s.gate] = s.ok
		case string(aai.Intent):
			if len(o.Gates) == 0 || len(admitted) != len(o.Gates) || !allTrue(admitted) {
				return fmt.Errorf("an intent although the gates said %v", admitted)
			}
			intent = s.ok
		case "run":
			ran++
			if len(admitted) != len(o.Gates) || !allTrue(admitted) || o.Effect != aai.Reads && !intent {
				return fmt.Errorf("ran with intent %v on record, and the gates said %v", intent, admitted)
			}
		}
	}
	switch want := o.fate().runs; {
	case want && ran != 1:
		return fmt.Errorf("ran %d times, want once", ran)
	case !want && ran != 0:
		return fmt.Errorf("ran %d times, want never", ran)
	}
	return nil
}

func allTrue(m map[int]bool) bool {
	for _, v := range m {
		if !v {
			return false
		}
	}
	return true
}

// wholeRecord checks the lines of a call: no more than necessary, the first with the caller, the
// admission in one of them, one outcome last.
func wholeRecord(o observation) error {
	var lines []step
	for _, s := range o.steps() {
		if s.entry != nil {
			lines = append(lines, s)
		}
	}
	want := o.lines()
	if o.Journal == absent {
		want = nil
	}
	if len(lines) != len(want) {
		return fmt.Errorf("%d lines, want %v", len(lines), want)
	}
	known, admitted := false, 0
	for i, s := range lines {
		switch {
		case s.what != string(want[i]):
			return fmt.Errorf("line %d is %s, want %v", i, s.what, want)
		case s.entry.Call == "" || s.entry.Call != lines[0].entry.Call:
			return fmt.Errorf("line %d is of call %q, the first of %q", i, s.entry.Call, lines[0].entry.Call)
		case (s.entry.Caller.Door != "") == known:
			return fmt.Errorf("line %d says that %+v asked", i, s.entry.Caller)
		case s.entry.Admitted != (s.entry.Digest != ""):
			return fmt.Errorf("line %d: admitted %v with digest %q", i, s.entry.Admitted, s.entry.Digest)
		}
		if known = known || s.ok; s.entry.Admitted && s.ok {
			admitted++
		}
	}
	if admitted > 1 {
		return fmt.Errorf("what was admitted is told %d times", admitted)
	}
	if len(lines) == 0 {
		return nil
	}
	last := lines[len(lines)-1]
	if all := o.steps(); all[len(all)-1].entry != last.entry {
		return errors.New("something happened after the outcome")
	}
	if last.entry.Code != o.fate().outcome {
		return fmt.Errorf("the outcome's code is %q, want %q", last.entry.Code, o.fate().outcome)
	}
	if last.ok && last.entry.Code != codeOf(o.err) {
		return fmt.Errorf("%q is on record, but Do returned %q", last.entry.Code, codeOf(o.err))
	}
	if ran := o.count("run") > 0; last.entry.Ran != ran {
		return fmt.Errorf("it ran: %v, but on record is %v", ran, last.entry.Ran)
	}
	return nil
}

// inTime holds the virtual clock, on which nothing but waiting takes time,
// against the deadline.
func inTime(o observation) error {
	limit := toolTimeout + grace
	switch o.Cancel {
	case before:
		limit = grace
	case during:
		limit = cancelAfter + grace
	}
	if o.elapsed > limit {
		return fmt.Errorf("took %s, want at most %s", o.elapsed, limit)
	}
	return nil
}

func callUntouched(o observation) error {
	if diff := cmp.Diff(o.was, o.call, cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })); diff != "" {
		return fmt.Errorf("the call was changed (-was +is):\n%s", diff)
	}
	return nil
}

// durableIntent checks that intents are on disk before the Action, and receipts before a
// question.
func durableIntent(o observation) error {
	for _, s := range o.steps() {
		if s.entry == nil {
			continue
		}
		want := s.what != string(aai.Outcome)
		if s.entry.Durable != want {
			return fmt.Errorf("the %s of a tool that %s: durable %v, want %v", s.what, o.Effect, s.entry.Durable, want)
		}
	}
	return nil
}

func noSecrets(o observation) error {
	for _, s := range o.steps() {
		if s.entry != nil && strings.Contains(fmt.Sprintf("%+v", *s.entry), secretValue) {
			return fmt.Errorf("the %s holds a secret: %+v", s.what, *s.entry)
		}
	}
	return nil
}

// oneRound checks that each gate runs at most once before and once after a question, and that
// dialogs only come between the two.
func oneRound(o observation) error {
	asked := make(map[int]int)
	for _, s := range o.steps() {
		if s.what != "gate" {
			continue
		}
		if asked[s.gate]++; asked[s.gate] > o.rounds {
			return fmt.Errorf("gate %d was asked %d times", s.gate, asked[s.gate])
		}
	}
	most := len(o.Gates)
	if o.Dialog != works { // a no is one to all of it
		most = 1
	}
	if n := o.count("ask"); n > most {
		return fmt.Errorf("%d dialogs for %d gates", n, len(o.Gates))
	}
	return nil
}

func safeRetry(o observation) error {
	e := aai.AsError(o.err)
	if e == nil {
		return nil
	}
	ran := o.count("run") > 0
	if code := o.fateOnRecord().code; !ran && (code == aai.Internal || code == aai.AutomationFailed) { // a part that failed may have done anything
		return nil
	}
	if e.RetrySafe() == ran || ran && strings.Contains(e.Message, "nothing was run") {
		return fmt.Errorf("ran %v, and it ends with %q, delivery %q", ran, e.Message, e.Delivery)
	}
	return nil
}
