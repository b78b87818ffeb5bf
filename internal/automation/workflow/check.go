package workflow

import (
	"context"
	"fmt"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/undo"
)

// stepCheck finds out whether an interrupted step was done: a call that only reads, and the result
// to expect then.
type stepCheck struct {
	app, tool string
	args      map[string]any
	equals    any // an object is compared by its listed members only
}

// check parses a check, such as {"tool": "volume", "equals": {"value": 0.5}}.
func (o *documentObject) check(value any, known names, windows bool) *stepCheck {
	members, ok := value.(map[string]any)
	if !ok {
		o.fail("check", `expected an object such as {"tool": "volume", "equals": {"value": 0.5}}`)
		return nil
	}
	in := &documentObject{place: o.place + ", check", members: members}
	c := &stepCheck{tool: in.text("tool", 200)}
	if c.tool == "" {
		in.fail("tool", "expected the name of a tool that reads")
	}
	args, ok := members["args"].(map[string]any)
	if given := members["args"]; given != nil && !ok {
		in.fail("args", "expected an object")
	}
	if c.args, _ = in.compile("args", args, known).(map[string]any); c.args == nil {
		c.args = map[string]any{}
	}
	c.app = appOf(in.text("app", 500), c.args, windows)
	equals, given := members["equals"]
	if !given {
		in.fail("equals", "expected the tool's result after the step is done")
	}
	c.equals = in.compile("equals", equals, known)
	in.done("app", "tool", "args", "equals")
	if o.fault == nil {
		o.fault = in.fault
	}
	return c
}

// wasDone reports whether the step was done. Its error explains why that is unknown.
func (c *stepCheck) wasDone(ctx context.Context, r *run, v stepValues) (bool, error) {
	args, err := v.resolve(c.args)
	if err != nil {
		return false, err
	}
	equals, err := v.resolve(c.equals)
	if err != nil {
		return false, err
	}
	object, err := r.validateCheck(ctx, c, args)
	if err != nil {
		return false, err
	}
	result, err := r.read(ctx, &aai.Call{Caller: r.call.Caller, App: c.app, Tool: c.tool, Args: object})
	if err != nil {
		return false, fmt.Errorf("its check failed: %w", err)
	}
	return undo.Matches(c.equals, equals, result.Data), nil
}

// validateCheck rejects a check with a missing tool, a tool that does more than read, or wrong
// arguments. It returns the arguments with the workflow's program.
func (r *run) validateCheck(ctx context.Context, c *stepCheck, args any) (map[string]any, error) {
	app, err := r.gateway.Catalog.Find(ctx, c.app)
	if err != nil {
		return nil, withSubject(aai.AsError(err), "check: ")
	}
	tool := app.Tool(c.tool)
	switch {
	case tool == nil:
		return nil, withSubject(aai.AsError(noTool(app, c.tool)), "check: ")
	case tool.Effect != aai.Reads:
		return nil,
			aai.Errorf(aai.InvalidParams, "check: %s of %s does more than read; expected a tool that only reads",
				aai.CleanLabel(c.tool, maxStepName), app.ID)
	}
	object, _ := placeholders(args).(map[string]any)
	r.doc.addProgram(tool, object)
	if tool.Params.Check != nil {
		if _, err := tool.Params.Check(object); err != nil {
			return nil, withSubject(aai.AsError(err), "check: ")
		}
	}
	return object, nil
}
