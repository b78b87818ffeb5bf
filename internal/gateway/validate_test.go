package gateway_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
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
