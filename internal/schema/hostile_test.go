package schema

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// refused parses a hostile schema, which our own budget must reject before it reaches the
// library.
func refused(t *testing.T, source, want string) {
	t.Helper()
	_, err := Parse([]byte(source))
	assert.Check(t, is.ErrorContains(err, want), "%.80s", source)
}

// TestDeepNesting: 900 levels cost the library seconds.
func TestDeepNesting(t *testing.T) {
	nested := func(levels int) string {
		return strings.Repeat(`{"not":`, levels) + `{}` + strings.Repeat(`}`, levels)
	}
	refused(t, nested(900), "nested more than 32 deep")
	refused(t, nested(32), "nested more than 32 deep")
	_, err := Parse([]byte(nested(31)))
	assert.Check(t, err)
	refused(t, strings.Repeat(`[`, 100_000), "nested more than 32 deep")
	refused(t, `{"default":`+strings.Repeat(`[`, 40)+strings.Repeat(`]`, 40)+`}`, "nested more than 32 deep")
}

// TestManyKeys: a million keys cost encoding/json seconds.
func TestManyKeys(t *testing.T) {
	keys := func(n int) string {
		var b strings.Builder
		b.WriteString(`{"x":0`)
		for i := range n {
			fmt.Fprintf(&b, `,"k%d":0`, i)
		}
		return b.String() + `}`
	}
	refused(t, keys(1_000_000), "bytes, at most 262144 are allowed")
	refused(t, keys(5_000), "more than 5000 JSON values")
	_, err := Parse([]byte(keys(4_998)))
	assert.Check(t, err)
	refused(t, `{"title":"`+strings.Repeat("x", maxSource)+`"}`, "at most 262144 are allowed")
}

// doubling refers twice to the next definition, n times: 2^n visits.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/definitions/d0","definitions":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/definitions/d%d"},{"$ref":"#/definitions/d%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{"type":"string"}}}`, n)
	return b.String()
}

func TestDoubling(t *testing.T) {
	refused(t, doubling(22), "more than 10000 sub-schemas")
	refused(t, doubling(200), "more than 10000 sub-schemas")
	s, err := Parse([]byte(doubling(10)))
	if err == nil {
		err = Compile(s)
	}
	assert.Check(t, err)
}

// TestLongChain: references one after another, without doubling.
func TestLongChain(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/definitions/d0","definitions":{`)
	for i := range 1000 {
		fmt.Fprintf(&b, `"d%d":{"$ref":"#/definitions/d%d"},`, i, i+1)
	}
	refused(t, b.String()+`"d1000":{}}}`, "nested more than 128 deep")
}

func TestRecursion(t *testing.T) {
	for _, source := range []string{
		`{"$ref":"#"}`,
		`{"$ref":"#/definitions/a","definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"#/definitions/a"}}}`,
		`{"definitions":{"unused":{"allOf":[{"$ref":"#/definitions/unused"}]}}}`,
		`{"properties":{"child":{"$ref":"#"}}}`,
		`{"items":{"$ref":"#"}}`, `{"items":[{"$ref":"#"}]}`, `{"additionalItems":{"$ref":"#"}}`, `{"contains":{"$ref":"#"}}`,
		`{"additionalProperties":{"$ref":"#"}}`, `{"patternProperties":{"a":{"$ref":"#"}}}`, `{"propertyNames":{"$ref":"#"}}`,
		`{"dependencies":{"a":{"$ref":"#"}}}`, `{"allOf":[{"$ref":"#"}]}`, `{"anyOf":[{"$ref":"#"}]}`, `{"oneOf":[{"$ref":"#"}]}`,
		`{"not":{"$ref":"#"}}`, `{"if":{"$ref":"#"}}`, `{"then":{"$ref":"#"}}`, `{"else":{"$ref":"#"}}`,
		`{"allOf":[{"$ref":"#/x-odd/place"}],"x-odd":{"place":{"not":{"$ref":"#/x-odd/place"}}}}`,
		`{"properties":{"a":{"$ref":"#/properties/a/definitions/b","definitions":{"b":{"not":{"$ref":"#/properties/a"}}}}}}`,
	} {
		refused(t, source, "leads back to itself")
	}
}

