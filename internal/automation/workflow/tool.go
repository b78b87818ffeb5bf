package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Names of the tools that run a workflow.
const (
	DesktopToolName = "ax_workflow" // of the desktop
	BuiltinToolName = "workflow"    // builtin
)

// AgentTools returns the names of this package's builtin tools that agents may use, workflow and batch:
// each call that such a tool makes passes the gates.
func AgentTools() []string { return []string{BuiltinToolName, BatchToolName} }

// toolTime is the limit of the tools, including the time for a rollback.
const toolTime = lifetime + rollbackTime

// Guides truncate texts for models: 300 bytes of a tool, 200 of a parameter.
const (
	description = "Run several steps, approved once. Args use earlier results: {{step_1.title}}, {{name.field}}."
	ofAnyApp    = " Beside tool name its app; default: the desktop's."
	eachStep    = "Each {tool, args}, name, on_fail (abort|skip|rollback), retry, wait_after_ms, when {value, equals|contains|exists}, for_each (list; {{item}} in args), parallel: [steps], wait_for: {app, event, when}"
	params      = `{"type": "object", "additionalProperties": false, "required": ["steps"], "properties": {"name": {"type": "string"}, "app": {"type": "string", "description": "For steps without one"},
		"steps": {"type": "array", "minItems": 1, "items": {"type": "object"}, "description": "%s"},
		"full": {"type": "boolean", "description": "Return each step's result"}}}`
)

// DesktopTools returns the tools for the desktop's app: workflows of its own tools.
func (c Config) DesktopTools() []*aai.Tool {
	return []*aai.Tool{c.tool(DesktopToolName, true)}
}

// BuiltinTools returns the builtin tools: workflows of any app's tools, and batches.
func (c Config) BuiltinTools() []*aai.Tool {
	return []*aai.Tool{c.tool(BuiltinToolName, false), c.batch()}
}

func (c Config) tool(name string, windows bool) *aai.Tool {
	says := description
	if !windows {
		says += ofAnyApp
	}
	return &aai.Tool{
		Name: name, Title: "Run a workflow", Description: says,
		Params: schema.MustParse(fmt.Sprintf(params, eachStep)), Returns: aai.Schema{Source: json.RawMessage(`{"type": "object"}`)},
		Effect: aai.Destroys, Assess: aai.Always(aai.Assessment{EffectInherent: true, OnlyMakesCalls: true, ElementParams: []string{}}), Limits: aai.Limits{Timeout: toolTime, Background: taskLifetime},
		Privacy: aai.Privacy{Secret: hiddenArgs(), NonSecret: plainSteps, Result: true},
		Run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			reshow(ctx)
			d, err := ParseDocument(documentOf(call.Args), windows)
			if err != nil {
				return nil, err
			}
			return c.Execute(ctx, call, d, ResumePoint{})
		},
	}
}

// hiddenArgs lists the arguments that the outer call's record omits: only the steps' tools know
// their secrets, and each step has its own record.
func hiddenArgs() []string {
	names := []string{"steps"}
	for _, of := range []string{"args", "for_each", "when", "check", "wait_for"} {
		names = append(names, "steps."+of, "steps.parallel."+of)
	}
	return append(names, "calls.args")
}

// plainSteps returns "steps", which has no secrets outside of hiddenArgs. It returns nil if a step has
// unknown members, which may hold misnamed arguments.
func plainSteps(args map[string]any) []string {
	if hasOnlyKnownMembers(args["steps"], false) {
		return []string{"steps"}
	}
	return nil
}

// hasOnlyKnownMembers reports whether the steps have only known members.
func hasOnlyKnownMembers(steps any, within bool) bool {
	list, _ := steps.([]any)
	for _, one := range list {
		members, ok := one.(map[string]any)
		if !ok {
			return false
		}
		for name, value := range members {
			if !slices.Contains(membersOf(within), name) || name == "parallel" && !hasOnlyKnownMembers(value, true) {
				return false
			}
		}
	}
	return true
}

// reshow shows the hidden arguments to the caller, because the steps' texts are already redacted.
func reshow(ctx context.Context) {
	for _, name := range hiddenArgs() {
		gateway.MarkNotSecret(ctx, name)
	}
}

// documentOf returns the document in a call's arguments.
func documentOf(args map[string]any) map[string]any {
	d := map[string]any{}
	for name, value := range args {
		if name != "full" {
			d[name] = value
		}
	}
	return d
}
