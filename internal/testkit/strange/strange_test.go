package strange_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gybob/aai-gateway/internal/testkit/strange"
)

// TestNew: a seed always makes the same window and tasks, and each control has its own ID.
func TestNew(t *testing.T) {
	for _, toolkit := range strange.Toolkits() {
		for seed := range uint64(200) {
			w := strange.New(seed, toolkit)
			if !reflect.DeepEqual(w, strange.New(seed, toolkit)) {
				t.Errorf("%s %d: two windows differ", toolkit, seed)
			}
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
	disabled := task
	disabled.Refusable = "it is disabled"
	for name, c := range map[string]struct {
		task  strange.Task
		after strange.State
		reply strange.Reply
		want  strange.Verdict
	}{
		"done":                  {task, state(true, "x"), strange.Done, strange.Right},
		"not done":              {task, state(false, "x"), strange.Done, strange.FalseSuccess},
		"not done, unsure":      {task, state(false, "x"), strange.Unsure, strange.Void},
		"done and refused":      {task, state(true, "x"), strange.Refused, strange.FalseFailure},
		"refused":               {task, state(false, "x"), strange.Refused, strange.WrongRefusal},
		"refused with a reason": {disabled, state(false, "x"), strange.Refused, strange.Right},
		"another one":           {task, state(true, "y"), strange.Done, strange.WrongElement},
	} {
		if got, why := c.task.Judge(state(false, "x"), c.after, c.reply); got != c.want {
			t.Errorf("%s: %s %s, want %s", name, got, why, c.want)
		}
	}
}
