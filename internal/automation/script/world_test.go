package script

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/script/child"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/schema"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

// childMark makes the test binary a script process, as the real program does.
const childMark = "script-child"

// gatewayMark makes the test binary a gateway that runs an endless script.
const gatewayMark = "gateway-with-a-script"

// beGateway runs that process.
func beGateway() int {
	own, _ := Tools(Config{Gateway: func() *gateway.Gateway { return &gateway.Gateway{} }, Command: command})
	fmt.Println("begins")
	_, err := own.Run(context.Background(), &aai.Call{Args: map[string]any{"script": "while (true) {}"}})
	fmt.Println(err)
	return 1
}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == childMark {
		os.Exit(child.Run(os.Stdin, os.Stdout))
	}
	if len(os.Args) == 2 && os.Args[1] == gatewayMark {
		os.Exit(beGateway())
	}
	os.Exit(m.Run())
}

// world is a gateway with real gates and an app with counted tools.
type world struct {
	gateway *gateway.Gateway
	own     *aai.Tool
	notes   []string // arguments of the tool "add"
	reads   atomic.Int64
	entries []aai.Entry
	mu      sync.Mutex
	began   chan struct{} // signalled when "hang" or "begin" runs
	running atomic.Int64  // calls of "hang"
	limits  map[policy.Kind]policy.Limit
	store   *store
	system  *aai.Tool // of scripts in the system's languages; nil: there is none
}

// store keeps grants in memory.
type store struct {
	mu     sync.Mutex
	grants []policy.Grant
}

func (s *store) Grants() ([]policy.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.grants), nil
}

func (s *store) Add(grants ...policy.Grant) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grants = append(s.grants, grants...)
	return nil
}

func (s *store) Remove(func(policy.Grant) bool) (int, error) { return 0, nil }

func (s *store) CheckWritable() error { return nil }

// scriptLimit ends a script that a fault lets run on, so that its test fails instead of the whole package.
const scriptLimit = 2 * time.Minute

// command returns the command of a child: this test binary.
func command() *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), scriptLimit)
	context.AfterFunc(ctx, cancel)
	return exec.CommandContext(ctx, os.Args[0], childMark)
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{began: make(chan struct{}, 100), store: &store{}, limits: map[policy.Kind]policy.Limit{}}
	for kind := range policy.DefaultLimits() {
		w.limits[kind] = policy.Limit{PerSecond: 1_000_000, PerMinute: 10_000_000, Concurrent: 100}
	}
	w.open(allowed("org.example.notes"), allowed(aai.DesktopApp))
	return w
}

// allowed returns a grant of the configuration.
func allowed(app string) policy.Grant {
	return policy.Grant{App: app, Tool: "*", Caller: "*", Decision: policy.Allow, ExpiresAt: time.Now().Add(time.Hour)}
}

// open creates the gateway with preapproved grants.
func (w *world) open(preapproved ...policy.Grant) {
	own, desktop := Tools(Config{Gateway: func() *gateway.Gateway { return w.gateway }, Command: command, HasSystemTool: w.system != nil})
	w.own = own
	w.gateway = &gateway.Gateway{
		Catalog: catalogOf{&aai.App{ID: aai.BuiltinApp, Name: "Own", Tools: []*aai.Tool{own}}, w.screen(desktop), w.notesApp()},
		Journal: w,
		Gates: []aai.Gate{
			&policy.ModeGate{}, policy.NewLimits(w.limits),
			policy.NewBuiltinGate(policy.BuiltinConfig{AgentTools: []string{BuiltinToolName}, PersonDoors: []string{aai.DoorCLI}}),
			policy.NewConsent(policy.ConsentConfig{Store: w.store, Preapproved: preapproved}),
		},
	}
}

// screen is a fake desktop that records its calls.
func (w *world) screen(script *aai.Tool) *aai.App {
	find := &aai.Tool{
		Name: "ax_find", Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true}), Params: schema.MustParse(`{"type": "object"}`),
		Run: func(_ context.Context, call *aai.Call) (*aai.Result, error) {
			return &aai.Result{Data: map[string]any{"element_ref": "e1", "of": call.Args["app"], "by": call.Args["query"]}}, nil
		},
	}
	return &aai.App{ID: aai.DesktopApp, Name: "Desktop", Tools: slices.DeleteFunc([]*aai.Tool{script, find, w.system}, func(t *aai.Tool) bool { return t == nil }), Operator: fakeoperator.Operator{Find: func(context.Context, *aai.Call, string) (*aai.App, error) { return nil, nil }}}
}

