package gateway_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// shelf returns a gateway with a tool "one" that stores its arguments, for calls with
// placeholders.
func shelf(t *testing.T) (g *gateway.Gateway, w *world, gate *joiner, asked *[]string, given *[]any) {
	t.Helper()
	g, w, gate, asked = together("yes")
	given = &[]any{}
	w.app.Tools[0].Run = func(_ context.Context, c *aai.Call) (*aai.Result, error) {
		*given = append(*given, c.Args["text"])
		return nil, nil
	}
	return g, w, gate, asked, given
}

func open(says string) *aai.Call {
	c := tool("one")
	c.Args = map[string]any{"text": aai.Placeholder{Label: says, Key: 7}}
	return c
}

func with(value any) func(aai.Placeholder) (any, error) {
	return func(aai.Placeholder) (any, error) { return value, nil }
}

// TestPlaceholders: a call with placeholders is asked about once, and runs whenever they are
// resolved, each time as a separate call.
func TestPlaceholders(t *testing.T) {
	g, w, gate, asked, given := shelf(t)
	a, err := g.Admit(t.Context(), open("‹title of step 1›"), tool("two"))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(*asked, 1))
	hole := aai.Placeholder{Label: "kept as it is"}
	for _, value := range []any{"a", "{{step_1.x}}", 3} {
		_, err := a.Repeat(t.Context(), 0, with(value))
		assert.NilError(t, err)
	}
	_, err = a.Repeat(t.Context(), 0, with(hole))
	assert.Check(t, is.Equal(codeOf(err), aai.Internal), "filled with a hole: %v", err)
	_, err = a.Repeat(t.Context(), 1, nil)
	assert.Check(t, err)
	if !slices.Equal(*given, []any{"a", "{{step_1.x}}", 3}) || len(*asked) != 1 {
		t.Errorf("given %v, asked %q", *given, *asked)
	}
	a.Release()
	ids := map[string]bool{}
	for _, s := range w.steps() {
		if s.what == string(aai.Outcome) {
			ids[s.entry.Call] = true
		}
	}
	assert.Assert(t, is.Len(ids, 5))
	assert.Equal(t, gate.held, 0)
	if _, err := a.Repeat(t.Context(), 0, with("late")); err == nil || len(*given) != 3 {
		t.Errorf("after its end: %v, given %v", err, *given)
	}
}

// TestUnresolvedPlaceholders: such a call never runs.
func TestUnresolvedPlaceholders(t *testing.T) {
	g, _, _, _, given := shelf(t)
	_, err := g.Do(t.Context(), open("x"))
	assert.Check(t, is.Equal(codeOf(err), aai.Internal), "at once: %v", err)
	for name, run := range map[string]func(*gateway.Admission) error{
		"run":    func(a *gateway.Admission) error { _, err := a.Run(t.Context(), 0); return err },
		"repeat": func(a *gateway.Admission) error { _, err := a.Repeat(t.Context(), 0, nil); return err },
		"an error": func(a *gateway.Admission) error {
			_, err := a.Repeat(t.Context(), 0, func(aai.Placeholder) (any, error) { return nil, aai.Errorf(aai.Internal, "nothing there") })
			return err
		},
		"none such": func(a *gateway.Admission) error { _, err := a.Repeat(t.Context(), 1, with("a")); return err },
	} {
		a, err := g.Admit(t.Context(), open("x"))
		assert.NilError(t, err)
		err = run(a)
		assert.Check(t, is.Equal(codeOf(err), aai.Internal), "%s %v", name, err)
		a.Release()
	}
	assert.Check(t, is.Len(*given, 0))
}

// TestResolvedPlaceholdersAreValidated: gates and validation check each call with its resolved
// values when it runs.
func TestResolvedPlaceholdersAreValidated(t *testing.T) {
	g, w, gate, asked, given := shelf(t)
	w.app.Tools[0].Params.Check = func(v any) (any, error) {
		if v.(map[string]any)["text"] == "wrong" {
			return nil, aai.Errorf(aai.InvalidParams, "not this")
		}
		return v, nil
	}
	a, err := g.Admit(t.Context(), open("x"))
	assert.NilError(t, err)
	defer a.Release()
	_, err = a.Repeat(t.Context(), 0, with("wrong"))
	assert.Check(t, is.Equal(codeOf(err), aai.InvalidParams), err)
	_, err = a.Repeat(t.Context(), 0, with("wrong"))
	assert.Check(t, is.Equal(codeOf(err), aai.InvalidParams), err)
	_, err = a.Repeat(t.Context(), 0, with("right"))
	assert.Check(t, err)
	gate.closed = true
	_, err = a.Repeat(t.Context(), 0, with("right"))
	assert.Check(t, is.Equal(codeOf(err), aai.PermissionDenied), err)
	if !slices.Equal(*given, []any{"right"}) || len(*asked) != 1 {
		t.Errorf("given %v, asked %q", *given, *asked)
	}
}

// TestWhichCallIsRefused: of several the error names the one.
func TestWhichCallIsRefused(t *testing.T) {
	g, _, _, _, _ := shelf(t)
	refused := tool("refused")
	refused.ID = "this"
	_, err := g.Admit(t.Context(), tool("one"), refused)
	assert.Check(t, is.Equal(wantCode(t, err, aai.PermissionDenied).Call, "this"))
}

func TestPlaceholderInJSON(t *testing.T) {
	b, err := json.Marshal(map[string]any{"a": []any{aai.Placeholder{Label: "‹x›", Key: func() {}}}})
	assert.NilError(t, err, b)
	assert.Equal(t, string(b), `{"a":["‹x›"]}`, b)
}
