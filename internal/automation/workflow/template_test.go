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

	"github.com/gybob/aai-gateway"
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

// An error in a step names the step and the place, before any step runs.
func TestWhatIsWrongWithADocument(t *testing.T) {
	good := step("set", documentObject{"name": "a", "value": 1})
	get := func(more ...any) documentObject { return step("get", documentObject{"name": "a"}, more...) }
	for name, c := range map[string]struct {
		steps []any
		says  string
	}{
		"no tool":              {[]any{good, documentObject{"app": shelfID}}, "step 2, tool: expected the name"},
		"an unknown member":    {[]any{get("onfail", "skip")}, "step 1, onfail: there is no such member; on_fail?"},
		"a wrong word":         {[]any{get("on_fail", "ignore")}, "step 1, on_fail: expected abort, skip, rollback"},
		"too many retries":     {[]any{get("retry", 11)}, "step 1, retry: expected a whole number from 0 to 10"},
		"half a retry":         {[]any{get("retry", 1.5)}, "step 1, retry"},
		"a long wait":          {[]any{get("wait_after_ms", 300001)}, "step 1, wait_after_ms"},
		"a reserved name":      {[]any{get("name", "item")}, "step 1, name"},
		"a name like a number": {[]any{get("name", "step_2")}, "step 1, name"},
		"a name with a dot":    {[]any{get("name", "a.b")}, "step 1, name"},
		"a name twice":         {[]any{get("name", "x"), get("name", "x")}, "step 2, name: an earlier step"},
		"no tool of the app":   {[]any{good, step("gett", documentObject{})}, "step 2 (gett): org.example.Shelf has no tool"},
		"no such app":          {[]any{good, documentObject{"app": "org.example.None", "tool": "x"}}, "step 2 (x): there is no app"},
		"a wrong argument":     {[]any{good, step("get", documentObject{"name": 3})}, "step 2 (get): name: expected"},
		"a missing argument":   {[]any{good, step("get", documentObject{})}, "step 2 (get): name: missing"},
		"an unknown argument":  {[]any{get(), step("get", documentObject{"name": "{{step_1.name}}", "nmae": 1})}, "step 2 (get): unexpected parameter \"nmae\""},
		"wrong beside a value": {[]any{get(), step("set", documentObject{"name": "", "value": "{{step_1.value}}"})}, "step 2 (set): name"},
		"an item of a list":    {[]any{good, step("get", documentObject{"name": "{{item}}"}, "for_each", []any{"a", 3})}, "step 2 (get): value 2 of 2: name: expected"},
		"a part of an item":    {[]any{good, step("get", documentObject{"name": "{{item.name}}"}, "for_each", []any{documentObject{}})}, "step 2 (get): value 1 of 1: "},
		"a check that burns":   {[]any{good, get("check", documentObject{"app": shelfID, "tool": "burn", "args": documentObject{"name": "a"}, "equals": nil})}, "step 2 (get): check: burn of org.example.Shelf does more than read"},
		"a check of no tool":   {[]any{good, get("check", documentObject{"app": shelfID, "tool": "gett", "equals": nil})}, "step 2 (get): check: org.example.Shelf has no tool"},
		"a check wrong":        {[]any{good, get("check", documentObject{"app": shelfID, "tool": "get", "args": documentObject{"name": 3}, "equals": nil})}, "step 2 (get): check: "},
		"itself":               {[]any{step("get", documentObject{"name": "{{step_1.x}}"})}, "step 1, args.name: {{step_1.x}}: no earlier step gives"},
		"a later step":         {[]any{get(), step("get", documentObject{"name": "{{step_3.x}}"}), get()}, "step 2, args.name: {{step_3.x}}: no earlier step has this name; there are step_1"},
		"beside it":            {[]any{documentObject{"parallel": []any{get("name", "x"), step("get", documentObject{"name": "{{x.name}}"})}}}, "step 1.2, args.name"},
		"half a value":         {[]any{get(), step("get", documentObject{"name": "{{step_1.x"})}, "step 2, args.name: {{ without }}"},
		"no value":             {[]any{get(), step("get", documentObject{"name": "{{}}"})}, "step 2, args.name: {{}}: expected a step"},
		"an item of nothing":   {[]any{step("get", documentObject{"name": "{{item}}"})}, "step 1, args.name: {{item}}"},
		"for each of a text":   {[]any{get(), step("get", documentObject{"name": "{{item}}"}, "for_each", "x{{step_1.x}}")}, "step 2, for_each"},
		"for each of too many": {[]any{step("get", documentObject{"name": "{{item}}"}, "for_each", make([]any, 1001))}, "step 1, for_each: expected at most 1000"},
		"no test":              {[]any{get(), get("when", documentObject{"value": "{{step_1.x}}"})}, "step 2, when: expected one of"},
		"two tests":            {[]any{get(), get("when", documentObject{"value": "{{step_1.x}}", "equals": 1, "exists": true})}, "step 2, when: expected one of"},
		"a test of nothing":    {[]any{get(), get("when", documentObject{"value": "x", "equals": 1})}, "step 2, when, value"},
		"another test":         {[]any{get(), get("when", documentObject{"value": "{{step_1.x}}", "matches": "x"})}, "step 2, when, matches"},
		"a group with a tool":  {[]any{documentObject{"parallel": []any{get()}, "tool": "get"}}, "step 1, tool: a step with parallel"},
		"a group of none":      {[]any{documentObject{"parallel": []any{}}}, "step 1, parallel: expected a list"},
		"a group in a group":   {[]any{documentObject{"parallel": []any{documentObject{"parallel": []any{get()}}}}}, "step 1.1"},
		"a workflow in one":    {[]any{documentObject{"app": aai.BuiltinApp, "tool": "workflow", "args": documentObject{"steps": []any{get()}}}}, "step 1, tool: workflow makes other calls"},
		"too many":             {steps(101, get()), "step 101: there are more than 100"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, err := w.does(t, c.steps...)
			e := aai.AsError(err)
			assert.Assert(t, e != nil, e)
			assert.Assert(t, is.Contains(e.Message, c.says), e)
			assert.Assert(t, is.Contains(e.Message, "nothing was run"), e)
			assert.Assert(t, e.RetrySafe(), e)
			assert.Assert(t, is.Len(w.calls, 0))
			assert.Assert(t, is.Len(w.asked, 0))
		})
	}
}

