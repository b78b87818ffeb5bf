package workflow_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/schema"
)

const shelfID = "org.example.Shelf"

// world is a gateway with the real gates, and an app with tools that store texts by name.
type world struct {
	*gateway.Gateway
	workflow.Config

	mu      sync.Mutex
	kept    map[string]any
	calls   []string // executed ones, by tool and name
	entries []*aai.Entry
	asked   []aai.Question
	answer  string                // the user's answer; "": no user
	fails   map[string]*aai.Error // by tool and name, once each
	apps    []*aai.App
	before  func(aai.Question) // called before each question; may be nil
	met     chan bool          // closed when all have met
	missing int

	sets     map[string]int // number of times each was set
	dead     func() bool    // the process is dead, and its acts have no effect; nil: it lives
	doubtful string         // the last value to be set
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{kept: map[string]any{}, sets: map[string]int{}, fails: map[string]*aai.Error{}, answer: "once"}
	w.Config.Gateway = func() *gateway.Gateway { return w.Gateway }
	own := &aai.App{ID: aai.BuiltinApp, Tools: w.BuiltinTools()}
	w.apps = []*aai.App{own, w.shelf()}
	w.Gateway = &gateway.Gateway{
		Catalog: w, Journal: w, Dialog: w,
		Gates: []aai.Gate{
			policy.NewLimits(policy.DefaultLimits()), &policy.ModeGate{}, policy.NewBuiltinGate(policy.BuiltinConfig{AgentTools: workflow.AgentTools()}),
			policy.NewConsent(policy.ConsentConfig{Store: policy.NewFileStore(t.TempDir() + "/consent.json")}),
		},
	}
	return w
}

func (w *world) shelf() *aai.App {
	const name = `"name": {"type": "string", "minLength": 1}`
	object := func(props, required string) aai.Schema {
		return schema.MustParse(`{"type": "object", "additionalProperties": false, "properties": {` + props + `}, "required": [` + required + `]}`)
	}
	return &aai.App{ID: shelfID, Name: "Shelf", Digest: "d1", Tools: []*aai.Tool{
		{Name: "get", Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true}), Params: object(name, `"name"`), Run: w.run(func(name string, _ *aai.Call) (*aai.Result, error) {
			return &aai.Result{Text: fmt.Sprint(w.kept[name]), Data: map[string]any{"name": name, "value": w.kept[name]}}, nil
		})},
		{Name: "list", Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true}), Params: object("", ""), Run: w.run(func(string, *aai.Call) (*aai.Result, error) {
			names := []string{}
			for name := range w.kept {
				names = append(names, name)
			}
			slices.Sort(names)
			return &aai.Result{Data: map[string]any{"names": names}}, nil
		})},
		{Name: "set", Effect: aai.Changes, Params: object(name+`, "value": {}`, `"name", "value"`), Run: w.run(w.set)},
		{Name: "meet", Effect: aai.Reads, Params: object(name, `"name"`), Run: w.meet},
		{Name: "burn", Effect: aai.Destroys, Params: object(name, `"name"`), Run: w.run(func(name string, _ *aai.Call) (*aai.Result, error) {
			delete(w.kept, name)
			return &aai.Result{}, nil
		})},
	}}
}

func (w *world) set(name string, call *aai.Call) (*aai.Result, error) {
	w.doubtful = name
	if w.dead != nil && w.dead() {
		return nil, errKilled
	}
	before := w.kept[name]
	w.kept[name] = call.Args["value"]
	w.sets[name]++
	return &aai.Result{Undo: &aai.Undo{
		Description:   fmt.Sprintf("%s is %v again", name, before),
		Step:          aai.Step{App: shelfID, Tool: "set", Args: map[string]any{"name": name, "value": before}},
		StateStep:     &aai.Step{App: shelfID, Tool: "get", Args: map[string]any{"name": name}},
		ExpectedState: map[string]any{"value": call.Args["value"]},
		ExpectedShape: map[string]any{"value": nil},
	}}, nil
}

// run returns an Action that is recorded and fails on demand.
func (w *world) run(f func(name string, call *aai.Call) (*aai.Result, error)) aai.Action {
	return func(_ context.Context, call *aai.Call) (*aai.Result, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		name, _ := call.Args["name"].(string)
		what := call.Tool + " " + name
		w.calls = append(w.calls, what)
		if e := w.fails[what]; e != nil {
			delete(w.fails, what)
			return nil, e
		}
		return f(name, call)
	}
}

// meeting makes n calls of the tool "meet" wait for each other.
func (w *world) meeting(n int) { w.missing, w.met = n, make(chan bool) }

func (w *world) meet(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	w.mu.Lock()
	if w.missing--; w.missing == 0 {
		close(w.met)
	}
	w.mu.Unlock()
	select {
	case <-w.met:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return &aai.Result{Data: map[string]any{"name": call.Args["name"]}}, nil
}

func (w *world) Apps() []*aai.App              { return w.apps }
func (w *world) OnChange(func()) (stop func()) { return func() {} }

func (w *world) Find(_ context.Context, name string) (*aai.App, error) {
	for _, app := range w.apps {
		if app.HasName(name) {
			return app, nil
		}
	}
	return nil, aai.Errorf(aai.AppNotFound, "there is no app %q", name)
}

func (w *world) Record(_ context.Context, e *aai.Entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := *e
	w.entries = append(w.entries, &kept)
	return nil
}

func (w *world) Ask(_ context.Context, q aai.Question) (aai.Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, q)
	if w.before != nil {
		w.before(q)
	}
	return aai.Answer{Choice: w.answer, Seal: q.Seal, Channel: aai.DesktopDialog}, nil
}

func agent() aai.Caller {
	return aai.Caller{Door: aai.DoorMCP, Name: "agent", Session: "s", Identity: "/usr/bin/agent"}
}

type documentObject = map[string]any

// does runs a workflow of the steps.
func (w *world) does(t *testing.T, steps ...any) (*aai.Result, error) {
	t.Helper()
	return w.Do(t.Context(), &aai.Call{Caller: agent(), App: aai.BuiltinApp, Tool: workflow.BuiltinToolName, Args: documentObject{"name": "test", "steps": steps}})
}

// step returns a step with one of the app's tools.
func step(tool string, args documentObject, more ...any) documentObject {
	s := documentObject{"app": shelfID, "tool": tool, "args": args}
	for i := 0; i+1 < len(more); i += 2 {
		s[more[i].(string)] = more[i+1]
	}
	return s
}

// foreign returns an Action with an untrusted source.
func foreign(run aai.Action) aai.Action {
	return func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		result, err := run(ctx, call)
		if err == nil {
			result.UntrustedSource = "https://example.com"
		}
		return result, err
	}
}