// TestForeignReferences: the library's own loader would read local files and print their content.
func TestForeignReferences(t *testing.T) {
	const secret = "TOPSECRET"
	file := filepath.Join(t.TempDir(), "secret.json")
	assert.NilError(t, os.WriteFile(file, []byte(`{"const":"`+secret+`"}`), 0o600))
	slashed := filepath.ToSlash(file)
	for _, ref := range []string{
		"file://" + slashed, slashed, "secret.json", "./secret.json", "../x", "http://127.0.0.1:1/x", "https://example.org/s.json#/a",
		"//host/share", "data:application/json,{}", "schema:///", "schema:///#", "http://json-schema.org/draft-07/schema#", "", "?a", " #",
	} {
		for _, form := range []string{`{"$ref":%q}`, `{"properties":{"a":{"anyOf":[{"$ref":%q}]}}}`, `{"$id":"http://x/","items":{"$ref":%q}}`} {
			source := fmt.Sprintf(form, ref)
			refused(t, source, "leaves the schema")
			_, err := Parse([]byte(source))
			assert.Check(t, !strings.Contains(fmt.Sprint(err), secret), "%s: the error shows the secret: %v", source, err)
		}
	}
	for _, uri := range []string{"file://" + slashed, "http://127.0.0.1:1/meta"} {
		refused(t, fmt.Sprintf(`{"$schema":%q}`, uri), "expected http://json-schema.org/draft-07/schema#")
		refused(t, fmt.Sprintf(`{"items":{"$id":"http://y/","$schema":%q}}`, uri), "expected http://json-schema.org/draft-07/schema#")
	}
}

// TestTheLibraryCannotLoad checks the second barrier: even without our budget, the library's
// loader rejects all.
func TestTheLibraryCannotLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret.json")
	assert.NilError(t, os.WriteFile(file, []byte(`{"const":"TOPSECRET"}`), 0o600))
	compiler := newCompiler(jsonschema.Draft7)
	assert.NilError(t, compiler.AddResource(location, map[string]any{"$ref": "file://" + filepath.ToSlash(file)}))
	_, err := compiler.Compile(location)
	assert.Assert(t, is.ErrorContains(err, "not allowed"))
	assert.Assert(t, !strings.Contains(err.Error(), "TOPSECRET"), err)
}

func TestPatternsThatCostTooMuch(t *testing.T) {
	refused(t, `{"pattern":"`+strings.Repeat("a", 100_000)+`"}`, "the pattern has 100000 bytes, at most 512 are allowed")
	refused(t, `{"patternProperties":{"`+strings.Repeat("a", 600)+`":{}}}`, "the pattern has 600 bytes")
	refused(t, `{"pattern":"`+strings.Repeat(".{1000}", 73)+`"}`, "repeats too much")
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf(`{"pattern":"x{900}y%d"}`, i))
	}
	refused(t, `{"anyOf":[`+strings.Join(many, ",")+`]}`, "too large together")
}

func TestTextForAPatternIsLimited(t *testing.T) {
	s := MustParse(`{"properties":{"to":{"pattern":"^a"},"body":{"type":"string"}},"patternProperties":{"^x":{}}}`)
	if _, err := s.Check(map[string]any{"to": "a" + strings.Repeat("b", maxMatchText-1), "body": strings.Repeat("b", 1<<20)}); err != nil {
		t.Error(err)
	}
	_, err := s.Check(map[string]any{"to": "a" + strings.Repeat("b", maxMatchText)})
	checkMessage(t, "65537 bytes", err, "to: expected at most 65536 bytes of text, because it must match a pattern; got 65537")
	_, err = s.Check(map[string]any{strings.Repeat("b", maxMatchText+1): 1})
	assert.Check(t, err != nil, "a long name was held against a pattern")
}

