package workflow

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/gybob/aai-gateway"
)

const (
	// relocateTool is the desktop's tool that finds the element of a recorded step again.
	relocateTool = "ax_relocate"
	queryParam   = "query"
	// checkPatience limits the wait for the effect of a recorded step; checkPause is the first pause between two looks,
	// which doubles.
	checkPatience = 5 * time.Second
	checkPause    = 100 * time.Millisecond
)

// recordedStep parses the recorded element of a step.
func (r *reader) recordedStep(o *documentObject, s *Step) {
	value, given := o.members["target"]
	if !given {
		return
	}
	_, hasQuery := s.args[queryParam].(string)
	switch target, ok := value.(map[string]any); {
	case !ok:
		o.fail("target", `expected an object such as {"role": "button", "name": "Save"}`)
	case !hasQuery || s.App != aai.DesktopApp || s.forEach != nil:
		o.fail("target", "only a step for one element of a window, with a fixed query, has one")
	default:
		s.target = target
	}
}

// showAgainStep parses a step that must be recorded again.
func (r *reader) showAgainStep(o *documentObject, s *Step) {
	for _, name := range []string{"tool", "app", "args", "for_each", "parallel", "check", "target", "retry", "when"} {
		if _, given := o.members[name]; given {
			o.fail(name, "a step with show_again has no call")
		}
	}
	if s.showAgain = o.text("show_again", maxDescription); s.showAgain == "" {
		o.fail("show_again", "expected the reason")
	}
}

func (s *Step) showAgainError() *aai.Error {
	e := aai.Errorf(aai.AutomationNotSupported, "it must be shown again: %s", aai.CleanLabel(s.showAgain, maxDescription))
	e.Delivery = aai.NotDelivered
	e.Hint = "Record this part again, or write the step into the file in its place."
	return e
}

// callRecorded makes the call of a step. The element of a recorded one is found again before, and its effect is checked
// afterwards. An element that was renamed or moved passes all gates anew, by its name of now.
func (r *run) callRecorded(ctx context.Context, s *Step, v stepValues) (*aai.Result, error) {
	if s.target == nil {
		return r.admitted.run(ctx, s, v)
	}
	query, healed, err := r.relocate(ctx, s)
	if err != nil {
		return nil, err
	}
	var result *aai.Result
	if healed == "" {
		result, err = r.admitted.run(ctx, s, v)
	} else {
		result, err = r.callHealed(ctx, s, v, query)
		r.mu.Lock()
		r.report.healed = append(r.report.healed, fmt.Sprintf("%s: used %s in place of %s", s.Label, healed, describeTarget(s.target)))
		r.mu.Unlock()
	}
	if err == nil && s.doneCheck != nil {
		err = r.checkEffect(ctx, s, v, query)
	}
	return result, err
}

// A readOf is a tool that reads, and its program.
type readOf struct{ tool, program string }

// recordedReads returns one call for each tool and program by which the elements of recorded steps are found and checked, so
// that the person is asked about them with the steps.
func (l *admittedCalls) recordedReads(caller aai.Caller, steps []*Step, answers map[string]aai.Answer) (calls []*aai.Call) {
	add := func(tool string, args map[string]any) {
		of := readOf{tool, fmt.Sprint(args[targetParam])}
		if _, known := l.reads[of]; known || usesValues(args[targetParam]) {
			return
		}
		l.reads[of] = len(steps) + len(calls)
		call := &aai.Call{ID: aai.NewCallID(), Caller: caller, App: aai.DesktopApp, Tool: tool, Args: map[string]any{}, Answers: answers}
		for name, value := range args {
			if call.Args[name] = value; name != targetParam {
				call.Args[name] = aai.Placeholder{Label: "‹" + name + " of each step›", Key: name}
			}
		}
		calls = append(calls, call)
	}
	for _, s := range steps {
		if s.target == nil {
			continue
		}
		args := maps.Clone(s.args)
		maps.DeleteFunc(args, func(name string, _ any) bool { return name != targetParam && name != queryParam })
		args["target"] = s.target
		add(relocateTool, args)
		if s.doneCheck != nil && s.doneCheck.app == aai.DesktopApp {
			add(s.doneCheck.tool, s.doneCheck.args)
		}
	}
	return calls
}

