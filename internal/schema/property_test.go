package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gybob/aai-gateway"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"
)

// drawValue makes any JSON value over a few names, so that schemas meet it.
func drawValue(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		most := 7
		if depth == 0 {
			most = 5
		}
		switch rapid.IntRange(0, most).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return rapid.Float64Range(-1e6, 1e6).Draw(t, "float")
		case 3:
			return float64(rapid.IntRange(-3, 12).Draw(t, "integer"))
		case 4:
			return json.Number(fmt.Sprint(rapid.Int64().Draw(t, "number")))
		case 5:
			return rapid.StringN(0, 6, -1).Draw(t, "string")
		case 6:
			return rapid.SliceOfN(drawValue(depth-1), 0, 3).Draw(t, "array")
		default:
			return rapid.MapOfN(drawName(), drawValue(depth-1), 0, 4).Draw(t, "object")
		}
	})
}

func drawName() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"a", "b", "c", "password", "odd name"})
}

// drawSchema makes a schema that the budget accepts, except perhaps for its
// defaults.
func drawSchema(depth int) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		s := map[string]any{}
		maybe := func(name string, draw func() any) {
			if rapid.IntRange(0, 3).Draw(t, name) == 0 {
				s[name] = draw()
			}
		}
		types := rapid.SampledFrom([]string{"object", "array", "string", "integer", "number", "boolean", "null"})
		maybe("type", func() any { return rapid.SliceOfNDistinct(types, 1, 4, rapid.ID[string]).Draw(t, "types") })
		maybe("default", func() any { return drawValue(1).Draw(t, "default") })
		maybe("enum", func() any { return []any{drawValue(1).Draw(t, "enum")} })
		maybe("minimum", func() any { return rapid.IntRange(-5, 5).Draw(t, "minimum") })
		maybe("maxLength", func() any { return rapid.IntRange(0, 5).Draw(t, "maxLength") })
		maybe("pattern", func() any { return rapid.SampledFrom([]string{"^a", "x?$", "[0-9]{2}"}).Draw(t, "pattern") })
		maybe("required", func() any { return rapid.SliceOfNDistinct(drawName(), 0, 2, rapid.ID[string]).Draw(t, "required") })
		maybe("uniqueItems", func() any { return true })
		if depth == 0 {
			return s
		}
		below := func() any { return drawSchema(depth-1).Draw(t, "below") }
		maybe("additionalProperties", func() any { return rapid.Bool().Draw(t, "additional") })
		maybe("propertyNames", below)
		maybe("items", below)
		maybe("contains", below)
		maybe("not", below)
		for _, name := range []string{"allOf", "anyOf", "oneOf"} {
			maybe(name, func() any { return []any{below(), below()} })
		}
		maybe("dependencies", func() any { return map[string]any{"a": below(), "b": []any{"c"}} })
		if rapid.Bool().Draw(t, "properties") {
			s["properties"] = rapid.MapOfN(drawName(), drawSchema(depth-1), 1, 4).Draw(t, "properties")
		}
		return s
	})
}

// drawCompiled draws until it has a schema with good defaults. A schema that is
// refused for anything else is a failure.
func drawCompiled(t *rapid.T) aai.Schema {
	source, err := json.Marshal(drawSchema(2).Draw(t, "schema"))
	assert.NilError(t, err)
	s, err := Parse(source)
	assert.NilError(t, err, source)
	if err := Compile(s); err != nil {
		assert.Assert(t, is.ErrorContains(err, "the default does not satisfy its own schema"), source)
		t.Skip("a bad default")
	}
	return s
}

func TestCheckNeverChangesItsArgument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCompiled(t)
		value := drawValue(3).Draw(t, "value")
		before := fmt.Sprintf("%#v", value) // maps are printed in order
		got, _ := s.Check(value)
		after := fmt.Sprintf("%#v", value)
		assert.Equal(t, after, before, "Check made %s of %s", after, before)
		scribble(got)
		after = fmt.Sprintf("%#v", value)
		assert.Equal(t, after, before, "the result shares memory with the argument: %s became %s", before, after)
	})
}

// scribble changes everything that can be changed.
func scribble(value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			scribble(member)
			v[name] = "scribbled"
		}
	case []any:
		for i, item := range v {
			scribble(item)
			v[i] = "scribbled"
		}
	}
}

func TestWhatPassedOncePassesAgainUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCompiled(t)
		once, err := s.Check(drawValue(3).Draw(t, "value"))
		if err != nil {
			return
		}
		twice, err := s.Check(once)
		assert.NilError(t, err, "%v %s", once, s.Source)
		assert.Assert(t, is.DeepEqual(once, twice))
	})
}

// TestTheJudgementIsTheLibrarys: budget, copy, meter and messages change no
// verdict. The oracle is the library without any of them.
func TestTheJudgementIsTheLibrarys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := drawSchema(2).Draw(t, "schema")
		dropDefaults(source)
		text, err := json.Marshal(source)
		assert.NilError(t, err)
		s, err := Parse(text)
		assert.NilError(t, err)
		compiler := newCompiler(jsonschema.Draft7)
		assert.NilError(t, compiler.AddResource(location, parsed(t, text)))
		oracle, err := compiler.Compile(location)
		assert.NilError(t, err)
		value := drawValue(3).Draw(t, "value")
		got, err := s.Check(value)
		assert.Equal(t, (err == nil), (oracle.Validate(value) == nil), "%v of %s: we say %v", value, text, err)
		assert.Assert(t, err != nil || cmp.Equal(got, value), "%v became %v without any default", value, got)
		checkErrorShape(t, err)
	})
}

// dropDefaults takes the keyword out of a drawn schema; the names of its
// properties are never "default".
func dropDefaults(value any) {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "default")
		for _, member := range v {
			dropDefaults(member)
		}
	case map[string]map[string]any:
		for _, member := range v {
			dropDefaults(member)
		}
	case []any:
		for _, item := range v {
			dropDefaults(item)
		}
	}
}

// checkErrorShape checks the properties of every error of Check.
func checkErrorShape(t interface{ Fatalf(string, ...any) }, err error) {
	if err == nil {
		return
	}
	e, ok := errors.AsType[*aai.Error](err)
	if !ok || e.Code == aai.Internal || e.Message == "" {
		t.Fatalf("got %#v", err)
	}
	if e.Message != aai.CleanLabel(e.Message, 1<<20) {
		t.Fatalf("the message is not one clean line: %q", e.Message)
	}
}

// TestSecretsAreNeverShown puts a marker into every secret place that a value can
// have and looks for it in the error.
func TestSecretsAreNeverShown(t *testing.T) {
	const marker = "hunter2-marker"
	rapid.Check(t, func(t *rapid.T) {
		s := drawCompiled(t)
		value := drawValue(3).Draw(t, "value")
		mark(value, marker)
		_, err := s.Check(value)
		assert.Assert(t, err == nil || !strings.Contains(fmt.Sprintf("%+v %v", err, errors.Unwrap(err)), marker), "%v %s %v", value, s.Source, err)
	})
}

// mark replaces members named "password".
func mark(value any, marker string) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			mark(member, marker)
			if name == "password" {
				v[name] = marker
			}
		}
	case []any:
		for _, item := range v {
			mark(item, marker)
		}
	}
}
