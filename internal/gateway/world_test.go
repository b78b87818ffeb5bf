package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// The behaviors of the parts of a gateway. The names appear in the output of a failing property.
const (
	works  = "works"
	fails  = "fails"  // with an error that is not an *aai.Error
	panics = "panics" // with a value
	absent = "absent"

	refuses  = "refuses"  // with an *aai.Error
	nothing  = "nothing"  // nil and no error, against the contract
	defaults = "defaults" // fills in a default
	noObject = "no object"

	asks       = "asks"        // until it is answered, in a dialog or by a client
	asksClient = "asks client" // the same, but never in a dialog
	insists    = "insists"     // asks again whatever was answered

	forbidden   = "forbidden" // an Action that the descriptor has, but this computer has not
	answersNil  = "answers nil"
	answersBoth = "answers both" // a result and an error
	failsInside = "fails inside" // with an *aai.Error within another error
	exits       = "exits"        // the goroutine, by runtime.Goexit
	obeys       = "obeys"        // waits until its context ends
	tarries     = "tarries"      // returns shortly after its context has ended
	ignores     = "ignores"      // its context, and never returns

	before = "before"
	during = "during"
	never  = "never"
)

const (
	toolTimeout = 800 * time.Millisecond // one line suffices for a call of less than a second
	// grace is the time that Do waits for an Action after the end of its context.
	grace       = 100 * time.Millisecond
	cancelAfter = 10 * time.Millisecond

	secretValue = "hunter2"
)

// A step is one thing that happened in a world.
type step struct {
	what  string     // "find", "gate", "ask", "run" or an aai.EntryKind
	gate  int        // which one
	ok    bool       // admitted, answered, recorded
	entry *aai.Entry // of a record
}

// A world is a gateway of parts that behave as a scenario describes; it records the order of
// events.
type world struct {
	scenario
	app, other *aai.App
	forever    chan struct{} // Actions that never return wait for it

	mu      sync.Mutex
	trace   []step
	records int
}

func newWorld(s scenario) *world {
	w := &world{scenario: s, forever: make(chan struct{})}
	w.other = &aai.App{ID: "org.example.Other"}
	w.app = &aai.App{ID: "org.example.App", Digest: "d1", Tools: []*aai.Tool{{
		Name:    "work",
		Params:  aai.Schema{Check: w.params()},
		Returns: aai.Schema{Check: w.returns()},
		Effect:  s.Effect,
		Privacy: aai.Privacy{Secret: []string{"password"}},
		Limits:  aai.Limits{Timeout: toolTimeout},
		Run:     w.action(),
	}}}
	if s.Target != "" {
		w.app.Tools[0].Target = "app"
	}
	if s.Run == forbidden {
		w.app.Tools[0].Implementation.Unavailable = w.refusal(aai.PermissionDenied)
	}
	return w
}

func (w *world) gateway() *gateway.Gateway {
	g := &gateway.Gateway{}
	if w.Catalog != absent {
		g.Catalog = w
	}
	if w.Journal != absent {
		g.Journal = w
	}
	if w.Dialog != absent {
		g.Dialog = w
	}
	for i, way := range w.Gates {
		g.Gates = append(g.Gates, gate{w, i, way})
	}
	return g
}

func (w *world) note(s step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace = append(w.trace, s)
}

// steps returns the events so far.
func (w *world) steps() []step {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.trace)
}

// count returns how often something happened.
func (w *world) count(what string) int {
	n := 0
	for _, s := range w.steps() {
		if s.what == what {
			n++
		}
	}
	return n
}

func (w *world) Apps() []*aai.App              { return []*aai.App{w.app, w.other} }
func (w *world) OnChange(func()) (stop func()) { return func() {} }
func (w *world) missing(name string) *aai.Error {
	return aai.Errorf(aai.AppNotFound, "no app %q", name)
}
func (w *world) refusal(code aai.Code) *aai.Error { return aai.Errorf(code, "refused by the scenario") }

func (w *world) Find(_ context.Context, name string) (*aai.App, error) {
	w.note(step{what: "find"})
	switch w.Catalog {
	case panics:
		panic("the catalog panics")
	case fails:
		return nil, errors.New("the catalog fails")
	case nothing:
		return nil, nil
	}
	switch name {
	case w.app.ID:
		return w.app, nil
	case w.other.ID:
		return w.other, nil
	}
	return nil, w.missing(name)
}

