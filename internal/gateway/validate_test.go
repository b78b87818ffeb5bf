package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// The limits on arguments, as validate.go has them.
const (
	maxArgBytes = 1 << 20
	maxArgNodes = 20_000
	maxArgDepth = 32
)

// nested is a value that is n deep, the value within counted.
func nested(n int) any {
	var v any = "x"
	for range n - 1 {
		v = []any{v}
	}
	return v
}

func TestArgumentLimits(t *testing.T) {
	cyclic := map[string]any{}
	cyclic["again"] = cyclic
	for name, c := range map[string]struct {
		args  map[string]any
		wrong string
	}{
		"small":           {map[string]any{"a": "b"}, ""},
		"just so deep":    {map[string]any{"a": nested(maxArgDepth - 1)}, ""},
		"too deep":        {map[string]any{"a": nested(maxArgDepth)}, "nested more than 32 deep"},
		"cyclic":          {cyclic, "nested more than 32 deep"},
		"just so long":    {map[string]any{"a": strings.Repeat("x", maxArgBytes-1)}, ""},
		"too long":        {map[string]any{"a": strings.Repeat("x", maxArgBytes)}, "more than 1024 KiB"},
		"long names":      {map[string]any{strings.Repeat("x", maxArgBytes+1): true}, "more than 1024 KiB"},
		"long together":   {map[string]any{"a": []any{strings.Repeat("x", maxArgBytes/2), map[string]any{"b": strings.Repeat("x", maxArgBytes/2)}}}, "more than 1024 KiB"},
		"just so many":    {map[string]any{"a": make([]any, maxArgNodes-2)}, ""},
		"too many":        {map[string]any{"a": make([]any, maxArgNodes-1)}, "more than 20000 values"},
		"many in objects": {map[string]any{"a": []any{make([]any, maxArgNodes/2), make([]any, maxArgNodes/2)}}, "more than 20000 values"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(plain())
			checked := false
			w.app.Tools[0].Params.Check = func(v any) (any, error) { checked = true; return v, nil }
			call := plain().call()
			call.Args = c.args
			_, err := w.gateway().Do(t.Context(), call)
			if c.wrong == "" {
				assert.NilError(t, err)
				return
			}
			assert.Check(t, is.Contains(wantCode(t, err, aai.InvalidParams).Message, c.wrong))
			assert.Assert(t, !checked, "the limit was found after the work was done")
			assert.Equal(t, w.count("run"), 0)
		})
	}
}

// TestValuesAreCountedAsSent: the size as sent counts, even if decoding drops most of it, as with
// duplicate names.
func TestValuesAreCountedAsSent(t *testing.T) {
	for n, refused := range map[int]bool{maxArgNodes - 2: false, maxArgNodes: true} {
		w := newWorld(plain())
		call := plain().call()
		call.Args, call.Raw = nil, json.RawMessage(`{`+strings.Repeat(`"a":1,`, n-1)+`"a":1}`)
		_, err := w.gateway().Do(t.Context(), call)
		assert.Check(t, is.Equal(err != nil && strings.Contains(err.Error(), "more than 20000 values"), refused), "%d %v", n, err)
	}
}

func TestNoParametersTakeNone(t *testing.T) {
	s := plain()
	s.Params = absent
	s.Args = map[string]any{"a": 1.0}
	e := wantCode(t, play(t.Context(), s).err, aai.InvalidParams)
	assert.Check(t, is.Equal(e.Message, "work takes no parameters, but was given 1"))
}

func TestInvalidParamsHint(t *testing.T) {
	said := aai.Errorf(aai.InvalidParams, "expected a string at /to")
	for name, c := range map[string]struct {
		hint  string
		order []string
		want  string
	}{
		"own hint":       {"Write to whom.", []string{"to"}, "Write to whom."},
		"from the order": {"", []string{"to", "body"}, "The parameters of work are: to, body."},
		"nothing known":  {"", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(plain())
			said.Hint = c.hint
			w.app.Tools[0].Params = aai.Schema{Order: c.order, Check: func(any) (any, error) { return nil, said }}
			_, err := w.gateway().Do(t.Context(), plain().call())
			e := wantCode(t, err, aai.InvalidParams)
			assert.Check(t, is.Equal(e.Hint, c.want))
			assert.Check(t, is.Equal(e.Message, said.Message))
			assert.Check(t, is.Equal(said.Hint, c.hint), "the check's own error was changed")
		})
	}
}

// TestBrokenPromiseIsAWarning: the app has already acted.
func TestBrokenPromiseIsAWarning(t *testing.T) {
	w := newWorld(plain())
	w.app.Tools[0].Returns.Check = func(v any) (any, error) {
		assert.Check(t, is.Equal(v, 1.0))
		return nil, errors.New("expected a string")
	}
	result, err := w.gateway().Do(t.Context(), plain().call())
	assert.NilError(t, err)
	assert.Check(t, is.Equal(result.Text, "done"), "%+v", result)
	assert.Check(t, is.Equal(result.Data, 1.0), "%+v", result)
	assert.Check(t, is.Contains(result.Warning, "expected a string"), "%+v", result)
	e := w.entryOf(t, aai.Outcome)
	assert.Check(t, e.Code == "", "outcome %+v", e)
}

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
		"at another app":  {aai.Call{Caller: page, App: "org.example.Other", Tool: "look"}, func(*aai.Call) {}, 2},
		"that acts":       {aai.Call{Caller: page, App: aai.BuiltinApp, Tool: "act"}, func(*aai.Call) {}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(plain())
			look := *w.app.Tools[0]
			look.Name, look.Effect = "look", aai.Reads
			look.Run = func(_ context.Context, call *aai.Call) (*aai.Result, error) {
				if call.Args["fail"] == true {
					return nil, aai.Errorf(aai.AutomationFailed, "no")
				}
				return &aai.Result{Text: "seen"}, nil
			}
			act := look
			act.Name, act.Effect = "act", aai.Changes
			w.app.ID, w.app.Tools, w.other.Tools = aai.BuiltinApp, []*aai.Tool{&look, &act}, []*aai.Tool{&look}
			g := w.gateway()
			c.call.IsRefresh = true
			for range 2 {
				call := c.call
				_, _ = g.Do(t.Context(), &call)
				c.again(&c.call)
			}
			lines := w.count(string(aai.Intent)) + w.count(string(aai.Outcome))
			assert.Check(t, is.Equal(lines, c.lines))
		})
	}
}
