package schema

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gybob/aai-gateway"
	"gotest.tools/v3/assert"
)

const mailSchema = `{
	"type": "object",
	"properties": {
		"to": {"type": "string", "description": "Recipient email address"},
		"limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
		"opts": {"$ref": "#/definitions/opts"},
		"tags": {"type": "array", "items": {"type": "string", "minLength": 2}, "maxItems": 3, "uniqueItems": true},
		"when": {"type": "string", "format": "date-time"},
		"code": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
		"body": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["html"], "properties": {"html": {"type": "string"}}}]},
		"ratio": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5},
		"flag": {"type": ["boolean", "null"]},
		"kind": {"const": "mail"},
		"labels": {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "maxProperties": 2},
		"never": false,
		"password": {"type": "string", "minLength": 8},
		"login": {"type": "object", "properties": {"user": {"type": "integer"}, "pin": {"enum": [1, 2], "writeOnly": true}}}
	},
	"required": ["to"],
	"dependencies": {"when": ["limit", "kind"]},
	"additionalProperties": false,
	"definitions": {"opts": {
		"type": "object",
		"properties": {"colour": {"enum": ["red", "blue"], "default": "red"}, "depth": {"type": "integer", "default": 3}},
		"additionalProperties": false
	}}
}`

// TestMessages is the golden table of error messages for callers.
func TestMessages(t *testing.T) {
	s := MustParse(mailSchema)
	tests := []struct{ value, want string }{
		{`{}`, `to: missing, expected a string (Recipient email address)`},
		{`{"to":5}`, `to: expected a string, got 5`},
		{`{"to":null}`, `to: expected a string, got null`},
		{`{"to":{"a":1}}`, `to: expected a string, got an object`},
		{`{"to":[]}`, `to: expected a string, got an empty list`},
		{`{"to":"a","limit":500}`, `limit: expected an integer from 1 to 100, got 500`},
		{`{"to":"a","limit":"5"}`, `limit: expected an integer from 1 to 100, got "5"`},
		{`{"to":"a","limit":1.5}`, `limit: expected an integer from 1 to 100, got 1.5`},
		{`{"to":"a","opts":{"colour":"green"}}`, `opts.colour: expected one of "red", "blue", got "green"`},
		{`{"to":"a","opts":{"color":"red"}}`, `opts: unexpected member "color"`},
		{`{"to":"a","opts":"red"}`, `opts: expected an object, got "red"`},
		{`{"to":"a","explanation":"x"}`, `unexpected parameter "explanation"`},
		{`{"to":"a","tags":["ab","c"]}`, `tags[1]: expected a string of at least 2 characters, got 1 character`},
		{`{"to":"a","tags":["ab","cd","ab"]}`, `tags: expected items that are all different, but items 0 and 2 are equal`},
		{`{"to":"a","tags":["ab","cd","ef","gh"]}`, `tags: expected a list of at most 3 items, got a list of 4 items`},
		{`{"to":"a","when":"soon","limit":1,"kind":"mail"}`, `when: expected a date and time such as 2006-01-31T15:04:05Z, got "soon"`},
		{`{"to":"a","when":"2006-01-31T15:04:05Z"}`, `kind: missing, needed together with "when", expected "mail"`},
		{`{"to":"a","code":"A"}`, `code: expected a string of at most 5 characters that matches ^[a-z]+$, got "A"`},
		{`{"to":"a","code":"abcdef"}`, `code: expected a string of at most 5 characters that matches ^[a-z]+$, got 6 characters`},
		{`{"to":"a","body":5}`, `body: expected a string or an object, got 5`},
		{`{"to":"a","body":{"html":5}}`, `body.html: expected a string, got 5`},
		{`{"to":"a","body":{}}`, `body.html: missing, expected a string`},
		{`{"to":"a","ratio":0}`, `ratio: expected a number greater than 0 and in steps of 0.5, got 0`},
		{`{"to":"a","ratio":0.7}`, `ratio: expected a number greater than 0 and in steps of 0.5, got 0.7`},
		{`{"to":"a","flag":"yes"}`, `flag: expected null or true or false, got "yes"`},
		{`{"to":"a","kind":"post"}`, `kind: expected "mail", got "post"`},
		{`{"to":"a","labels":{"A":1}}`, `labels: the name "A" is not allowed, expected a string that matches ^[a-z]+$`},
		{`{"to":"a","labels":{"a":1,"b":2,"c":3}}`, `labels: expected an object of at most 2 members, got 3 members`},
		{`{"to":"a","never":1}`, `never: not expected here, got 1`},
		{`{"to":5,"limit":0,"tags":5,"code":5,"flag":5}`, `to: expected a string, got 5; limit: expected an integer from 1 to 100, got 0; ` +
			`tags: expected a list of at most 3 items, got 5; and 2 more`},
		{`"text"`, `expected an object, got a string (not shown)`},
		{`{"to":"a","password":"hunter2"}`, `password: expected a string of at least 8 characters, got a string (not shown)`},
		{`{"to":"a","password":12345678}`, `password: expected a string of at least 8 characters, got a number (not shown)`},
		{`{"to":"a","login":"{\"pin\":7}"}`, `login: expected an object, got a string (not shown)`},
		{`{"to":"a","login":{"pin":7777}}`, `login.pin: expected one of 1, 2, got a number (not shown)`},
		{`{"to":"a","limit":"` + strings.Repeat("z", 100) + `"}`, `limit: expected an integer from 1 to 100, got "` + strings.Repeat("z", 57) + `…"`},
		{`{"to":"a","limit":"\u001b[31mred\u202e"}`, `limit: expected an integer from 1 to 100, got "[31mred"`},
	}
	for _, test := range tests {
		_, err := s.Check(parsed(t, []byte(test.value)))
		checkMessage(t, test.value, err, test.want)
	}
}

