package strange

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// A Reply is the end of a call.
type Reply string

// The replies.
const (
	Done    Reply = "done"    // with the effect observed
	Unsure  Reply = "unsure"  // delivered, without an observed effect
	Refused Reply = "refused" // an error
)

// A Verdict is the judgement of a task.
type Verdict string

// The verdicts. Right includes an honest refusal.
const (
	Right        Verdict = "right"
	NothingSeen  Verdict = "right, but the reply says that nothing was seen"
	WrongRefusal Verdict = "refused although there is a way"
	Stale        Verdict = "a ref of what is still there is refused"
	Void         Verdict = "not done, and the reply does not say so for certain"
	Partial      Verdict = "neither done nor as before, and the reply does not say so"
	FalseSuccess Verdict = "said to be done, and is not"
	FalseFailure Verdict = "said to have failed, and is done"
	WrongElement Verdict = "something else has changed"
)

// Verdicts returns all verdicts.
func Verdicts() []Verdict {
	return []Verdict{Right, NothingSeen, WrongRefusal, Stale, Void, Partial, FalseFailure, FalseSuccess, WrongElement}
}

// IsRight reports whether the task counts as done.
func (v Verdict) IsRight() bool { return v == Right || v == NothingSeen }

// Judge compares the program's states and the reply with the task.
func (t *Task) Judge(before, after State, reply Reply) (Verdict, string) {
	if other := t.changedOther(before, after); other != "" {
		return WrongElement, other
	}
	done, is := t.isDone(before, after), fmt.Sprintf("its value is %v", after.Values[t.key()])
	switch {
	case done && reply == Done:
		return Right, ""
	case done && reply == Unsure && t.unseen(before) != "":
		return Right, "done, and not seen: " + t.unseen(before)
	case done && reply == Unsure:
		return NothingSeen, ""
	case done:
		return FalseFailure, ""
	case reply == Done:
		return FalseSuccess, is
	case t.Refusable != "":
		return Right, "not done: " + t.Refusable
	case t.Event == "" && t.Value != nil && !reflect.DeepEqual(before.Values[t.key()], after.Values[t.key()]):
		return Partial, is
	case reply == Unsure:
		return Void, ""
	}
	return WrongRefusal, ""
}

// JudgeRead compares the read value, or the refusal, with the task.
func (t *Task) JudgeRead(value string, reply Reply) (Verdict, string) {
	switch {
	case reply == Refused && t.Refusable != "":
		return Right, "refused: " + t.Refusable
	case reply == Refused:
		return WrongRefusal, ""
	case value == t.Reads:
		return Right, ""
	case value == t.Node.Name:
		return Void, "the label was read"
	}
	return FalseSuccess, fmt.Sprintf("read %q, and it is %q", value, t.Reads)
}

// isDone reports whether the state is that after the task.
func (t *Task) isDone(before, after State) bool {
	if t.Event != "" {
		return countEvents(after.Events, t.Node.ID, t.Event)-countEvents(before.Events, t.Node.ID, t.Event) == 1
	}
	switch was := before.Values[t.Node.ID]; {
	case t.Node.Kind == Expander:
		return after.Values[t.Node.ID] != was
	case t.Node.Kind == Wizard && t.Part == "": // steps before it may have shown another page
		page, _ := was.(float64)
		return after.Values[t.Node.ID] == min(page+1, float64(len(t.Node.Children)-1))
	}
	return reflect.DeepEqual(after.Values[t.key()], t.Value)
}

// unseen returns the reason why nothing in the window shows that the task was done; "" if something does.
func (t *Task) unseen(before State) string {
	switch n := t.Node; {
	case t.Event == "" && n.Kind == Wizard && before.Values[n.ID] == float64(len(n.Children)-1):
		return "it was on its last page before"
	case t.Event == "" && n.Kind != Expander && reflect.DeepEqual(before.Values[t.key()], t.Value):
		return "it was so before"
	case n.Kind == Password:
		return "a password cannot be read"
	case t.Silent && t.Event != "" && !n.Habits.Rename && !n.Habits.Dialog:
		return "the window shows no events"
	}
	return ""
}

// key returns the key of the state's value that the task changes.
func (t *Task) key() string { return keyOf(t.Node, t.Part) }

func keyOf(n *Node, part string) string {
	if part != "" {
		return n.ID + "/" + part
	}
	return n.ID
}

func countEvents(events [][2]string, id, event string) int {
	n := 0
	for _, e := range events {
		if e == [2]string{id, event} {
			n++
		}
	}
	return n
}

// changedOther names the first other control, or other part of the control, with another value
// or an event, or returns "".
func (t *Task) changedOther(before, after State) string {
	for _, id := range slices.Sorted(maps.Keys(after.Values)) {
		own := id == t.Node.ID || id == t.key()
		if !own && !reflect.DeepEqual(before.Values[id], after.Values[id]) {
			return fmt.Sprintf("%s was %v and is %v", id, before.Values[id], after.Values[id])
		}
	}
	for _, e := range after.Events[min(len(before.Events), len(after.Events)):] {
		if e[0] != t.Node.ID || t.Event != "" && e[1] != t.Event {
			return fmt.Sprintf("%s was %s", e[0], e[1])
		}
	}
	return ""
}

// A Step is a call that an agent makes before its task, so that the control can be seen.
type Step struct {
	ID     string         `json:"id"` // of the node
	Node   *Node          `json:"-"`
	Part   string         `json:"part,omitempty"` // of the state's value, as in a Task
	Tool   string         `json:"tool"`
	Params map[string]any `json:"params"`
	// Value is the value of the node when the step has been done; nil if nothing says so.
	Value any `json:"value,omitempty"`
	// Opens is the row of the context menu that the step opens; "" for none.
	Opens string `json:"opens,omitempty"`
	// Back is the call's query if the value is too large, in a wizard.
	Back string `json:"back,omitempty"`
}

// IsDone reports whether the step is not needed.
func (s *Step) IsDone(state State) bool {
	return s.Value != nil && reflect.DeepEqual(state.Values[s.Key()], s.Value)
}

// Key returns the key of the state's value that the step changes.
func (s *Step) Key() string { return keyOf(s.Node, s.Part) }

// Opened returns the row of the context menu that was opened last, or "".
func (s *Step) Opened(state State) string {
	row, _ := state.Values[keyOf(s.Node, "menu")].(string)
	return row
}

// Call returns the parameters of the call in the state.
func (s *Step) Call(state State) map[string]any {
	p := maps.Clone(s.Params)
	now, _ := state.Values[s.Node.ID].(float64)
	if want, ok := s.Value.(float64); ok && s.Back != "" && now > want {
		p["query"] = s.Back
	}
	return p
}
