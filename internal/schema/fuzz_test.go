package schema

import (
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// FuzzParse: no source causes a panic, and the library accepts each schema within budget, so that
// none fails at its first call.
func FuzzParse(f *testing.F) {
	for _, source := range []string{
		mailSchema, doubling(3), `true`, `{"$ref":"#"}`, `{"type":["null","integer"],"enum":[1,1.0]}`,
		`{"properties":{"a":{"default":{"b":[1]}}},"required":["a"],"patternProperties":{"^x":false}}`,
		`{"items":[{"const":1},{}],"additionalItems":{"multipleOf":0.01},"contains":{"not":{}}}`,
		`{"if":{"minLength":1},"then":{"format":"date"},"else":{"pattern":"\\d+"},"dependencies":{"a":["b"],"c":{}}}`,
		`{"$id":"#x","definitions":{"a/b":{"$id":"#y"}},"allOf":[{"$ref":"#/definitions/a~1b"}],"maxItems":1e2}`,
		`{"$ref":"#/a b","a b":{"$comment":"odd","contentEncoding":"base64"}}`,
		`{"propertyNames":{"pattern":"(a|b)*"},"minProperties":1,"uniqueItems":true,"exclusiveMaximum":-1e-3}`,
	} {
		f.Add([]byte(source))
	}
	values := []any{nil, true, "", "text", 0.0, -1.5, 3, []any{}, []any{1.0, "a", nil}, map[string]any{},
		map[string]any{"a": 1.0, "to": "x", "b": map[string]any{"c": []any{}}}}
	f.Fuzz(func(t *testing.T, source []byte) {
		lenient := new(Reader).ReadLenient(source).Schema
		for _, value := range values {
			if _, err := lenient.Check(value); err != nil && aai.AsError(err).Code == aai.Internal {
				t.Fatalf("lenient: %v: %v: %v", value, err, errors.Unwrap(err))
			}
		}
		facts, err := new(Reader).Read(source)
		s := facts.Schema
		if err != nil {
			fault, ok := errors.AsType[*Fault](err)
			assert.Assert(t, ok, "the error wraps no fault: %#v", err)
			assert.Assert(t, fault.Message != "", "the error wraps no fault: %#v", err)
			return
		}
		err = Compile(s)
		assert.Assert(t, err == nil || strings.Contains(err.Error(), "the default does not satisfy its own schema"), "the budget accepts what Compile refuses: %v", err)
		for _, value := range values {
			_, err := s.Check(value)
			if err != nil && aai.AsError(err).Code == aai.Internal {
				t.Fatalf("%v: %v: %v", value, err, errors.Unwrap(err))
			}
		}
	})
}
