package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestFaults is the golden table of the messages of Parse and Compile.
func TestFaults(t *testing.T) {
	tests := []struct{ source, want string }{
		{``, `expected a JSON Schema, got nothing`},
		{`5`, `expected a schema (an object, true or false), got 5`},
		{`{} {}`, `expected one JSON value, got more after its end`},
		{`{"type":`, `type: the JSON ends too early`},
		{`{"type":"string","type":"object"}`, `type: the name stands twice in its object`},
		{`{"pattern":"a","p\u0061ttern":"b"}`, `pattern: the name stands twice in its object`},
		{`{"properties":{"path":{"type":"string"},"path":{}}}`, `properties.path: the name stands twice in its object`},
		{`{"properties":{"to":{"type":5}}}`, `properties.to.type: expected a type or an array of types, got 5`},
		{`{"properties":{"to":{"type":"text"}}}`, `properties.to.type: expected one of array, boolean, integer, null, number, object, string, got "text"`},
		{`{"type":[]}`, `type: expected a type or an array of types, got an empty array`},
		{`{"type":["null","null"]}`, `type[1]: "null" stands twice in the array`},
		{`{"type":["null",7]}`, `type[1]: expected one of array, boolean, integer, null, number, object, string, got 7`},
		{`{"properties":[]}`, `properties: expected an object of schemas, got an array`},
		{`{"properties":{"to":"string"}}`, `properties.to: expected a schema (an object, true or false), got "string"`},
		{`{"properties":{"to":{"required":true}}}`, `properties.to.required: expected an array of property names, got true`},
		{`{"required":["a",1]}`, `required[1]: expected a property name, got 1`},
		{`{"required":["a","a"]}`, `required[1]: "a" stands twice in the array`},
		{`{"enum":[]}`, `enum: expected an array of at least one value, got an empty array`},
		{`{"enum":[1,{"b":1,"a":2},{"a":2.0,"b":1e0}]}`, `enum[2]: the value stands twice in the array`},
		{`{"items":[]}`, `items: expected an array of at least one schema, got an empty array`},
		{`{"items":3}`, `items: expected a schema (an object, true or false), got 3`},
		{`{"allOf":{}}`, `allOf: expected an array of at least one schema, got an object`},
		{`{"anyOf":[{},{"minimum":"1"}]}`, `anyOf[1].minimum: expected a number, got "1"`},
		{`{"multipleOf":0}`, `multipleOf: expected a number greater than 0, got 0`},
		{`{"maxLength":-1}`, `maxLength: expected an integer from 0, got -1`},
		{`{"maxLength":1.5}`, `maxLength: expected an integer from 0, got 1.5`},
		{`{"uniqueItems":"yes"}`, `uniqueItems: expected true or false, got "yes"`},
		{`{"description":null}`, `description: expected a string, got null`},
		{`{"examples":{}}`, `examples: expected an array, got an object`},
		{`{"dependencies":{"a":5}}`, `dependencies.a: expected a schema (an object, true or false), got 5`},
		{`{"dependencies":{"a":[5]}}`, `dependencies.a[0]: expected a property name, got 5`},
		{`{"properties":{"a b":{"not":[]}}}`, `properties["a b"].not: expected a schema (an object, true or false), got an array`},
		{`{"$schema":"https://json-schema.org/draft/2020-12/schema"}`, `$schema: expected http://json-schema.org/draft-07/schema#, got "https://json-schema.org/draft/2020-12/schema"`},
		{`{"pattern":"(?=x)"}`, `pattern: the pattern "(?=x)" is not supported: RE2 has no "(?=" (look-around and the like)`},
		{`{"patternProperties":{"[":{}}}`, `patternProperties["["]: the pattern "[" is not supported: missing closing ] "["`},
		{`{"pattern":"((a{100}){100})"}`, `pattern: the pattern "((a{100}){100})" is not supported: invalid repeat count "{100}"`},
		{`{"pattern":"` + strings.Repeat("a{1000}", 10) + `"}`, `pattern: the pattern "` + strings.Repeat("a{1000}", 8) + `a…" repeats too much`},
		{`{"$ref":"#/definitions/a"}`, `$ref: "#/definitions/a" points at nothing in the schema`},
		{`{"$ref":"#name"}`, `$ref: "#name" is a reference by name; only references that begin with #/ are allowed`},
		{`{"$ref":"#/%zz"}`, `$ref: "#/%zz" is not a valid reference`},
		{`{"$ref":7}`, `$ref: expected a string, got 7`},
		{`{"x":{"a":5},"$ref":"#/x/a"}`, `x.a: expected a schema (an object, true or false), got 5`},
		{`{"properties":{"a":{"default":{"type":"null"}},"b":{"$ref":"#/properties/a/default"}}}`,
			`properties.b.$ref: "#/properties/a/default" points into a value, not at a schema`},
		{`{"properties":{"a":{"$id":"http://x/","$ref":"#/definitions/b"}},"definitions":{"b":{}}}`,
			`properties.a.$id: an "$id" below the root is not supported together with "$ref"`},
		{`{"properties":{"n":{"type":"integer","maximum":3,"default":5}}}`,
			`properties.n.default: the default does not satisfy its own schema: expected an integer up to 3, got 5`},
		{`{"properties":{"n":{"allOf":[{"default":5},{"type":"string"}]}}}`,
			`properties.n.default: the default does not satisfy its own schema: expected a string, got 5`},
		{`{"minimum":1e5000}`, `minimum: the number is too long or its exponent is too large`},
	}
	for _, test := range tests {
		s, err := Parse([]byte(test.source))
		if err == nil {
			err = Compile(s)
		}
		checkFault(t, test.source, err, test.want)
	}
}