// read makes an admitted call about a recorded element, or another call.
func (r *run) read(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	if r.admitted == nil { // a run that resumes looks before
		return r.do(ctx, call)
	}
	i, admitted := r.admitted.reads[readOf{call.Tool, fmt.Sprint(call.Args[targetParam])}]
	if !admitted || call.App != aai.DesktopApp {
		return r.do(ctx, call)
	}
	return r.admitted.admission.Repeat(ctx, i, func(h aai.Placeholder) (any, error) {
		name, _ := h.Key.(string)
		return call.Args[name], nil
	})
}

// relocate returns the query by which the element is found now, and its description if it has changed.
func (r *run) relocate(ctx context.Context, s *Step) (query, healed string, err error) {
	query, _ = s.args[queryParam].(string)
	args := map[string]any{queryParam: query, "target": s.target}
	if program, given := s.args[targetParam].(string); given {
		args[targetParam] = program
	}
	result, err := r.read(ctx, &aai.Call{Caller: r.call.Caller, App: s.App, Tool: relocateTool, Args: args})
	if err != nil {
		return query, "", err
	}
	value, err := aai.ToJSONValue(result.Data)
	if err != nil {
		return query, "", err
	}
	found, _ := value.(map[string]any)
	if isHealed, _ := found["healed"].(bool); isHealed {
		query, _ = found[queryParam].(string)
		healed, _ = found["element"].(string)
	}
	return query, healed, nil
}

// callHealed makes the call with another query.
func (r *run) callHealed(ctx context.Context, s *Step, v stepValues, query string) (*aai.Result, error) {
	value, err := v.resolve(s.args)
	if err != nil {
		return nil, unresolvedError(s, err)
	}
	args, _ := value.(map[string]any)
	args = maps.Clone(args)
	args[queryParam] = query
	return r.do(ctx, &aai.Call{Caller: r.call.Caller, App: s.App, Tool: s.Tool, Args: args})
}

// checkEffect waits until the check of a recorded step holds.
func (r *run) checkEffect(ctx context.Context, s *Step, v stepValues, query string) error {
	check := *s.doneCheck
	if was, given := s.args[queryParam].(string); given && check.args[queryParam] == was {
		check.args = maps.Clone(check.args)
		check.args[queryParam] = query
	}
	pause := checkPause
	for end := time.Now().Add(checkPatience); ; pause *= 2 {
		holds, err := check.wasDone(ctx, r, v)
		if holds || err != nil && aai.AsError(err).Code == aai.ConsentRequired {
			return err
		}
		if time.Now().After(end) || aai.Sleep(ctx, pause) != nil {
			break
		}
	}
	e := aai.Errorf(aai.AutomationFailed, "it was done, but not what it changed when it was recorded: expected %s", describeCheck(check))
	e.Delivery = aai.Delivered
	e.Hint = "Look at the window. If the step is right nevertheless, remove its check from the file."
	return e
}

// describeCheck describes the expected state, without values, which may be secret.
func describeCheck(c stepCheck) string {
	query, _ := c.args[queryParam].(string)
	expected, _ := c.args["assertions"].(map[string]any)
	for name, value := range expected {
		if is, ok := value.(bool); ok {
			return fmt.Sprintf("%s %t of %s", name, is, aai.CleanLabel(query, maxCallShown))
		}
		return fmt.Sprintf("the recorded %s of %s", name, aai.CleanLabel(query, maxCallShown))
	}
	return "its check to hold"
}

// describeTarget describes a recorded element.
func describeTarget(target map[string]any) string {
	role, _ := target["role"].(string)
	name, _ := target["name"].(string)
	return aai.CleanLabel(fmt.Sprintf("%s %q", role, name), maxCallShown)
}
