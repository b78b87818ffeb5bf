package undo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Names of the undo tools of the desktop app and the builtin app.
const (
	DesktopToolName = "ax_undo"
	BuiltinToolName = "undo"
)

// AgentTools lists the tools of the gateway's own app that agents may use.
func AgentTools() []string { return []string{BuiltinToolName} }

const (
	params = `{"type": "object", "additionalProperties": false, "properties": {
		"count": {"type": "integer", "minimum": 1, "maximum": 20, "default": 1, "description": "How many of the last acts"}}}`
	builtinParams = `{"type": "object", "additionalProperties": false, "properties": {
		"count": {"type": "integer", "minimum": 1, "maximum": 20, "default": 1, "description": "How many of the last acts"},
		"call": {"type": "string", "minLength": 1, "description": "Instead of count: only the call with this id"}}}`
	returns = `{"type": "object", "properties": {
		"undone": {"type": "integer"}, "partly": {"type": "integer"}, "skipped": {"type": "integer"}, "before": {"type": "string"},
		"actions": {"type": "array", "items": {"type": "object", "properties": {
			"tool": {"type": "string"}, "act": {"type": "string"}, "status": {"type": "string"}, "says": {"type": "string"}}}}}}`
	// timeout limits a call of the tool; each call that it makes has its own limit.
	timeout = 2 * time.Minute
)

// DesktopTool returns the tool that reverts the conversation's acts on windows. do makes its calls.
func (l *Log) DesktopTool(do DoFunc) *aai.Tool {
	return l.tool(DesktopToolName, params, "Undo the last acts on windows, where possible and nothing has changed since",
		do, (*Act).onDesktop)
}

// BuiltinTool returns the tool that reverts the conversation's acts on any app. do makes its calls.
func (l *Log) BuiltinTool(do DoFunc) *aai.Tool {
	return l.tool(BuiltinToolName, builtinParams,
		"Undo the last acts of this conversation with any app, where possible and nothing has changed since", do,
		func(*Act) bool { return true })
}

func (l *Log) tool(name, takes, description string, do DoFunc, meant func(*Act) bool) *aai.Tool {
	return &aai.Tool{
		Name: name, Title: "Undo", Description: description,
		Params: schema.MustParse(takes), Returns: aai.Schema{Source: json.RawMessage(returns)},
		// A restored value may be too private for the journal; the calls are recorded themselves.
		Effect: aai.Changes, Assess: aai.Always(aai.Assessment{EffectInherent: true, OnlyMakesCalls: true, Concurrency: aai.Shared}), Privacy: aai.Privacy{Result: true}, Limits: aai.Limits{Timeout: timeout},
		Run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return l.run(ctx, do, call, meant)
		},
	}
}

// run reverts acts and reports the outcome of each.
func (l *Log) run(ctx context.Context, do DoFunc, call *aai.Call, meant func(*Act) bool) (*aai.Result, error) {
	count := countOf(call)
	if id, _ := call.Args["call"].(string); id != "" {
		all := meant
		meant = func(a *Act) bool { return a.Call == id && all(a) } // at most one, regardless of count
	}
	taken, older, err := l.Revert(ctx, withAnswers(do, call.Answers), call.Caller, count, meant)
	if err != nil {
		return nil, err
	}
	undone, partly, actions, lines := 0, 0, []any{}, []string{}
	for _, one := range taken {
		switch one.Outcome.Status {
		case StatusUndone:
			undone++
		case StatusPartial:
			partly++
		}
		actions = append(actions, map[string]any{
			"tool": one.Act.Tool, "act": one.Act.String(), "status": string(one.Outcome.Status), "says": one.Outcome.Message,
		})
		lines = append(lines, fmt.Sprintf("%s: %s: %s", one.Outcome.Status, one.Act, one.Outcome.Message))
	}
	head := fmt.Sprintf("%d of %d undone", undone, len(taken))
	if partly > 0 {
		head += fmt.Sprintf(", %d partly", partly)
	}
	if len(taken) == 0 {
		head = "nothing is left to undo"
	}
	data := map[string]any{"undone": undone, "partly": partly, "skipped": len(taken) - undone - partly, "actions": actions}
	if undone+partly == 0 && older != nil {
		before := fmt.Sprintf("%s (count %d)", older, len(taken)+1)
		lines, data["before"] = append(lines, "Before: "+before), before
	}
	return &aai.Result{
		Text: strings.Join(append([]string{head}, lines...), "\n"),
		Data: data, DataComplete: true,
		NoOp: len(taken) == 0,
	}, nil
}

// countOf returns how many acts to revert.
func countOf(call *aai.Call) int {
	if n, ok := aai.WholeNumber(call.Args["count"]); ok {
		return n
	}
	return 1
}

// withAnswers makes a call first without the outer call's answers, and again with them if the call
// asks those questions. The answers belong to only one call, and its gates know which one.
func withAnswers(do DoFunc, answers map[string]aai.Answer) DoFunc {
	if len(answers) == 0 {
		return do
	}
	return func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		result, err := do(ctx, call)
		if err == nil {
			return result, nil
		}
		e := aai.AsError(err)
		for _, q := range e.Questions {
			if _, ok := answers[q.ID]; !ok {
				return nil, err
			}
		}
		if e.Code != aai.ConsentRequired || len(e.Questions) == 0 {
			return nil, err
		}
		again := *call
		again.Answers = answers
		return do(ctx, &again)
	}
}
