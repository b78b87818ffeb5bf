package undo_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/undo"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// shelf is an app that keeps values by name, behind a real gateway with the log as its observer.
type shelf struct {
	t       *testing.T
	log     *undo.Log
	gateway *gateway.Gateway
	apps    []*aai.App

	mu      sync.Mutex
	values  map[string]any
	step    error  // the error of each call of "put"
	ask     bool   // each put needs a person's permission
	asked   string // or only a put of this name
	answers int    // number of right answers
	records []aai.Entry
}

func newShelf(t *testing.T, cfg undo.Config) *shelf {
	s := &shelf{t: t, log: undo.NewLog(cfg), values: make(map[string]any)}
	tools := []*aai.Tool{
		{Name: "get", Effect: aai.Reads, Run: s.get}, {Name: "put", Effect: aai.Changes, Run: s.put},
		{Name: "burn", Effect: aai.Destroys, Run: func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{}, nil }},
		{Name: "both", Effect: aai.Changes, Assess: aai.Always(aai.Assessment{OnlyMakesCalls: true}), Run: func(ctx context.Context, c *aai.Call) (*aai.Result, error) {
			for _, name := range []string{"a", "b"} {
				if _, err := s.gateway.Do(ctx, &aai.Call{Caller: c.Caller, App: c.App, Tool: "put", Args: map[string]any{"name": name, "value": c.Args["value"]}}); err != nil {
					return nil, err
				}
			}
			return &aai.Result{}, nil
		}},
	}
	for _, tool := range tools {
		tool.Params = schema.MustParse(`{"type": "object", "properties": {"name": {"type": "string"}, "value": {}}}`)
	}
	do := func(ctx context.Context, c *aai.Call) (*aai.Result, error) { return s.gateway.Do(ctx, c) }
	s.apps = []*aai.App{
		{ID: "org.example.Shelf", Name: "Shelf", Tools: tools},
		{ID: aai.DesktopApp, Tools: append(tools[:3:3], s.log.DesktopTool(do))},
		{ID: aai.BuiltinApp, Tools: []*aai.Tool{s.log.BuiltinTool(do)}},
	}
	s.gateway = &gateway.Gateway{Catalog: s, Gates: []aai.Gate{s}, Journal: s, MutationObserver: s.log}
	return s
}

func (s *shelf) Apps() []*aai.App              { return s.apps }
func (s *shelf) OnChange(func()) (stop func()) { return func() {} }

func (s *shelf) Find(_ context.Context, name string) (*aai.App, error) {
	for _, app := range s.apps {
		if app.ID == name {
			return app, nil
		}
	}
	return nil, aai.Errorf(aai.AppNotFound, "no app %q", name)
}

// Check asks about each put, once enabled.
func (s *shelf) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if asks := s.ask || s.asked != "" && name(r.Call) == s.asked; !asks || r.Tool.Name != "put" {
		return nil, nil
	}
	if a, ok := r.Call.Answers["q"]; ok {
		if a.Seal != "seal of "+name(r.Call) {
			return nil, aai.Errorf(aai.PermissionDenied, "the answer is to another question")
		}
		s.answers++
		return nil, nil
	}
	return []aai.Question{{ID: "q", Seal: "seal of " + name(r.Call), Channels: []aai.Channel{aai.Client}}}, nil
}

func (s *shelf) Record(_ context.Context, e *aai.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, *e)
	return nil
}

func name(c *aai.Call) string { n, _ := c.Args["name"].(string); return n }

func (s *shelf) get(_ context.Context, c *aai.Call) (*aai.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &aai.Result{Data: map[string]any{"value": s.values[name(c)], "more": 1}}, nil
}

func (s *shelf) put(_ context.Context, c *aai.Call) (*aai.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.step != nil {
		return nil, s.step
	}
	was, now := s.values[name(c)], c.Args["value"]
	s.values[name(c)] = now
	return &aai.Result{Undo: &aai.Undo{
		Description:   name(c) + " is as before",
		Step:          aai.Step{App: c.App, Tool: "put", Args: map[string]any{"name": name(c), "value": was}},
		StateStep:     &aai.Step{App: c.App, Tool: "get", Args: map[string]any{"name": name(c)}},
		ExpectedState: map[string]any{"value": now},
		ExpectedShape: map[string]any{"value": nil},
	}}, nil
}

// do makes a call that must succeed.
func (s *shelf) do(caller aai.Caller, app, tool string, args ...any) *aai.Result {
	s.t.Helper()
	call := &aai.Call{Caller: caller, App: app, Tool: tool, Args: map[string]any{}}
	for i := 0; i < len(args); i += 2 {
		call.Args[args[i].(string)] = args[i+1]
	}
	result, err := s.gateway.Do(s.t.Context(), call)
	assert.NilError(s.t, err)
	return result
}

// puts sets a value of the shelf.
func (s *shelf) puts(caller aai.Caller, name string, value any) {
	s.t.Helper()
	s.do(caller, "org.example.Shelf", "put", "name", name, "value", value)
}

// undo reverts the last acts with any app, and returns the counts and the text.
func (s *shelf) undo(caller aai.Caller, count int) (undone, skipped any, text string) {
	s.t.Helper()
	result := s.do(caller, aai.BuiltinApp, undo.BuiltinToolName, "count", count)
	data := result.Data.(map[string]any)
	return data["undone"], data["skipped"], result.Text
}

// holds fails unless the value is want.
func (s *shelf) holds(name string, want any) {
	s.t.Helper()
	if got := s.values[name]; fmt.Sprint(got) != fmt.Sprint(want) { // numbers as in JSON
		s.t.Errorf("%s is %v, want %v", name, got, want)
	}
}
