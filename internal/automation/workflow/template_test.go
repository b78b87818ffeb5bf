package workflow_test

import (
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/automation/workflow"
)

// hostile returns texts that would matter if parsed again.
func hostile() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"{{step_1.value}}", "{{", "}}", "{{{{", "{{item}}", `"`, `\`, `{"a": 1}`, "[1]", "\x00", "null", "true", "3", "' or 1=1", "$(ls)", "‹x of step 1›", "{{step_2.value}}", "\u202e",
		}),
		rapid.String(),
	)
}

// anyValue returns a JSON value with some hostile strings.
func anyValue(deep int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{
		hostile().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil),
		rapid.Custom(func(t *rapid.T) any {
			return json.Number(rapid.SampledFrom([]string{"0", "-1.5", "1e3", "9007199254740993"}).Draw(t, "number"))
		}),
	}
	if deep > 0 {
		kinds = append(kinds,
			rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(anyValue(deep-1), 0, 3).Draw(t, "list") }),
			rapid.Custom(func(t *rapid.T) any { return rapid.MapOfN(hostile(), anyValue(deep-1), 0, 3).Draw(t, "object") }))
	}
	return rapid.OneOf(kinds...)
}

// asJSON returns the value after a round trip through JSON.
func asJSON(t interface{ Fatal(...any) }, value any) any {
	b, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// A value remains data of one parameter: as a whole it is unchanged, in a text it is that text,
// and nothing in it is parsed.
func TestValuesStayData(t *testing.T) {
	rapid.Check(t, func(t2 *rapid.T) {
		w := newWorld(t)
		text, whole := hostile().Draw(t2, "text"), anyValue(2).Draw(t2, "value")
		w.kept["text"], w.kept["whole"] = text, whole
		_, err := w.does(t,
			step("get", documentObject{"name": "text"}, "name", "text"),
			step("get", documentObject{"name": "whole"}, "name", "whole"),
			step("set", documentObject{"name": "a", "value": "{{whole.value}}"}),
			step("set", documentObject{"name": "b", "value": "<{{ text.value }}|{{{{x}}|{{step_1.value}}>"}),
			step("set", documentObject{"name": "c", "value": documentObject{"in": []any{"{{step_2.value}}", "{{step_1.value}}"}}}),
			step("get", documentObject{"name": "a"}, "name", "again"),
			step("set", documentObject{"name": "{{item.at}}", "value": "{{item.value}}"}, "for_each", []any{documentObject{"at": "d", "value": "{{again.value}}"}, documentObject{"at": "e", "value": "{{text.value}}"}}),
		)
		assert.NilError(t2, err)
		plain := asJSON(t2, whole)
		said := asJSON(t2, text).(string) // invalid UTF-8 changes in JSON
		for name, want := range map[string]any{
			"a": plain, "b": "<" + said + "|{{x}}|" + said + ">", "c": documentObject{"in": []any{plain, said}}, "d": plain, "e": said,
		} {
			got := asJSON(t2, w.kept[name])
			assert.Check(t2, reflect.DeepEqual(got, asJSON(t2, want)), "%s %#v %#v", name, got, want)
		}
	})
}

// Values in a text that are not strings are written as JSON, and null as nothing.
func TestValuesInATextAreWritten(t *testing.T) {
	w := newWorld(t)
	w.kept["v"] = documentObject{"n": 3, "b": true, "nothing": nil, "list": []any{1, "a"}, "object": documentObject{"x": "y"}}
	const text = "{{step_1.value.n}} {{step_1.value.b}} {{step_1.value.nothing}} {{step_1.value.list}} {{step_1.value.list.1}} {{step_1.value.object}}"
	_, err := w.does(t, step("get", documentObject{"name": "v"}), step("set", documentObject{"name": "a", "value": text}))
	assert.NilError(t, err)
	assert.Check(t, is.Equal(w.kept["a"], `3 true  [1,"a"] a {"x":"y"}`))
}

// The error for a missing value lists the existing ones.
func TestAValueThatIsNotThere(t *testing.T) {
	for value, says := range map[string]string{
		"{{step_1.titel}}":      `{{step_1.titel}}: there is no "titel" in step_1, which has name, text, value`,
		"{{step_1.value.3}}":    `there is no "3" in step_1.value, a list of 2`,
		"{{step_1.name.x}}":     `in step_1.name, which has no fields`,
		"a {{step_1.value.-1}}": `there is no "-1"`,
	} {
		w := newWorld(t)
		w.kept["v"] = []any{1, 2}
		_, err := w.does(t, step("get", documentObject{"name": "v"}), step("set", documentObject{"name": "a", "value": value}))
		assert.Assert(t, is.ErrorContains(err, says), value)
		assert.Assert(t, is.ErrorContains(err, "step 2 of 2 (set)"), value)
		assert.Check(t, w.kept["a"] == nil, "%s ran", value)
	}
}

// A text of many marks costs memory in proportion to its length, whether it is valid or not.
func TestTemplateOfManyMarks(t *testing.T) {
	allocated := func(n int) uint64 {
		source := map[string]any{"steps": []any{map[string]any{"app": "a", "tool": "b", "args": map[string]any{"s": strings.Repeat("{{{{", n)}}}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = workflow.ParseDocument(source, false)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	small, large := allocated(10_000), allocated(100_000)
	assert.Check(t, large <= 30*small+1<<20, "ten times the text took %d bytes, not %d", large, small)
}
