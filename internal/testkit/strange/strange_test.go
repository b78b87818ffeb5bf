package strange_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/strange"
)

// TestNew: a seed always makes the same window and tasks, and each control has its own ID.
func TestNew(t *testing.T) {
	for _, toolkit := range strange.Toolkits() {
		for seed := range uint64(200) {
			w := strange.New(seed, toolkit)
			assert.Check(t, reflect.DeepEqual(w, strange.New(seed, toolkit)), "%s %d: two windows differ", toolkit, seed)
			assert.Check(t, reflect.DeepEqual(strange.Tasks(w, 5), strange.Tasks(w, 5)), "%s %d: the tasks of two calls differ", toolkit, seed)
			var ids []string
			w.Walk(func(n *strange.Node, _ []*strange.Node) { ids = append(ids, n.ID) })
			if slices.Sort(ids); len(slices.Compact(slices.Clone(ids))) != len(ids) {
				t.Errorf("%s %d: the IDs %q are not unique", toolkit, seed, ids)
			}
		}
	}
}

// TestJudge: the states of the program decide, and not the reply.
func TestJudge(t *testing.T) {
	box := &strange.Node{ID: "n1", Kind: strange.Check, Name: "Alpha", Value: false}
	task := strange.Task{Node: box, Value: true}
	state := func(n1, n2 any) strange.State { return strange.State{Values: map[string]any{"n1": n1, "n2": n2}} }
	password := strange.Task{Node: &strange.Node{ID: "n1", Kind: strange.Password}, Value: true}
	disabled := task
	disabled.Refusable = "it is disabled"
	for name, c := range map[string]struct {
		task  strange.Task
		after strange.State
		reply strange.Reply
		want  strange.Verdict
	}{
		"done":                  {task, state(true, "x"), strange.Done, strange.Right},
		"done, unsure":          {task, state(true, "x"), strange.Unsure, strange.NothingSeen},
		"done, unreadable":      {password, state(true, "x"), strange.Unsure, strange.Right},
		"not done":              {task, state(false, "x"), strange.Done, strange.FalseSuccess},
		"not done, unsure":      {task, state(false, "x"), strange.Unsure, strange.Void},
		"half done, unsure":     {task, state("half", "x"), strange.Unsure, strange.Partial},
		"done and refused":      {task, state(true, "x"), strange.Refused, strange.FalseFailure},
		"refused":               {task, state(false, "x"), strange.Refused, strange.WrongRefusal},
		"refused with a reason": {disabled, state(false, "x"), strange.Refused, strange.Right},
		"another one":           {task, state(true, "y"), strange.Done, strange.WrongElement},
	} {
		got, why := c.task.Judge(state(false, "x"), c.after, c.reply)
		assert.Check(t, is.Equal(got, c.want), "%s %s", name, why)
	}
}

// TestShrink: a window loses all that the failure does not need.
func TestShrink(t *testing.T) {
	for seed := range uint64(50) {
		w := strange.New(seed, strange.GTK3)
		tasks := strange.Tasks(w, 1)
		if len(tasks) == 0 {
			continue
		}
		f := strange.Shrink(&strange.Fixture{Window: w, Task: tasks[0]}, 1000, func(*strange.Fixture) bool { return true })
		text, err := json.Marshal(f)
		assert.NilError(t, err)
		f, err = strange.ParseFixture(text)
		assert.NilError(t, err)
		if f.Task.Node == nil || f.Task.Node.ID != tasks[0].ID {
			t.Errorf("%d: the control %s of the task is gone", seed, tasks[0].ID)
		}
		f.Window.Walk(func(n *strange.Node, _ []*strange.Node) {
			if n.Kind == strange.Column && len(n.Children) > 1 && n.ID != f.Task.ID {
				t.Errorf("%d: the column %s still has %d children", seed, n.ID, len(n.Children))
			}
		})
	}
}
