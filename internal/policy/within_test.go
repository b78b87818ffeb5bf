package policy

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// nesting returns a gateway with limits, and a tool "t" that calls itself to a depth.
// There is only one slot.
func nesting(deep int, limits map[Kind]Limit) (*gateway.Gateway, *Limits) {
	l := NewLimits(limits)
	app := &aai.App{ID: "org.example.App"}
	g := &gateway.Gateway{Catalog: shelfOf(app), Journal: &records{}, Gates: []aai.Gate{l}}
	level := 0
	app.Tools = []*aai.Tool{{Name: "t", Effect: aai.Reads, Run: func(ctx context.Context, c *aai.Call) (*aai.Result, error) {
		if level++; level == deep {
			return &aai.Result{}, nil
		}
		a, err := g.Admit(ctx, nested(c.Caller), nested(c.Caller))
		if err != nil {
			return nil, err
		}
		defer a.Release()
		return a.Run(ctx, 1)
	}}}
	return g, l
}

func nested(c aai.Caller) *aai.Call { return &aai.Call{Caller: c, App: "a", Tool: "t"} }

// TestCallsWithinShareASlot checks that calls of an Action use its slot, at any depth,
// even without another free slot.
func TestCallsWithinShareASlot(t *testing.T) {
	g, l := nesting(70, map[Kind]Limit{KindDeclared: {PerSecond: 1000, PerMinute: 1000, Concurrent: 1}})
	_, err := g.Do(t.Context(), nested(agent()))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(l.active, 1), l.busy)
	assert.Equal(t, l.active[KindDeclared], 0, l.busy)
	assert.Equal(t, l.busy[KindDeclared], 0, l.busy)
}

// TestCallsWithinAreCounted checks that such calls count for the rate.
func TestCallsWithinAreCounted(t *testing.T) {
	g, _ := nesting(70, map[Kind]Limit{KindDeclared: {PerSecond: 50, PerMinute: 1000, Concurrent: 1}})
	_, err := g.Do(t.Context(), nested(agent()))
	assert.Check(t, is.Equal(code(err), "RATE_LIMITED"), err)
}

// TestAParentIsNotClaimed checks that a self-reported parent gives no slot.
func TestAParentIsNotClaimed(t *testing.T) {
	l := NewLimits(map[Kind]Limit{KindDeclared: {PerSecond: 1000, PerMinute: 1000, Concurrent: 1}})
	app := &aai.App{ID: "org.example.App"}
	g := &gateway.Gateway{Catalog: shelfOf(app), Journal: &records{}, Gates: []aai.Gate{l}}
	app.Tools = []*aai.Tool{{Name: "t", Effect: aai.Reads, Run: func(ctx context.Context, c *aai.Call) (*aai.Result, error) {
		if c.Parent != "" {
			return &aai.Result{}, nil
		}
		child := nested(c.Caller)
		child.Parent = c.ID
		_, err := g.Do(context.Background(), child)
		assert.Check(t, is.Equal(code(err), "RATE_LIMITED"), "from elsewhere: %v", err)
		other := nested(aai.Caller{Door: c.Caller.Door, Name: "another", Identity: c.Caller.Identity})
		_, err = g.Do(ctx, other)
		assert.Check(t, is.Equal(code(err), "RATE_LIMITED"), "for another caller: %v", err)
		return g.Do(ctx, child)
	}}}
	_, err := g.Do(t.Context(), nested(agent()))
	assert.Check(t, err)
}