func checkMessage(t *testing.T, value string, err error, want string) {
	t.Helper()
	e, ok := errors.AsType[*aai.Error](err)
	switch {
	case !ok || e.Code != aai.InvalidParams:
		t.Errorf("%s: expected INVALID_PARAMS, got %v", value, err)
	case e.Message != want:
		t.Errorf("%s:\n got %s\nwant %s", value, e.Message, want)
	case e.Err != nil:
		t.Errorf("%s: the cause %v may show the value in the log", value, e.Err)
	}
}

// TestMessagesOfOtherKeywords has one schema per message.
func TestMessagesOfOtherKeywords(t *testing.T) {
	tests := []struct{ schema, value, want string }{
		{`{"not":{"type":"null"}}`, `null`, `expected another value, got null`},
		{`{"oneOf":[{"type":"number"},{"minimum":2}]}`, `5`, `expected a value of exactly one form in the schema, but it fits forms 1 and 2`},
		{`{"oneOf":[{"type":"string"},{"type":"boolean"}]}`, `5`, `expected a string or true or false, got 5`},
		{`{"oneOf":[{"const":1},{"const":2},{"const":3},{"const":4},{"const":5}]}`, `6`, `expected one of 5 forms in the schema, got 6`},
		{`{"oneOf":[{"properties":{"k":{"const":"a"},"x":{"type":"null"}}},{"properties":{"k":{"const":"b"},"x":{"type":"string"}}}]}`,
			`{"k":"b","x":5}`, `x: expected a string, got 5`},
		{`{"items":[{"type":"null"}],"additionalItems":false}`, `[null,1,2]`, `expected a list, got 2 too many`},
		{`{"contains":{"type":"integer"}}`, `["a"]`, `expected a list with at least one item that is an integer, got a list of 1 item`},
		{`{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1}`, `b: missing, expected a value`},
		{`{"properties":{"b":{"type":"null"}},"allOf":[{"required":["b"]}]}`, `{}`, `b: missing, expected null`},
		{`{"enum":[1,2,3,4,5,6,7,8,9,10,11,12]}`, `0`, `expected one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, … (12 in all), got 0`},
		{`{"properties":{"a.b":{"type":"null"}}}`, `{"a.b":1}`, `["a.b"]: expected null, got 1`},
		{`{"items":{"items":{"type":"null"}}}`, `[[],[null,true]]`, `[1][1]: expected null, got true`},
		{`{"format":"email"}`, `"x"`, `expected an email address, got "x"`},
		{`{"format":"regex"}`, `"("`, `expected a regular expression (RE2, at most 512 bytes), got "("`},
		{`{"minItems":2,"maxItems":2}`, `[]`, `expected a list of 2 items, got an empty list`},
		{`{"minProperties":1}`, `{}`, `expected an object of at least 1 member, got 0 members`},
		{`{"maximum":1e21}`, `1e22`, `expected a number up to 1000000000000000000000, got 1e22`},
		{`{"items":{"format":"password","type":"string"}}`, `[12345]`, `[0]: expected a string, got a number (not shown)`},
		{`{"additionalProperties":{"additionalProperties":{"type":"integer"}}}`, `{"a":{"password":"hunter2"}}`,
			`a.password: expected an integer, got a string (not shown)`},
		{`{"patternProperties":{"^k":{"writeOnly":true,"type":"integer"}}}`, `{"k":"hunter2"}`, `k: expected an integer, got a string (not shown)`},
		{`{"properties":{"a":{"propertyNames":{"maxLength":1}},"b":{}}}`, `{"a":{"xx":1},"b":{"yy":2}}`,
			`a: the name "xx" is not allowed, expected a string of at most 1 character`},
		{`{"properties":{"a":{"propertyNames":{"maxLength":1}},"b":{}}}`, `{"a":{"xx":1},"b":{"xx":2}}`,
			`the name "xx" is not allowed, expected a string of at most 1 character`},
	}
	for _, test := range tests {
		_, err := MustParse(test.schema).Check(parsed(t, []byte(test.value)))
		checkMessage(t, test.schema+" "+test.value, err, test.want)
	}
}

