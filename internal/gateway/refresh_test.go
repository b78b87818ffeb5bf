package gateway_test

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// A lookAt is a gateway of one app with a tool that reads and one that changes.
type refreshWorld struct{ lines []*aai.Entry }

func (*refreshWorld) Apps() []*aai.App       { return nil }
func (*refreshWorld) OnChange(func()) func() { return func() {} }
func (*refreshWorld) Check(context.Context, *aai.Request) ([]aai.Question, error) {
	return nil, nil
}
func (l *refreshWorld) Record(_ context.Context, e *aai.Entry) error {
	l.lines = append(l.lines, e)
	return nil
}

func (*refreshWorld) Find(_ context.Context, id string) (*aai.App, error) {
	tool := func(name string, effect aai.Effect) *aai.Tool {
		return &aai.Tool{Name: name, Effect: effect,
			Run: func(_ context.Context, call *aai.Call) (*aai.Result, error) {
				if call.Args["fail"] == true {
					return nil, aai.Errorf(aai.AutomationFailed, "no")
				}
				return &aai.Result{Text: "seen"}, nil
			}}
	}
	return &aai.App{ID: id, Name: id, Platform: "any", Tools: []*aai.Tool{tool("look", aai.Reads), tool("act", aai.Changes)}}, nil
}

// TestRefreshIsRecordedOnce leaves one line, so that a page that shows the journal does not add a
// line after each write. All other calls are recorded.
func TestRefreshIsRecordedOnce(t *testing.T) {
	page := aai.Caller{Door: aai.DoorWeb, Identity: aai.IdentityPage, Session: "1"}
	other := page
	other.Session = "2"
	agent := aai.Caller{Door: aai.DoorMCP, Identity: "/usr/bin/claude", Session: "1"}
	for name, c := range map[string]struct {
		call  aai.Call
		again func(*aai.Call)
		lines int
	}{
		"the same":        {aai.Call{Caller: page, App: aai.BuiltinApp, Tool: "look"}, func(*aai.Call) {}, 1},
		"asked for anew":  {aai.Call{Caller: page, App: aai.BuiltinApp, Tool: "look"}, func(c *aai.Call) { c.IsRefresh = false }, 2},
		"other arguments": {aai.Call{Caller: page, App: aai.BuiltinApp, Tool: "look"}, func(c *aai.Call) { c.Args = map[string]any{"of": "x"} }, 2},
		"of another page": {aai.Call{Caller: page, App: aai.BuiltinApp, Tool: "look"}, func(c *aai.Call) { c.Caller = other }, 2},
		"that fails":      {aai.Call{Caller: page, App: aai.BuiltinApp, Tool: "look", Args: map[string]any{"fail": true}}, func(*aai.Call) {}, 2},
		"by an agent":     {aai.Call{Caller: agent, App: aai.BuiltinApp, Tool: "look"}, func(*aai.Call) {}, 2},
		"at another app":  {aai.Call{Caller: page, App: "org.example.notes", Tool: "look"}, func(*aai.Call) {}, 2},
		"that acts":       {aai.Call{Caller: page, App: aai.BuiltinApp, Tool: "act"}, func(*aai.Call) {}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			l := new(refreshWorld)
			g := &gateway.Gateway{Catalog: l, Journal: l, Gates: []aai.Gate{l}}
			c.call.IsRefresh = true
			for range 2 {
				call := c.call
				_, _ = g.Do(t.Context(), &call)
				c.again(&c.call)
			}
			assert.Check(t, is.Len(l.lines, c.lines), "%d", c.lines)
		})
	}
}