// TestWorkIsComputedBeforeItIsDone: schema and value are each in budget.
func TestWorkIsComputedBeforeItIsDone(t *testing.T) {
	long := make([]any, 100_000)
	for i := range long {
		long[i] = strings.Repeat("x", 30)
	}
	distinct := make([]any, maxUniqueList+1)
	for i := range distinct {
		distinct[i] = float64(i)
	}
	deep := any("x")
	for range 200 {
		deep = []any{deep}
	}
	numbers := make([]string, 4000)
	for i := range numbers {
		numbers[i] = fmt.Sprint(i)
	}
	tests := []struct {
		schema string
		value  any
		want   string
	}{
		{`{"items":` + doubling10() + `,"definitions":` + definitions10() + `}`, long, "too large to be checked"},
		{`{"items":{"pattern":"(x+x+)+y{400}"}}`, long, "too large to be checked"},
		{`{"items":{"format":"regex"}}`, long, "too large to be checked"},
		{`{"items":{"enum":[` + strings.Join(numbers, ",") + `]}}`, long, "too large to be checked"},
		{`{"uniqueItems":true}`, distinct, "at most 10000 items"},
		{`{"items":{"properties":{"a":{"default":[1,2,3,4,5,6,7,8,9]}}}}`, manyObjects(10_000), "the defaults of the schema would add more"},
		{`{"items":{"properties":{"a":{"default":"` + strings.Repeat("x", 200_000) + `"}}}}`, manyObjects(100), "the defaults of the schema would add more"},
		{`{"items":` + doubling10() + `,"properties":{"a":{"default":1}},"definitions":` + definitions10() + `}`, manyObjects(10_000), "too large to be checked"},
		{`{}`, deep, "nested more than 128 deep"},
	}
	for _, test := range tests {
		_, err := MustParse(test.schema).Check(test.value)
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%.60s…: got %v, want %q", test.schema, err, test.want)
		assert.Equal(t, e.Code, aai.InvalidParams, "%.60s %v", test.schema, err)
		assert.Assert(t, is.Contains(e.Message, test.want), "%.60s %v", test.schema, err)
	}
}

func doubling10() string { return `{"$ref":"#/definitions/d0"}` }

func definitions10() string {
	var whole struct{ Definitions json.RawMessage }
	if err := json.Unmarshal([]byte(doubling(10)), &whole); err != nil {
		panic(err)
	}
	return string(whole.Definitions)
}

func manyObjects(n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = map[string]any{}
	}
	return list
}

// TestManyFaults: every item of a long list is wrong.
func TestManyFaults(t *testing.T) {
	list := manyObjects(50_000)
	_, err := MustParse(`{"items":{"required":["a"]}}`).Check(list)
	message := aai.AsError(err).Message
	assert.Assert(t, strings.HasSuffix(message, "; and many more"), message)
	assert.Assert(t, len(message) <= 300, message)
	names := map[string]any{}
	for i := range 20_000 {
		names[fmt.Sprint("A", i)] = 1
	}
	_, err = MustParse(`{"properties":{"m":{"propertyNames":{"pattern":"^[a-z]"}}}}`).Check(map[string]any{"m": names})
	assert.Check(t, err != nil, "bad names were accepted")
}

// TestLongWordsAreCut: a schema can make what it expects very long.
func TestLongWordsAreCut(t *testing.T) {
	var values []string
	for i := range 500 {
		values = append(values, fmt.Sprintf("%q", strings.Repeat("x", 400)+fmt.Sprint(i)))
	}
	_, err := MustParse(`{"enum":[` + strings.Join(values, ",") + `]}`).Check("y")
	message := aai.AsError(err).Message
	assert.Check(t, len(message) <= 400, "the message has %d bytes", len(message))
}