func checkFault(t *testing.T, source string, err error, want string) {
	t.Helper()
	e, ok := errors.AsType[*aai.Error](err)
	if !ok || e.Code != aai.DescriptorInvalid || e.Hint == "" {
		t.Errorf("%s: expected an AAI_JSON_INVALID with a hint, got %#v", source, err)
		return
	}
	assert.Check(t, is.Equal(e.Message, want), source)
	fault, ok := errors.AsType[*Fault](err)
	assert.Assert(t, ok, "%s: the error wraps no fitting *Fault: %#v", source, fault)
	assert.Equal(t, fault.Error(), e.Message, "%s %#v", source, fault)
	assert.Assert(t, strings.HasPrefix(want, fault.Path), "%s: the error wraps no fitting *Fault: %#v", source, fault)
}

// TestWhatLooksWrongButIsRight lists schemas that a hasty check would refuse.
func TestWhatLooksWrongButIsRight(t *testing.T) {
	for _, source := range []string{
		`true`, `false`, `{}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#"}`,
		`{"$schema":"https://json-schema.org/draft-07/schema"}`,
		`{"$id":"https://example.org/x.json","properties":{"a":{"$ref":"#/definitions/a"}},"definitions":{"a":{}}}`,
		`{"properties":{"$ref":{"type":"string"},"$id":{"type":"string"},"type":{"enum":[5]}}}`,
		`{"enum":[{"$ref":"http://evil"}],"const":{"$ref":"#"},"default":{"$ref":"#"},"examples":[{"$ref":"#"}]}`,
		`{"$id":"no %zz URI","$schema":"http://json-schema.org/draft-07/schema"}`,
		`{"$id":"http://json-schema.org/draft-07/schema","$ref":"#/definitions/a","definitions":{"a":{"type":"null"}}}`,
		`{"const":{"$id":"x"},"enum":[{"$id":"x"}]}`,
		`{"x-vendor":{"type":5,"$ref":"file:///etc/passwd"}}`,
		`{"required":[],"maxLength":3.0,"minLength":1e1,"uniqueItems":false}`,
		`{"maxLength":1e300,"maxItems":18446744073709551615}`,
		`{"properties":{"a":{"$ref":"#/definitions/x~1y~0z%25"}},"definitions":{"x/y~z%":{"type":"string"}}}`,
		`{"items":[{"$ref":"#/items/1"},{"type":"null"}]}`,
		`{"definitions":{"a":{"$ref":"#/definitions/b"},"b":{"type":"string"}},"allOf":[{"$ref":"#/definitions/a"},{"$ref":"#/definitions/a"}]}`,
	} {
		s, err := Parse([]byte(source))
		if err == nil && !strings.Contains(source, `"default"`) {
			err = Compile(s)
		}
		assert.Check(t, err, source)
	}
}