func (w *world) notesApp() *aai.App {
	object := schema.MustParse(`{"type": "object"}`)
	return &aai.App{ID: "org.example.notes", Name: "Notes", Digest: "d", Tools: []*aai.Tool{
		{Name: "read", Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true}), Params: object, Run: func(_ context.Context, call *aai.Call) (*aai.Result, error) {
			w.reads.Add(1)
			return &aai.Result{Data: map[string]any{"cell": call.Args["cell"], "value": fmt.Sprint("v", call.Args["cell"])}}, nil
		}},
		{Name: "words", Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true}), Params: object, Run: func(context.Context, *aai.Call) (*aai.Result, error) {
			return &aai.Result{Text: "some words", UntrustedSource: "https://example.com"}, nil
		}},
		{Name: "add", Effect: aai.Changes, Params: object, Run: func(_ context.Context, call *aai.Call) (*aai.Result, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.notes = append(w.notes, fmt.Sprint(call.Args["text"]))
			return &aai.Result{Data: len(w.notes)}, nil
		}},
		{Name: "fail", Effect: aai.Changes, Params: object, Run: func(context.Context, *aai.Call) (*aai.Result, error) {
			return nil, &aai.Error{Code: aai.ElementNotFound, Message: "no such note", Hint: "Look at the list.", Delivery: aai.NotDelivered, Candidates: []string{"milk"}}
		}},
		{Name: "hang", Effect: aai.Changes, Params: object, Limits: aai.Limits{Timeout: time.Hour}, Run: func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			w.running.Add(1)
			defer w.running.Add(-1)
			w.began <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}},
		{Name: "begin", Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true}), Params: object, Run: func(context.Context, *aai.Call) (*aai.Result, error) {
			w.began <- struct{}{}
			return &aai.Result{}, nil
		}},
	}}
}

// Record implements aai.Journal.
func (w *world) Record(_ context.Context, e *aai.Entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.entries = append(w.entries, *e)
	return nil
}

// catalogOf is a catalog of the apps.
type catalogOf []*aai.App

func (c catalogOf) Apps() []*aai.App { return c }

func (c catalogOf) Find(_ context.Context, name string) (*aai.App, error) {
	for _, app := range c {
		if app.ID == name {
			return app, nil
		}
	}
	return nil, aai.Errorf(aai.AppNotFound, "there is no app %q", name)
}

func (catalogOf) OnChange(func()) (stop func()) { return func() {} }

func agent() aai.Caller {
	return aai.Caller{Door: aai.DoorMCP, Name: "agent", Identity: "/usr/bin/agent", Session: "s"}
}

// do runs a script through the gateway, as an agent.
func (w *world) do(ctx context.Context, text string, args map[string]any) (*aai.Result, error) {
	all := map[string]any{"script": text}
	for name, value := range args {
		all[name] = value
	}
	ctx, cancel := context.WithTimeout(ctx, scriptLimit)
	defer cancel()
	return w.gateway.Do(ctx, &aai.Call{Caller: agent(), App: aai.BuiltinApp, Tool: BuiltinToolName, Args: all})
}

// answers returns the result of the script, decoded.
func (w *world) answers(t *testing.T, text string, args map[string]any) answer {
	t.Helper()
	result, err := w.do(t.Context(), text, args)
	if err != nil {
		t.Fatalf("%s: %v (%.400v)", text, err, aai.AsError(err).Err)
	}
	return result.Data.(answer)
}

// fails returns the error of the script.
func (w *world) fails(t *testing.T, text string, args map[string]any) *aai.Error {
	t.Helper()
	result, err := w.do(t.Context(), text, args)
	if err == nil {
		t.Fatalf("%s: it answers %s", text, shown(result.Data))
	}
	return aai.AsError(err)
}

func shown(v any) string {
	b, _ := json.Marshal(v)
	return string(b[:min(len(b), 1000)])
}
