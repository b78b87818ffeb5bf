package schema

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// A lenientCase is a schema of a server with values that it must accept and reject, and the parts
// that are not checked.
type lenientCase struct {
	name, schema      string
	accepted, refused []string
	unchecked         string
}

func lenientCases() []lenientCase {
	return []lenientCase{
		{"tuple of 2020-12", `{"type":"object","properties":{"p":{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}],"items":false,"minItems":2}},"required":["p"]}`,
			[]string{`{"p":["a",1]}`}, []string{`{"p":["a"]}`, `{"p":["a",1,2]}`, `{"p":[1,"a"]}`, `{}`}, ""},
		{"tuple of draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"p":{"type":"array","items":[{"type":"string"},{"$ref":"#/properties/p/items/0"}],"additionalItems":{"type":"number"}}}}`,
			[]string{`{"p":["a","b",1]}`, `{"p":["a"]}`}, []string{`{"p":["a",1]}`, `{"p":["a","b","c"]}`}, ""},
		{"look-ahead", `{"properties":{"to":{"type":"string","minLength":2,"pattern":"^(?!\\.)x"}},"additionalProperties":false}`,
			[]string{`{"to":".x"}`}, []string{`{"to":"x"}`, `{"to":1}`, `{"cc":"x"}`}, "properties.to.pattern: the pattern"},
		{"tree", `{"properties":{"root":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","properties":{"name":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}`,
			[]string{`{"root":{"name":"a","kids":[{"name":"b","kids":[]}]}}`}, []string{`{"root":{"kids":[{"kids":[{"name":1}]}]}}`}, ""},
		{"tree by $id", `{"properties":{"root":{"$id":"T0","type":"object","properties":{"kids":{"type":"array","items":{"$ref":"T0"}}}}}}`,
			[]string{`{"root":{"kids":[{"kids":[]}]}}`}, []string{`{"root":{"kids":[{"kids":1}]}}`}, ""},
		{"tree of the root", `{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"additionalProperties":false}`,
			[]string{`{"next":{"next":null}}`}, []string{`{"next":{"next":1}}`, `{"next":{"other":1}}`}, ""},
		{"reference to itself", `{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"string"}]}}}`,
			[]string{`{"a":1}`}, []string{`[]`}[:0], "leads back to itself"},
		{"reference to itself by a tree edge", `{"allOf":[{"$ref":"#/$defs/a/not"}],"$defs":{"a":{"not":{"$ref":"#/$defs/a"}}}}`,
			[]string{`{}`}, nil, "leads back to itself"},
		{"exclusiveMinimum of draft-04", `{"properties":{"n":{"type":"integer","minimum":0,"exclusiveMinimum":true},"m":{"maximum":3,"exclusiveMaximum":false}}}`,
			[]string{`{"n":1,"m":3}`}, []string{`{"n":0}`, `{"n":1.5}`, `{"m":4}`}, ""},
		{"object or null", `{"type":["object","null"],"properties":{"a":{"type":"string"}}}`, []string{`{"a":"b"}`}, []string{`{"a":1}`}, ""},
		{"siblings of a reference", `{"properties":{"a":{"$ref":"#/$defs/s","minLength":2}},"$defs":{"s":{"type":"string"}}}`,
			[]string{`{"a":"bb"}`}, []string{`{"a":"b"}`, `{"a":1}`}, ""},
		{"siblings of a reference in draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/s","minProperties":2,"definitions":{"s":{"type":"object","required":["a"]}}}`,
			[]string{`{"a":"bb"}`}, []string{`{}`}, ""},
		{"pattern in not", `{"properties":{"a":{"not":{"pattern":"^(?=x)"}}}}`, []string{`{"a":"x"}`, `{"a":"y"}`}, nil, "properties.a.not: a part of it is not checked"},
		{"pattern in oneOf", `{"properties":{"a":{"oneOf":[{"type":"string","pattern":"(?=x)"},{"type":"string","maxLength":1}]}}}`,
			[]string{`{"a":"x"}`, `{"a":"xx"}`}, nil, "properties.a.oneOf"},
		{"pattern in anyOf", `{"properties":{"a":{"anyOf":[{"type":"string","pattern":"(?=x)"},{"type":"number"}]}}}`,
			[]string{`{"a":"y"}`, `{"a":1}`}, []string{`{"a":true}`}, "properties.a.anyOf[0].pattern"},
		{"pattern of names", `{"patternProperties":{"^(?!x)":{"type":"number"},"^a":{"type":"string"}},"additionalProperties":false}`,
			[]string{`{"b":1}`, `{"ab":"c"}`}, []string{`{"ab":1}`}, "patternProperties"},
		{"far reference", `{"properties":{"a":{"$ref":"https://example.org/s.json"},"b":{"$ref":"#/$defs/none"},"c":{"type":"number"}},"unevaluatedProperties":false}`,
			[]string{`{"a":1,"b":2,"c":3}`, `{"d":4}`}, []string{`{"c":"x"}`}, "properties.b.$ref"},
		{"wrong forms", `{"type":"object","title":5,"description":null,"properties":{"a":"string","b":{"type":"any","required":true,"minimum":"1"},"c":{"type":"integer","default":"x","examples":1}},"required":["c","c"]}`,
			[]string{`{"a":1,"b":"x"}`}, []string{`{"c":"1"}`}, "properties.b.type: expected one of"},
		{"a keyword of draft-03", `{"properties":{"a":{"type":"string","required":true}}}`, []string{`{"a":"b"}`, `{}`}, []string{`{"a":1}`}, "properties.a.required"},
		{"format", `{"properties":{"a":{"type":"string","format":"date-time"}}}`, []string{`{"a":"2026-01-31T10:00:00"}`}, []string{`{"a":1}`}, ""},
		{"default of null", `{"properties":{"a":{"type":"string","default":null},"b":{"default":5}}}`, []string{`{}`}, []string{`{"a":null}`}, ""},
		{"nullable", `{"properties":{"a":{"type":"string","nullable":true}}}`, []string{`{"a":null}`, `{"a":"b"}`}, nil, "properties.a.type: it may be null too"},
		{"dependencies", `{"properties":{"a":{},"b":{}},"dependentRequired":{"a":["b"]},"dependentSchemas":{"b":{"required":["a"]}}}`,
			[]string{`{"a":1,"b":2}`, `{}`}, []string{`{"a":1}`, `{"b":1}`}, ""},
		{"contains", `{"properties":{"l":{"contains":{"type":"number"},"minContains":2,"maxContains":3}}}`,
			[]string{`{"l":[1,2,"x"]}`}, []string{`{"l":[1]}`, `{"l":[1,2,3,4]}`}, ""},
		{"dynamic reference", `{"properties":{"a":{"$dynamicRef":"#x"},"b":{"type":"string"}}}`, []string{`{"a":1}`}, []string{`{"b":1}`}, "properties.a.$dynamicRef"},
		{"too large", `{"description":"` + strings.Repeat("x", maxSource) + `"}`, []string{`{"a":1}`}, nil, "the whole schema"},
		{"names of keywords", `{"properties":{"not":{"$ref":"#/$defs/anyOf"},"items":{"type":"string"}},"$defs":{"anyOf":{"type":"object","properties":{"if":{"$ref":"#"}}}}}`,
			[]string{`{"not":{"if":{"items":"x"}}}`}, []string{`{"not":{"if":{"items":1}}}`}, ""},
	}
}

func TestReadLenient(t *testing.T) {
	for _, c := range lenientCases() {
		t.Run(c.name, func(t *testing.T) {
			s := new(Reader).ReadLenient([]byte(c.schema)).Schema
			for _, value := range c.accepted {
				got, err := s.Check(parsed(t, []byte(value)))
				assert.Check(t, err, value)
				assert.Check(t, err != nil || reflect.DeepEqual(got, parsed(t, []byte(value))), "%s became %v", value, got)
			}
			for _, value := range c.refused {
				_, err := s.Check(parsed(t, []byte(value)))
				assert.Check(t, err != nil, "%s is accepted", value)
			}
			assert.Check(t, c.unchecked != "" || len(s.Unchecked) <= 0, "unchecked: %q", s.Unchecked)
			assert.Check(t, slices.ContainsFunc(append(s.Unchecked, ""), func(part string) bool { return strings.Contains(part, c.unchecked) }), "unchecked: %q, want %q", s.Unchecked, c.unchecked)
		})
	}
}

// TestCostlyValue checks that a value that fits nowhere in nested choices is passed on, since each
// level doubles the failures that the library would collect.
func TestCostlyValue(t *testing.T) {
	schema := new(Reader).ReadLenient([]byte(`{"properties":{"t":{"$ref":"#/$defs/t"}},"$defs":{"t":{"anyOf":[
		{"type":"object","properties":{"l":{"$ref":"#/$defs/t"},"r":{"$ref":"#/$defs/t"}}},
		{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/t"},{"$ref":"#/$defs/t"}]}},{"type":"integer"}]}}}`)).Schema
	var value any = "x"
	for range 16 {
		value = []any{value}
	}
	_, err := schema.Check(map[string]any{"t": value})
	assert.Check(t, err, "it is refused: %v", err)
	_, err = schema.Check(map[string]any{"t": []any{"x"}})
	assert.Check(t, err != nil, "a value that costs little is not checked")
}
