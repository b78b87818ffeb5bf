package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// ToolTimeout limits a tool that runs, resumes or rolls back a workflow.
const ToolTimeout = toolTime

// TaskTimeout replaces ToolTimeout for a call that continues as a task.
const TaskTimeout = taskLifetime

const (
	// maxCallsShown is the number of a workflow's calls shown to the user; maxCallShown and
	// maxArgShown limit a call and an argument, in bytes.
	maxCallsShown = 12
	maxCallShown  = 120
	maxArgShown   = 40
)

// Tool returns the document as a tool with the document's parameters.
func (c Config) Tool(name string, d *Document) *aai.Tool {
	params := d.Params
	if params.Source == nil {
		params = schema.MustParse(`{"type": "object", "properties": {}, "additionalProperties": false}`)
	}
	return &aai.Tool{
		Name: name, Title: d.Name, Description: d.Description, Params: params,
		Effect: aai.Destroys, Assess: aai.Always(aai.Assessment{OnlyMakesCalls: true}), Limits: aai.Limits{Timeout: toolTime, Background: taskLifetime},
		// only the steps' tools know their secrets, and they have their own records
		Privacy:        aai.Privacy{Secret: slices.Clone(params.Order), Result: true, ShowSecrets: true},
		Implementation: aai.Implementation{Summary: strings.Join(d.describeCalls(), "; ")},
		Run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			for _, param := range params.Order {
				gateway.MarkNotSecret(ctx, param)
			}
			given := call.Args
			if given == nil {
				given = map[string]any{}
			}
			return c.Execute(ctx, call, d, ResumePoint{Params: given, CallAsked: true})
		},
	}
}

// describeCalls describes the calls of a document in order, for display.
func (d *Document) describeCalls() (all []string) {
	steps := d.calls(1)
	for i, s := range steps {
		if i == maxCallsShown {
			return append(all, fmt.Sprintf("and %d more", len(steps)-i))
		}
		if s.Parallel == nil {
			all = append(all, fmt.Sprintf("%d. %s", i+1, s.inShort()))
		} else {
			all = append(all, fmt.Sprintf("%d. %s", i+1, s.summary()))
		}
	}
	return all
}

// inShort describes the call of a step for display: its app or program, its tool and its
// arguments.
func (s *Step) inShort() string {
	where, args := s.App, s.args
	if program, named := args[targetParam]; named && s.App == aai.DesktopApp {
		switch v := program.(type) {
		case string:
			where = v
		case *template:
			where = v.valueNames(true)
		}
		args = maps.Clone(args)
		delete(args, targetParam)
	}
	said := aai.CleanLabel(where, maxArgShown) + " " + aai.CleanLabel(s.Tool, maxStepName)
	for _, name := range slices.Sorted(maps.Keys(args)) {
		said += " " + aai.CleanLabel(name, maxStepName) + "=" + s.argInShort(name, args[name])
	}
	return aai.CleanLabel(said, maxCallShown)
}

// argInShort describes one argument and omits possible secrets. Other apps declare their secrets
// only when called, so their texts are omitted.
func (s *Step) argInShort(name string, value any) string {
	seen := s.App == aai.DesktopApp && slices.Contains(seenArgs(), name)
	switch v := value.(type) {
	case *template:
		return v.valueNames(seen)
	case bool, float64, json.Number:
		if text, err := asText(v); err == nil && seen {
			return text
		}
	case string:
		if seen {
			return strconv.Quote(aai.CleanLabel(v, maxArgShown))
		}
	}
	return omittedMark
}

// omittedMark replaces omitted text.
const omittedMark = "…"

// valueNames formats the template with its references as {{name}}. Its literal text, which may be
// secret, is part of the result only if seen; otherwise omittedMark replaces it.
func (t *template) valueNames(seen bool) string {
	var b strings.Builder
	for _, p := range t.parts {
		switch {
		case p.ref != nil:
			b.WriteString("{{" + p.ref.String() + "}}")
		case seen:
			b.WriteString(p.text)
		default:
			b.WriteString(omittedMark)
		}
	}
	return aai.CleanLabel(b.String(), maxArgShown)
}

// seenArgs are the desktop tools' parameters for the place and the manner of an action; none is
// secret to any of them.
func seenArgs() []string {
	return []string{"query", "nth", "mode", "click_type", "action", "direction", "path"}
}

// Describe returns the tool of the step, or for a group the number of its calls. A part from 1 on
// selects the tool of one call of a group.
func (s *Step) Describe(part int) string {
	if s.Parallel != nil && part > 0 && part <= len(s.Parallel) {
		return s.Parallel[part-1].summary()
	}
	return s.summary()
}