func TestCandidates(t *testing.T) {
	s := MustParse(mailSchema)
	_, err := s.Check(map[string]any{"to": "a", "limitt": 1, "opts": map[string]any{"color": "red"}})
	want := []string{"colour", "limit"}
	got := aai.AsError(err).Candidates
	assert.Check(t, slices.Equal(got, want), "%v %v", got, want)
}

func TestDefaults(t *testing.T) {
	const nested = `{"properties":{"o":{"default":{},"properties":{"x":{"default":1,"properties":{}}}}}}`
	tests := []struct{ schema, value, want string }{
		{mailSchema, `{"to":"a","opts":{}}`, `{"to":"a","limit":10,"opts":{"colour":"red","depth":3}}`},
		{mailSchema, `{"to":"a"}`, `{"to":"a","limit":10}`},
		{nested, `{}`, `{"o":{"x":1}}`},
		{nested, `{"o":null}`, `{"o":null}`},
		{`{"properties":{"a":{"default":1}}}`, `{"a":null}`, `{"a":null}`},
		{`{"properties":{"a":{"default":null}}}`, `{}`, `{"a":null}`},
		{`{"properties":{"a":{"default":1}}}`, `[{}]`, `[{}]`},
		{`{"items":{"properties":{"a":{"default":[true]}}}}`, `[{},{"a":2},3]`, `[{"a":[true]},{"a":2},3]`},
		{`{"items":[{},{"properties":{"a":{"default":1}}}]}`, `[{},{},{}]`, `[{},{"a":1},{}]`},
		{`{"allOf":[{"properties":{"a":{"default":1}}},{"properties":{"a":{"default":2},"b":{"default":3}}}]}`, `{}`, `{"a":1,"b":3}`},
		{`{"properties":{"q":{"properties":{"x":{"default":1}}}},"allOf":[{"properties":{"q":{"default":{}}}}]}`, `{}`, `{"q":{"x":1}}`},
		{`{"$ref":"#/definitions/d","definitions":{"d":{"properties":{"a":{"$ref":"#/definitions/e"}}},"e":{"default":"x"}}}`, `{}`, `{"a":"x"}`},
		{`{"anyOf":[{"properties":{"a":{"default":1}}}],"oneOf":[{"properties":{"b":{"default":1}}}],"if":{"properties":{"c":{"default":1}}}}`, `{}`, `{}`},
		{`{"properties":{"a":{"default":1}},"required":["a"]}`, `{}`, `{"a":1}`},
		{`{"properties":{"a":{"default":9007199254740993}}}`, `{}`, `{"a":9007199254740993}`},
	}
	for _, test := range tests {
		got, err := MustParse(test.schema).Check(parsed(t, []byte(test.value)))
		if err != nil {
			t.Errorf("%s of %s: %v", test.value, test.schema, err)
			continue
		}
		text, err := json.Marshal(got)
		assert.NilError(t, err, "%s %s %s %s", test.value, test.schema, text, test.want)
		assert.Assert(t, cmp.Equal(parsed(t, text), parsed(t, []byte(test.want))), "%s %s %s %s", test.value, test.schema, text, test.want)
	}
}

func TestTheDefaultOfTheSchemaIsNeverHandedOut(t *testing.T) {
	s := MustParse(`{"properties":{"a":{"default":{"list":[1]}}}}`)
	first, err := s.Check(map[string]any{})
	assert.NilError(t, err)
	first.(map[string]any)["a"].(map[string]any)["list"].([]any)[0] = "changed"
	second, err := s.Check(map[string]any{})
	want := any(map[string]any{"a": map[string]any{"list": []any{1.0}}})
	assert.NilError(t, err, second)
	assert.Assert(t, cmp.Equal(second, want), second)
}

