package workflow_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

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