func TestIdentifiersInValuesStay(t *testing.T) {
	s := MustParse(`{"const":{"$id":"x"}}`)
	_, err := s.Check(map[string]any{"$id": "x"})
	assert.Check(t, err)
	_, err = s.Check(map[string]any{})
	assert.Check(t, err != nil, "the const lost its $id")
}

func TestOrderIsTheOrderOfTheSource(t *testing.T) {
	tests := []struct {
		source string
		want   []string
	}{
		{`{"properties":{"zeta":{},"alpha":true,"mid":{"properties":{"x":{}}}}}`, []string{"zeta", "alpha", "mid"}},
		{`{"$ref":"#/definitions/a","definitions":{"a":{"properties":{"b":{},"a":{}}}}}`, []string{"b", "a"}},
		{`{"type":"object"}`, nil},
		{`true`, nil},
	}
	for _, test := range tests {
		s, err := Parse([]byte(test.source))
		assert.NilError(t, err)
		assert.Check(t, slices.Equal(s.Order, test.want), "%s %v %v", test.source, s.Order, test.want)
		assert.Check(t, is.Equal(string(s.Source), test.source), "the source changed to %s", s.Source)
	}
}

func TestParseKeepsItsOwnCopyOfTheSource(t *testing.T) {
	source := []byte(`{"type":"string"}`)
	s, err := Parse(source)
	assert.NilError(t, err)
	copy(source, `{"type":"object"}`)
	_, err = s.Check("text")
	assert.Check(t, err)
}

func TestParams(t *testing.T) {
	source := `{
		"properties": {
			"to": {"type": "string"},
			"key": {"type": "string", "format": "password"},
			"pin": {"writeOnly": true},
			"login": {"properties": {"user": {}, "userPassword": {}}},
			"list": {"items": {"anyOf": [{"type": "null"}, {"format": "password"}]}},
			"linked": {"$ref": "#/definitions/hidden"},
			"hotplate": {}, "footprint": {}, "passengers": {}
		},
		"allOf": [{"properties": {"api_key": {}}}, {"$ref": "#/definitions/more"}],
		"required": ["to", "smsOTP"],
		"dependencies": {"to": {"properties": {"cvv2": {}}}},
		"definitions": {
			"hidden": {"properties": {"x": {"format": "password"}}},
			"more": {"if": true, "then": {"properties": {"Cookie": {}}}}
		}
	}`
	want := []string{"Cookie", "api_key", "cvv2", "key", "linked", "list", "login", "pin", "smsOTP"}
	facts, err := new(Reader).Read([]byte(source))
	params, secret := facts.Schema, facts.SecretNames
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(want, secret))
	alone, err := Parse([]byte(source))
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(alone, params, cmp.FilterValues(func(a, b func(any) (any, error)) bool {
		return (a == nil) == (b == nil)
	}, cmp.Ignore())), "%v", "Params and Parse differ:")
	_, refused := Parse([]byte(`{"type":5}`))
	facts, err = new(Reader).Read([]byte(`{"type":5}`))
	assert.Assert(t, facts.SecretNames == nil, "got %v and %v for what is no schema", secret, err)
	assert.Assert(t, err != nil, "got %v and %v for what is no schema", secret, err)
	assert.Equal(t, err.Error(), refused.Error(), "%v %v", secret, err)
}

func TestMustParsePanics(t *testing.T) {
	const source = `{"type":5}`
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), source) {
			t.Errorf("expected a panic that shows the schema, got %v", p)
		}
	}()
	MustParse(source)
}

func TestCompileOfTheZeroSchema(t *testing.T) {
	assert.Check(t, Compile(aai.Schema{}))
}

func TestTypeAsWritten(t *testing.T) {
	for source, want := range map[string]string{
		`{"type": "object"}`: `"object"`, `{}`: "", "\n{ \"type\"\t:\"object\" , \"x\": 1}": `"object"`, `{"title": "x", "type": "object"}`: `"object"`,
		`{"type": ["object", "null"]}`: `["object", "null"]`, `{"a": {"type": "object"}, "type": "string"}`: `"string"`, `{"a": {"type": 1}}`: "", `true`: "",
	} {
		facts, err := new(Reader).Read([]byte(source))
		assert.NilError(t, err, source)
		assert.Equal(t, facts.Type, want, source)
	}
}
