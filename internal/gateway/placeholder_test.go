package gateway_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

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
	if err != nil || len(*asked) != 1 {
		t.Fatalf("%v, asked %q", err, *asked)
	}
	hole := aai.Placeholder{Label: "kept as it is"}
	for _, value := range []any{"a", "{{step_1.x}}", 3} {
		if _, err := a.Repeat(t.Context(), 0, with(value)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Repeat(t.Context(), 0, with(hole)); codeOf(err) != aai.Internal {
		t.Errorf("filled with a hole: %v", err)
	}
	if _, err := a.Repeat(t.Context(), 1, nil); err != nil {
		t.Error(err)
	}
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
	if len(ids) != 5 || gate.held != 0 {
		t.Errorf("%d calls on record, %d held", len(ids), gate.held)
	}
	if _, err := a.Repeat(t.Context(), 0, with("late")); err == nil || len(*given) != 3 {
		t.Errorf("after its end: %v, given %v", err, *given)
	}
}

// TestUnresolvedPlaceholders: such a call never runs.
func TestUnresolvedPlaceholders(t *testing.T) {
	g, _, _, _, given := shelf(t)
	if _, err := g.Do(t.Context(), open("x")); codeOf(err) != aai.Internal {
		t.Errorf("at once: %v", err)
	}
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
		if err != nil {
			t.Fatal(err)
		}
		if err := run(a); codeOf(err) != aai.Internal {
			t.Errorf("%s: %v", name, err)
		}
		a.Release()
	}
	if len(*given) != 0 {
		t.Errorf("given %v", *given)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	if _, err := a.Repeat(t.Context(), 0, with("wrong")); codeOf(err) != aai.InvalidParams {
		t.Error(err)
	}
	if _, err := a.Repeat(t.Context(), 0, with("wrong")); codeOf(err) != aai.InvalidParams {
		t.Error(err)
	}
	if _, err := a.Repeat(t.Context(), 0, with("right")); err != nil {
		t.Error(err)
	}
	gate.closed = true
	if _, err := a.Repeat(t.Context(), 0, with("right")); codeOf(err) != aai.PermissionDenied {
		t.Error(err)
	}
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
	if e := wantCode(t, err, aai.PermissionDenied); e.Call != "this" {
		t.Errorf("the error is of %q", e.Call)
	}
}

func TestPlaceholderInJSON(t *testing.T) {
	b, err := json.Marshal(map[string]any{"a": []any{aai.Placeholder{Label: "‹x›", Key: func() {}}}})
	if err != nil || string(b) != `{"a":["‹x›"]}` {
		t.Errorf("%s, %v", b, err)
	}
}
