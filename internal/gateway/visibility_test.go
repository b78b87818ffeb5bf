package gateway_test

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// dryRunGate is a gate that admits one app, asks about another, keeps something for
// each call, and refuses the rest.
type dryRunGate struct{ kept, released int }

func (s *dryRunGate) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if !r.HasReservation(s) {
		s.kept++
		r.Reserve(s, func() { s.released++ })
	}
	switch r.Call.Target.ID {
	case "desktop/mail":
		return []aai.Question{{ID: "q", Title: "?"}}, nil
	case "desktop/vault":
		return nil, aai.Errorf(aai.PermissionDenied, "no")
	}
	return nil, nil
}

// TestCanSee: an Action learns the gates' decision about another app; no person is asked, and
// nothing is reserved.
func TestCanSee(t *testing.T) {
	g, _, w := windows(aai.Reads, func(context.Context, *aai.Call, string) (*aai.App, error) {
		return &aai.App{ID: "desktop/editor", PID: 7}, nil
	})
	gate := &dryRunGate{}
	g.Gates = []aai.Gate{gate}
	sees := map[string]bool{}
	for _, tool := range w.app.Tools {
		tool.Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			for _, id := range []string{"desktop/notes", "desktop/mail", "desktop/vault"} {
				sees[id] = gateway.CanSee(ctx, &aai.App{ID: id, PID: 8})
			}
			return &aai.Result{}, nil
		}
	}
	call := &aai.Call{App: "org.example.App", Tool: "work", Args: map[string]any{"app": "Editor"}, Answers: map[string]aai.Answer{"q": {Choice: "always"}}}
	_, err := g.Do(t.Context(), call)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(sees, 3))
	assert.Assert(t, sees["desktop/notes"], sees)
	assert.Assert(t, !sees["desktop/mail"], sees)
	assert.Assert(t, !sees["desktop/vault"], sees)
	assert.Check(t, is.Equal(gate.kept, 1))
	assert.Check(t, is.Equal(gate.released, 1))
	assert.Check(t, !gateway.CanSee(t.Context(), &aai.App{ID: "desktop/notes"}), "who makes no call sees")
}
