package strange

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A State is the state of a program, as the program itself writes it.
type State struct {
	Values map[string]any `json:"values"` // by the ID of the control
	Events [][2]string    `json:"events"` // ID of the control and the name of the event, such as "clicked"
	Dialog string         `json:"dialog"` // ID of the control that opened the dialog; "" if none is open
}

// A Task is one thing that an agent is asked to do, as one call of a tool.
type Task struct {
	Node   *Node
	Above  []*Node
	Text   string         // for people
	Tool   string         // such as "ax_click"
	Params map[string]any // without "app"
	Value  any            // the value of the control after it; nil if there is none
	Event  string         // that must happen once; "" for none
	// Refusable is the reason why the window offers no honest way, so that a refusal is right too;
	// "" if there is a way.
	Refusable string
	// Opens lists the pages and expanders that hide the control, from the outside in. An agent clicks
	// their names first.
	Opens []Open
}

// An Open is a click that shows the contents of a page or an expander.
type Open struct {
	Node  *Node
	Name  string // of the tab or expander
	Value any    // of the node when it is open
}

// IsDone reports whether it is open.
func (o Open) IsDone(s State) bool { return reflect.DeepEqual(s.Values[o.Node.ID], o.Value) }

// Tasks returns up to n tasks for the window, drawn with its seed.
func Tasks(w *Window, n int) []Task {
	random := rand.New(rand.NewPCG(w.Seed, 44)) //nolint:gosec // reproducible, and no secret
	count := nameCounts(w)
	var all []Task
	w.Walk(func(node *Node, above []*Node) {
		if t, ok := taskOf(node, random); ok {
			t.Node, t.Above = node, above
			t.Opens = opens(node, above)
			t.Refusable = refusable(&t, count)
			all = append(all, t)
		}
	})
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

// taskOf returns a task for the control.
func taskOf(n *Node, random *rand.Rand) (Task, bool) {
	set := func(value string, want any) (Task, bool) {
		return Task{Text: fmt.Sprintf("set %q to %q", n.Name, value), Tool: "ax_set_value", Params: map[string]any{"query": n.Name, "value": value}, Value: want}, true
	}
	text := strings.ToLower(pick(random, words()...)) + " " + strconv.Itoa(random.IntN(1000))
	switch n.Kind {
	case Entry, EditCombo, Password, Text:
		want := text
		if n.Habits.Normalise == "upper" {
			want = strings.ToUpper(text)
		}
		if n.Kind != Text && random.IntN(3) == 0 {
			return Task{Text: fmt.Sprintf("type %q into %q", text, n.Name), Tool: "ax_type", Params: map[string]any{"query": n.Name, "text": text, "clear_first": true}, Value: want}, true
		}
		return set(text, want)
	case Combo:
		option := pick(random, n.Items[1:]...)
		return set(option, option)
	case Spin, Slider:
		number := (n.Value.(int) + 1 + random.IntN(n.Max)) % (n.Max + 1)
		return set(strconv.Itoa(number), float64(number))
	case Switch, Check:
		value := !n.Value.(bool)
		if random.IntN(2) == 0 {
			return set(strconv.FormatBool(value), value)
		}
		return Task{Text: fmt.Sprintf("click %q", n.Name), Tool: "ax_click", Params: map[string]any{"query": n.Name}, Value: value}, true
	case Radio:
		option := pick(random, n.Items[1:]...)
		return Task{Text: fmt.Sprintf("choose %q", option), Tool: "ax_click", Params: map[string]any{"query": option}, Value: option}, true
	case Button, Link:
		return Task{Text: fmt.Sprintf("click %q", n.Name), Tool: "ax_click", Params: map[string]any{"query": n.Name}, Event: "clicked"}, true
	case List:
		row := pick(random, n.Items...)
		return Task{Text: fmt.Sprintf("choose the row %q", row), Tool: "ax_click", Params: map[string]any{"query": row}, Value: row}, true
	case Table:
		row := pick(random, n.Items...)
		return Task{Text: fmt.Sprintf("choose the row %q", row), Tool: "ax_click", Params: map[string]any{"query": row}, Value: row}, true
	case Notebook:
		i := 1 + random.IntN(len(n.Items)-1)
		return Task{Text: fmt.Sprintf("show the page %q", n.Items[i]), Tool: "ax_click", Params: map[string]any{"query": n.Items[i]}, Value: float64(i)}, true
	case Expander:
		return Task{Text: fmt.Sprintf("open or close %q", n.Name), Tool: "ax_click", Params: map[string]any{"query": n.Name}, Value: n.Value == nil}, true
	}
	return Task{}, false
}

// opens returns the pages and expanders to open so that the control can be seen.
func opens(n *Node, above []*Node) []Open {
	var clicks []Open
	for i, a := range above {
		child := n
		if i+1 < len(above) {
			child = above[i+1]
		}
		switch a.Kind { //nolint:exhaustive // other containers hide nothing
		case Notebook:
			page := slices.Index(a.Children, child)
			clicks = append(clicks, Open{a, a.Items[page], float64(page)})
		case Expander:
			clicks = append(clicks, Open{a, a.Name, true})
		}
	}
	return clicks
}

// nameCounts returns the number of things with each name, in lower case.
func nameCounts(w *Window) map[string]int {
	count := make(map[string]int)
	w.Walk(func(n *Node, _ []*Node) {
		if n.Name != "" {
			count[strings.ToLower(n.Name)]++
		}
		for _, item := range slices.Concat(n.Items, n.Columns) {
			count[strings.ToLower(item)]++
		}
	})
	return count
}

// refusable returns the reason why a refusal of the task is right.
func refusable(t *Task, count map[string]int) string {
	name, _ := t.Params["query"].(string)
	switch {
	case t.Node.Disabled:
		return "it is disabled"
	case slices.ContainsFunc(t.Above, func(n *Node) bool { return n.Disabled }):
		return "its container is disabled"
	case count[strings.ToLower(name)] > 1:
		return "several things have this name"
	case slices.ContainsFunc(t.Opens, func(o Open) bool { return count[strings.ToLower(o.Name)] > 1 }):
		return "its page or expander has the name of another thing"
	case t.Node.Labelling == Nameless && name == t.Node.Name:
		return "it has no name"
	case t.Node.Labelling == After && name == t.Node.Name:
		return "a label after a field can be another field's"
	}
	return ""
}

// A Verdict is the judgement of a task.
type Verdict string

// The verdicts. Right includes an honest refusal.
const (
	Right        Verdict = "right"
	WrongRefusal Verdict = "refused although there is a way"
	FalseSuccess Verdict = "said to be done, and is not"
	Void         Verdict = "not done, and the reply does not say so for certain"
	FalseFailure Verdict = "said to have failed, and is done"
	WrongElement Verdict = "something else has changed"
)

// A Reply is the end of a call.
type Reply string

// The replies.
const (
	Done    Reply = "done"    // with the effect observed
	Unsure  Reply = "unsure"  // delivered, without an observed effect
	Refused Reply = "refused" // an error
)

// Judge compares the program's states and the reply with the task.
func (t *Task) Judge(before, after State, reply Reply) (Verdict, string) {
	if other := t.changedOther(before, after); other != "" {
		return WrongElement, other
	}
	done := t.isDone(before, after)
	switch {
	case done && reply != Refused:
		return Right, ""
	case done:
		return FalseFailure, ""
	case reply == Unsure:
		return Void, ""
	case reply == Done:
		return FalseSuccess, fmt.Sprintf("its value is %v", after.Values[t.Node.ID])
	case t.Refusable != "":
		return Right, "refused: " + t.Refusable
	}
	return WrongRefusal, ""
}

// isDone reports whether the state is that after the task.
func (t *Task) isDone(before, after State) bool {
	if t.Event != "" {
		return count(after.Events, t.Node.ID, t.Event)-count(before.Events, t.Node.ID, t.Event) == 1
	}
	if t.Node.Kind == Expander {
		return after.Values[t.Node.ID] != before.Values[t.Node.ID]
	}
	return reflect.DeepEqual(after.Values[t.Node.ID], t.Value)
}

func count(events [][2]string, id, event string) int {
	n := 0
	for _, e := range events {
		if e == [2]string{id, event} {
			n++
		}
	}
	return n
}

// changedOther names the first other control with another value or an event, or returns "".
func (t *Task) changedOther(before, after State) string {
	for _, id := range slices.Sorted(maps.Keys(after.Values)) {
		if id != t.Node.ID && !reflect.DeepEqual(before.Values[id], after.Values[id]) {
			return fmt.Sprintf("%s was %v and is %v", id, before.Values[id], after.Values[id])
		}
	}
	for _, e := range after.Events[min(len(before.Events), len(after.Events)):] {
		if e[0] != t.Node.ID {
			return fmt.Sprintf("%s was %s", e[0], e[1])
		}
	}
	return ""
}