func TestNumbers(t *testing.T) {
	integer := MustParse(`{"type":"integer"}`)
	tests := []struct{ given, want any }{
		{1, int64(1)}, {int8(-1), int64(-1)}, {int16(1), int64(1)}, {int32(1), int64(1)}, {int64(math.MaxInt64), int64(math.MaxInt64)},
		{uint(1), int64(1)}, {uint8(1), int64(1)}, {uint16(1), int64(1)}, {uint32(1), int64(1)},
		{uint64(math.MaxUint64), json.Number("18446744073709551615")},
		{1.0, 1.0}, {float32(2), 2.0}, {1e300, 1e300},
		{json.Number("1.0"), json.Number("1.0")}, {json.Number("9007199254740993"), json.Number("9007199254740993")},
		{json.Number("123456789012345678901234567890"), json.Number("123456789012345678901234567890")},
	}
	for _, test := range tests {
		got, err := integer.Check(test.given)
		assert.NilError(t, err, "%T %v", test.given, test.given)
		assert.Equal(t, got, test.want, "%T %v", test.given, test.given)
	}
	for _, wrong := range []any{1.5, json.Number("1.5"), math.NaN(), math.Inf(1), json.Number("abc"), json.Number(""), json.Number("0x1"),
		json.Number("1e999999999"), json.Number(strings.Repeat("9", 2000)), struct{}{}, "1", true} {
		got, err := integer.Check(wrong)
		assert.Assert(t, err != nil, "%v %v %v", wrong, got, err)
		assert.Equal(t, aai.AsError(err).Code, aai.InvalidParams, "%v %v %v", wrong, got, err)
	}
	exactly := MustParse(`{"maximum":9007199254740992}`)
	_, err := exactly.Check(json.Number("9007199254740993"))
	assert.Check(t, err != nil, "2^53+1 was rounded")
}

// TestCountsBeyondAnInt: the library would cut the number to 64 bits, with an undefined result.
func TestCountsBeyondAnInt(t *testing.T) {
	_, err := MustParse(`{"maxLength":1e300,"maxItems":18446744073709551616}`).Check("abc")
	assert.Check(t, err)
	_, err = MustParse(`{"minLength":18446744073709551616}`).Check("abc")
	assert.Check(t, err != nil, "the limit was lost")
}

func TestGoSlicesAndMapsOfStrings(t *testing.T) {
	s := MustParse(`{"properties":{"l":{"items":{"type":"string"}},"m":{"type":"object"}}}`)
	got, err := s.Check(map[string]any{"l": []string{"a"}, "m": map[string]string{"b": "c"}})
	want := any(map[string]any{"l": []any{"a"}, "m": map[string]any{"b": "c"}})
	assert.NilError(t, err, got)
	assert.Assert(t, cmp.Equal(got, want), got)
}

func TestFormatsThatOnlyInform(t *testing.T) {
	for _, format := range []string{"password", "uri-template", "idn-email", "idn-hostname", "colour"} {
		_, err := MustParse(`{"format":"` + format + `"}`).Check("{ not a @")
		assert.Check(t, err, format)
	}
}

func TestABadSchemaFailsEveryCheckInTheSameWay(t *testing.T) {
	s, err := Parse([]byte(`{"type":"string","default":5}`))
	assert.NilError(t, err)
	for range 2 {
		_, err := s.Check("right")
		checkFault(t, "check", err, `default: the default does not satisfy its own schema: expected a string, got 5`)
	}
}

func TestAPanicBecomesAnInternalError(t *testing.T) {
	c := &checker{source: []byte(`{}`)}
	c.once.Do(func() { c.validator = &validator{} }) // without a schema
	_, err := c.check("x")
	e := aai.AsError(err)
	assert.Equal(t, e.Code, aai.Internal, "%#v", err)
	assert.Assert(t, e.Err != nil, "%#v", err)
	assert.Assert(t, !strings.Contains(e.Message, "nil pointer"), "%#v", err)
}

func TestCheckIsSafeForConcurrentUse(t *testing.T) {
	s, err := Parse([]byte(mailSchema))
	assert.NilError(t, err)
	shared := map[string]any{"to": "a", "opts": map[string]any{}}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				_, err := s.Check(shared)
				assert.Check(t, err)
			}
		})
	}
	group.Wait()
}