func steps(n int, one documentObject) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = one
	}
	return all
}

// Values repeated many times in a text fail their step before the text is built: a megabyte of
// source must not produce gigabytes.
func TestValuesThatMultiply(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	for name, steps := range map[string][]any{
		"of a list for people": {step("set", documentObject{"name": "b", "value": strings.Repeat("{{item}}", 2000)}, "for_each", []any{long})},
		"of a step":            {step("get", documentObject{"name": "a"}), step("set", documentObject{"name": "b", "value": strings.Repeat("{{step_1.value}}", 2000)})},
		"of a step, as JSON":   {step("get", documentObject{"name": "a"}), step("set", documentObject{"name": "b", "value": strings.Repeat("{{step_1}}", 2000)})},
	} {
		w := newWorld(t)
		w.answer, w.kept["a"] = "session", long
		if _, err := w.Do(t.Context(), &aai.Call{Caller: agent(), App: shelfID, Tool: "set", Args: documentObject{"name": "c", "value": 1}}); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := w.does(t, steps...)
		runtime.ReadMemStats(&after)
		made := (after.TotalAlloc - before.TotalAlloc) >> 20
		assert.Check(t, made <= 60, "%s: %d MB were made", name, made)
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%s %.300v", name, err)
		assert.Equal(t, e.Code, aai.InvalidParams, "%s %.300v", name, err)
		assert.Assert(t, w.kept["b"] == nil, "%s %.300v", name, err)
		assert.Equal(t, e.Delivery, aai.NotDelivered, "%s %.300v", name, err)
	}
}

// A workflow keeps step values up to a limit, and warns if some were dropped.
func TestWhatStepsGaveIsBounded(t *testing.T) {
	w := newWorld(t)
	w.kept["a"] = strings.Repeat("x", 1<<20)
	items := make([]any, 40) // each is stored as the value and in the text
	for i := range items {
		items[i] = "a"
	}
	result, err := w.Do(t.Context(), &aai.Call{Caller: agent(), App: aai.BuiltinApp, Tool: "workflow", Args: documentObject{"full": true, "steps": []any{
		step("get", documentObject{"name": "{{item}}"}, "for_each", items), step("list", documentObject{}),
	}}})
	assert.NilError(t, err)
	b, gone := jsonOf(t, result.Data), 0
	if gone = strings.Count(b, `"gone":`); gone != 40-31 || len(b) > 65<<20 || !strings.Contains(result.Warning, "64 MiB") {
		t.Errorf("%d are gone, %d bytes are left; %s", gone, len(b), result.Warning)
	}
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	b, err := json.Marshal(value)
	assert.NilError(t, err)
	return string(b)
}
