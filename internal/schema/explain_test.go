package schema

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// longNames are a schema of many parameters.
func longNames(t *testing.T, each string) *validator {
	t.Helper()
	var known []string
	for i := range 150 {
		known = append(known, fmt.Sprintf(`"%s%03d":{"type":"string"}`, strings.Repeat("p", 60), i))
	}
	object := `{"type":"object","additionalProperties":false,"properties":{` + strings.Join(known, ",") + `}}`
	return compiled(t, strings.ReplaceAll(each, "OBJECT", object))
}

func compiled(t *testing.T, source string) *validator {
	t.Helper()
	d, err := new(Reader).inspect([]byte(source), false)
	assert.NilError(t, err)
	v, err := compile(d)
	assert.NilError(t, err)
	return v
}

func unknownNames(n int) map[string]any {
	args := map[string]any{}
	for i := range n {
		args[fmt.Sprintf("%s%05d", strings.Repeat("q", 45), i)] = true
	}
	return args
}

// TestUnexpectedNamesAreCheap: only reported faults may cost more than the check: names that are
// only counted are not compared with all others.
func TestUnexpectedNamesAreCheap(t *testing.T) {
	v := longNames(t, "OBJECT")
	few, many := unknownNames(100), unknownNames(5000)
	_, err := v.check(many)
	assert.Assert(t, is.ErrorContains(err, "q00002\"; and 4997 more"))
	cost := func(args map[string]any) float64 {
		return testing.AllocsPerRun(3, func() { _, _ = v.check(args) })
	}
	each := (cost(many) - cost(few)) / 4900
	assert.Check(t, !(each > 8), "a name that is only counted allocates %.1f times", each)
}

// TestNearestOfThoseThatAreTold: with any number of faults, only names in reported ones are
// compared.
func TestNearestOfThoseThatAreTold(t *testing.T) {
	item := func(name string) any { return map[string]any{name: true} }
	var items []any
	for i := range 900 {
		items = append(items, item(fmt.Sprintf("q%05d", i)))
	}
	for each, value := range map[string]any{
		`OBJECT`:                           unknownNames(5000),
		`{"type":"array","items":OBJECT}`:  items,
		`{"allOf":[OBJECT,OBJECT,OBJECT]}`: unknownNames(100),
		`{"anyOf":[{"not":{}},OBJECT]}`:    unknownNames(100),
		`{"properties":{"inner":OBJECT}}`:  map[string]any{"inner": unknownNames(4000)},
	} {
		v := longNames(t, each)
		failure, ok := errors.AsType[*jsonschema.ValidationError](v.root.Validate(value))
		assert.Assert(t, ok, "%.40s: it fits", each)
		calls := 0
		x := &explanation{validator: v, value: value, nearestNames: func(name string, names []string, n int) []string {
			calls++
			return aai.Nearest(name, names, n)
		}}
		err := x.explain(failure)
		told := strings.Count(err.Error(), "unexpected ")
		assert.Check(t, is.Equal(calls, told), "%.40s %v", each, err)
		assert.Check(t, is.Equal(told, maxFaults), "%.40s %v", each, err)
	}
}

// TestFaultsAreCounted: the list of faults is cut, with the number of the rest; the same fault in
// two branches counts once.
func TestFaultsAreCounted(t *testing.T) {
	v := longNames(t, `{"allOf":[OBJECT,OBJECT]}`)
	for n, more := range map[int]string{10: "; and 7 more", 4: "; and 1 more", 3: "q00002\""} {
		_, err := v.check(unknownNames(n))
		assert.Assert(t, err != nil, "%d %v", n, err)
		assert.Assert(t, strings.HasSuffix(err.Error(), more), "%d %v", n, err)
	}
}