func (w *world) Record(ctx context.Context, e *aai.Entry) error {
	w.mu.Lock()
	n := w.records
	w.records++
	w.mu.Unlock()
	kept := *e
	kept.Args, kept.Precondition = maps.Clone(e.Args), nil
	if e.Precondition != nil {
		if err := e.Precondition(); err != nil {
			return err
		}
	}
	ok := w.Journal == works || n != w.FailAt
	w.note(step{what: string(e.Kind), ok: ok, entry: &kept})
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("a record was made with an ended context: %w", ctx.Err())
	case ok:
		return nil
	case w.Journal == panics:
		panic("the journal panics")
	}
	return errors.New("no space left on device")
}

func (w *world) Ask(_ context.Context, q aai.Question) (aai.Answer, error) {
	w.note(step{what: "ask", ok: w.Dialog == works})
	switch w.Dialog {
	case panics:
		panic("the dialog panics")
	case fails:
		return aai.Answer{}, errors.New("nobody is there")
	case refuses:
		return aai.Answer{Choice: "no", Seal: q.Seal, Channel: aai.DesktopDialog}, nil
	}
	return aai.Answer{Choice: "yes", Seal: q.Seal, Channel: aai.DesktopDialog}, nil
}

// A gate is one of a world's gates.
type gate struct {
	*world
	index int
	way   string
}

func (g gate) id() string { return fmt.Sprintf("q%d", g.index) }

func (g gate) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	s := step{what: "gate", gate: g.index}
	defer func() { g.note(s) }()
	question := aai.Question{
		ID: g.id(), Seal: "seal of " + g.id(), Channels: []aai.Channel{aai.DesktopDialog, aai.Client},
		Choices: []aai.Choice{{ID: "no", Label: "No"}, {ID: "yes", Label: "Yes"}},
	}
	answer, answered := r.Call.Answers[g.id()]
	switch g.way {
	case refuses:
		return nil, g.refusal(aai.PermissionDenied)
	case fails:
		return nil, errors.New("the gate fails")
	case panics:
		panic("the gate panics")
	case insists:
		return []aai.Question{question}, nil
	case asksClient:
		question.Channels = []aai.Channel{aai.Client}
	case works:
		s.ok = true
		return nil, nil
	}
	switch {
	case !answered:
		return []aai.Question{question}, nil
	case answer.Choice != "yes" || answer.Seal != question.Seal:
		return nil, g.refusal(aai.PermissionDenied)
	}
	s.ok = true
	r.Consent = "by " + g.id()
	return nil, nil
}

func (w *world) params() func(any) (any, error) {
	switch w.Params {
	case absent:
		return nil
	case refuses:
		return func(any) (any, error) { return nil, w.refusal(aai.InvalidParams) }
	case fails:
		return func(any) (any, error) { return nil, errors.New("the check fails") }
	case panics:
		return func(any) (any, error) { panic("the check panics") }
	case noObject:
		return func(any) (any, error) { return []any{"a list"}, nil }
	case defaults:
		return func(v any) (any, error) {
			filled := maps.Clone(v.(map[string]any))
			filled["filled"] = true
			return filled, nil
		}
	}
	return func(v any) (any, error) { return v, nil }
}

func (w *world) returns() func(any) (any, error) {
	switch w.Returns {
	case absent:
		return nil
	case refuses:
		return func(any) (any, error) { return nil, w.refusal(aai.InvalidParams) }
	case panics:
		return func(any) (any, error) { panic("the check of the result panics") }
	}
	return func(v any) (any, error) { return v, nil }
}

func (w *world) action() aai.Action {
	if w.Run == absent || w.Run == forbidden {
		return nil
	}
	return func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
		w.note(step{what: "run"})
		result := &aai.Result{Text: "done", Data: 1.0}
		switch w.Run {
		case answersNil:
			return nil, nil
		case answersBoth:
			return result, w.refusal(aai.AppNotRunning)
		case refuses:
			return nil, w.refusal(aai.AppNotRunning)
		case failsInside:
			return nil, fmt.Errorf("the driver: %w", w.refusal(aai.AppNotRunning))
		case fails:
			return nil, errors.New("the app fails")
		case panics:
			panic("the action panics")
		case exits:
			runtime.Goexit()
		case obeys:
			<-ctx.Done()
			return nil, ctx.Err()
		case tarries:
			<-ctx.Done()
			time.Sleep(grace / 2)
		case ignores:
			<-w.forever
		}
		return result, nil
	}
}
