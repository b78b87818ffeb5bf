package workflow

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// admittedCalls is the admission of a workflow's calls, before its first step.
type admittedCalls struct {
	admission *gateway.Admission
	index     map[*Step]int
	reads     map[readOf]int // the calls about the elements of recorded steps
}

// calls returns the steps from step first on that make calls, including those of groups.
func (d *Document) calls(first int) (all []*Step) {
	for _, s := range d.Steps[first-1:] {
		if s.Parallel == nil && s.showAgain == "" {
			all = append(all, s)
		}
		all = append(all, s.Parallel...)
	}
	return all
}

// resolve finds the tools of all steps, and checks the known arguments.
func (r *run) resolve(ctx context.Context) error {
	for _, s := range r.doc.calls(1) {
		r.resolveWait(ctx, s)
		app, err := r.gateway.Catalog.Find(ctx, s.App)
		if err != nil {
			return stepError(s, err)
		}
		s.App = app.ID
		if s.tool = app.Tool(s.Tool); s.tool == nil {
			return stepError(s, noTool(app, s.Tool))
		}
		if s.tool.Assessment(nil).OnlyMakesCalls {
			return documentError(s.Label, "tool", s.Tool+" makes other calls, so it cannot be a step")
		}
		r.doc.addProgram(s.tool, s.args)
		if err := s.check(); err != nil {
			return stepError(s, err)
		}
		if s.doneCheck == nil {
			continue
		}
		if _, err := r.validateCheck(ctx, s.doneCheck, s.doneCheck.args); err != nil {
			return stepError(s, err)
		}
	}
	return nil
}

// addProgram adds the document's program to the arguments of a tool that has the parameter, unless
// they name one.
func (d *Document) addProgram(tool *aai.Tool, args map[string]any) {
	if _, given := args[targetParam]; !given && d.program != "" && slices.Contains(tool.Params.Order, targetParam) {
		args[targetParam] = d.program
	}
}

// check checks the arguments as far as they are known.
func (s *Step) check() error {
	if param := s.tool.Target; param != "" && usesValues(s.args[param]) {
		return aai.Errorf(aai.InvalidParams, "args.%s: "+unknownApp, param)
	}
	if s.tool.Params.Check == nil {
		return nil
	}
	list, _ := s.forEach.([]any)
	for i, item := range list {
		if usesValues(item) {
			continue
		}
		args, err := stepValues{itemName: item}.resolveKnown(s.args)
		if err != nil {
			return unresolvedError(s, fmt.Errorf("value %d of %d: %w", i+1, len(list), err))
		}
		if _, err := s.tool.Params.Check(placeholders(args)); err != nil {
			return withSubject(aai.AsError(err), fmt.Sprintf("value %d of %d: ", i+1, len(list)))
		}
	}
	_, err := s.tool.Params.Check(placeholders(s.args))
	return err
}

// stepError returns the error of a step before any step ran.
func stepError(s *Step, err error) error {
	e := *aai.AsError(err)
	e.Message = fmt.Sprintf("%s (%s): %s; nothing was run", s.Label, s.summary(), e.Message)
	e.Delivery = aai.NotDelivered
	return &e
}

func noTool(app *aai.App, name string) error {
	names := make([]string, len(app.Tools))
	for i, t := range app.Tools {
		names[i] = t.Name
	}
	e := aai.Errorf(aai.ToolNotFound, "%s has no tool %q", app.ID, aai.CleanLabel(name, maxStepName))
	e.Candidates = aai.Nearest(name, names, 5)
	return e
}

// usesValues reports whether a compiled value contains templates.
func usesValues(value any) (does bool) {
	_, _ = mapTemplates(value, func(t *template) (any, error) { does = true; return t, nil })
	return does
}

// admitResumed is admit for a call that may have had its own consent question. The answers of the
// door then belong to that question or to one about the steps. Only trying can tell which.
func (r *run) admitResumed(ctx context.Context, from ResumePoint) (*admittedCalls, error) {
	first, answers := max(1, from.Step), maps.Clone(r.call.Answers)
	// those belong to the outer call
	maps.DeleteFunc(answers, func(_ string, a aai.Answer) bool { return a.Channel == aai.DesktopDialog })
	if !from.CallAsked || len(answers) == 0 {
		return r.admit(ctx, first, answers)
	}
	l, asks := r.admit(ctx, first, nil)
	if asks == nil || len(aai.AsError(asks).Questions) == 0 {
		return l, asks
	}
	l, err := r.admit(ctx, first, answers)
	if err != nil && aai.AsError(err).Code == aai.ConsentRequired {
		return nil, asks
	}
	return l, err
}

// admit admits all calls from step first on, in one round.
func (r *run) admit(ctx context.Context, first int, answers map[string]aai.Answer) (*admittedCalls, error) {
	l := &admittedCalls{index: map[*Step]int{}, reads: map[readOf]int{}}
	steps := r.doc.calls(first)
	calls := make([]*aai.Call, len(steps))
	for i, s := range steps {
		l.index[s] = i
		args, _ := placeholders(s.args).(map[string]any)
		calls[i] = &aai.Call{ID: aai.NewCallID(), Caller: r.call.Caller, App: s.App, Tool: s.Tool, Args: args,
			Answers: answers}
		if s.forEach != nil {
			calls[i].RepeatOver = describeList(s.forEach)
		}
	}
	calls = append(calls, l.recordedReads(r.call.Caller, steps, answers)...)
	var err error
	if l.admission, err = r.gateway.Admit(ctx, calls...); err == nil {
		return l, nil
	}
	e := *aai.AsError(err)
	for i, s := range steps {
		if calls[i].ID == e.Call {
			return nil, stepError(s, err)
		}
	}
	e.Message += "; nothing was run"
	e.Delivery = aai.NotDelivered
	return nil, &e
}

// run makes the call of a step with the values of earlier steps. It can be repeated.
func (l *admittedCalls) run(ctx context.Context, s *Step, v stepValues) (*aai.Result, error) {
	most := maxMade
	return l.admission.Repeat(ctx, l.index[s], func(h aai.Placeholder) (any, error) {
		t, ok := h.Key.(*template)
		if !ok {
			return nil, aai.Errorf(aai.Internal, "a placeholder does not belong to the workflow")
		}
		value, err := v.resolveTemplate(t, &most)
		if err != nil {
			return nil, unresolvedError(s, err)
		}
		return value, nil
	})
}

// undo makes a call that undoes the step.
func (l *admittedCalls) undo(ctx context.Context, s *Step, call *aai.Call) (*aai.Result, error) {
	return l.admission.RunUndo(ctx, l.index[s], call)
}

func (l *admittedCalls) release() { l.admission.Release() }

// placeholders replaces the templates of a compiled value with placeholders, for admission.
func placeholders(value any) any {
	admitted, _ := mapTemplates(value, func(t *template) (any, error) {
		return aai.Placeholder{Label: t.describe(),
			Key: t}, nil
	})
	return admitted
}
