package gui_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/strange"
)

// An outcome is the judgement of a task.
type outcome struct {
	task     strange.Task
	kind     strange.Kind // of the control, or of the step before it that failed
	verdict  strange.Verdict
	why      string
	call     string
	reply    string
	byRef    bool
	followed bool // the reply of a failure had advice
	led      bool // and that led to success
}

// try does the task and judges it.
func (s *strangeRun) try(task strange.Task) (o outcome) {
	s.Helper()
	o, s.trail = outcome{task: task, kind: task.Node.Kind}, ""
	for _, step := range task.Steps {
		if verdict, call, reply := s.step(step); verdict != strange.Right {
			if task.Refusable != "" && verdict != strange.FalseSuccess && verdict != strange.WrongElement {
				verdict = strange.Right
			}
			o.kind, o.verdict, o.call, o.reply = step.Node.Kind, verdict, call, reply
			return o
		}
	}
	p := maps.Clone(task.Params)
	if ref := s.refs[p["query"].(string)]; ref != "" && s.acts >= 3 && task.Refusable == "" { // else it may be another's
		p["query"], o.byRef = ref, true
	}
	before := s.state()
	end := s.call(task.Tool, p)
	o.call, o.reply = end.call, end.text
	if o.verdict, o.why = s.judge(task, before, end); o.byRef && o.verdict == strange.WrongRefusal && end.failure.Code == aai.StaleRef {
		o.verdict = strange.Stale
	}
	if slices.Contains([]strange.Verdict{strange.WrongRefusal, strange.Stale, strange.Void}, o.verdict) {
		o.followed, o.led = s.follow(task, p, before, end)
	}
	return o
}

// step does a step before the task, if it is needed.
func (s *strangeRun) step(step strange.Step) (verdict strange.Verdict, call, reply string) {
	s.Helper()
	for range 4 {
		state := s.state()
		if step.IsDone(state) || step.Value == nil && strings.Contains(s.outline, "in closed menus") { // its items can be clicked
			return strange.Right, call, reply
		}
		p := step.Call(state)
		if ref := s.refs[p["query"].(string)]; ref != "" && s.acts >= 3 {
			p["query"] = ref
		}
		end := s.call(step.Tool, p)
		call, reply = end.call, end.text
		changed := func(now strange.State) bool { return now.Values[step.Key()] != state.Values[step.Key()] }
		refused := end.failure != nil
		if refused {
			end = s.followStep(step.Tool, p, end)
		}
		switch {
		case end.failure != nil && strings.Contains(end.advice, "need not be open"): // its items can be clicked
			return strange.Right, call, reply
		case end.failure != nil:
			return strange.WrongRefusal, call, reply
		case step.Opens != "":
			return s.opened(step, state, end), call, reply
		case step.Value == nil && end.kind == strange.Done:
			return strange.Right, call, reply
		case step.Value == nil:
			return strange.Void, call, reply
		case s.within(1500*time.Millisecond, changed):
		case refused: // the candidate was another thing of this name
			return strange.WrongRefusal, call, reply
		case end.kind == strange.Done:
			return strange.FalseSuccess, call, reply
		default:
			return strange.Void, call, reply
		}
	}
	return strange.Void, call, reply
}

// opened judges a step that opens the context menu of a row.
func (s *strangeRun) opened(step strange.Step, before strange.State, e end) strange.Verdict {
	s.Helper()
	row, was := "", step.Opened(before)
	isRight := s.within(1500*time.Millisecond, func(now strange.State) bool { row = step.Opened(now); return row == step.Opens })
	switch {
	case isRight:
		return strange.Right
	case row != was:
		return strange.WrongElement
	case e.kind == strange.Done:
		return strange.FalseSuccess
	}
	return strange.Void
}

// An end is the end of a call.
type end struct {
	kind    strange.Reply
	call    string
	text    string
	value   any // of ax_get_value
	advice  string
	failure *aai.Error
}

// call makes a call as an agent does.
func (s *strangeRun) call(tool string, p params) end {
	s.Helper()
	all := params{"app": s.app}
	maps.Copy(all, p)
	if tool != "ax_get_value" {
		s.acts++
	}
	result, failure := s.do(s.Context(), tool, all)
	e := end{call: fmt.Sprintf("%s %v", tool, p), failure: failure, kind: strange.Done}
	if failure != nil {
		e.kind, e.text, e.advice = strange.Refused, fmt.Sprintf("%s; %s %q", failure, failure.Hint, failure.Candidates), failure.Message+" "+failure.Hint
		return e
	}
	e.text = result.Text + " " + result.Warning
	e.advice = e.text
	data := asJSON(s.T, result.Data)
	if e.value = at(data, "value"); at(data, "verified") == false {
		e.kind = strange.Unsure
	}
	return e
}

// judge waits for the effect, and returns the verdict.
func (s *strangeRun) judge(task strange.Task, before strange.State, e end) (verdict strange.Verdict, why string) {
	s.Helper()
	if task.Reads != "" {
		value, _ := e.value.(string)
		return task.JudgeRead(value, e.kind)
	}
	slow := time.Duration(task.Node.Habits.SlowMS) * time.Millisecond
	limit := 1200*time.Millisecond + slow
	if e.kind == strange.Refused {
		limit = 150*time.Millisecond + slow
	}
	isDone := func(state strange.State) bool {
		verdict, why = task.Judge(before, state, e.kind)
		return verdict.IsRight() && e.kind != strange.Refused
	}
	if s.within(limit, isDone); verdict == strange.FalseSuccess { // on a busy computer the program writes its state late
		s.within(strangePatience/4, isDone)
	}
	time.Sleep(slow) // a second event would come as late as the first
	if verdict.IsRight() {
		verdict, why = task.Judge(before, s.state(), e.kind)
	}
	if verdict == strange.Partial && task.Node.Habits.Dialog && e.failure != nil && e.failure.Delivery != aai.NotDelivered {
		return strange.Right, "interrupted by the program's dialog, and said to be"
	}
	return verdict, why
}
