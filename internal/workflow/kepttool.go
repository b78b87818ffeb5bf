package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"aai"
	"aai/internal/schema"
)

// Time is how long a tool may take that runs a workflow, goes on with one, or takes it back.
const Time = toolTime

// Longest is the same as a task.
const Longest = longest

const (
	// maxCallsSaid is of how many calls of a workflow a person reads, and maxCallSaid how much of
	// each, in bytes; maxArgSaid is of one argument.
	maxCallsSaid = 12
	maxCallSaid  = 120
	maxArgSaid   = 40
)

// Tool is the document as a tool of its own: what it takes is what the document says.
func (c Config) Tool(name string, d *Document) *aai.Tool {
	params := d.Params
	if params.Source == nil {
		params = schema.MustParse(`{"type": "object", "properties": {}, "additionalProperties": false}`)
	}
	return &aai.Tool{
		Name: name, Title: d.Name, Description: d.Description, Params: params,
		Effect: aai.Destroys, Calls: true, Timeout: toolTime, Lasting: longest,
		// what is secret of it only the tools of its steps know, which have records of their own
		Secret: slices.Clone(params.Order), Private: true, Shown: true,
		Runs: strings.Join(d.callsWhat(), "; "),
		Run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			for _, param := range params.Order {
				aai.NotSecret(ctx, param)
			}
			given := call.Args
			if given == nil {
				given = map[string]any{}
			}
			return c.Perform(ctx, call, d, Start{Params: given, Asked: true})
		},
	}
}

// callsWhat are the calls that a document makes, in their order, as people know them.
func (d *Document) callsWhat() (all []string) {
	steps := d.calls(1)
	for i, s := range steps {
		if i == maxCallsSaid {
			return append(all, fmt.Sprintf("and %d more", len(steps)-i))
		}
		if s.Parallel == nil {
			all = append(all, fmt.Sprintf("%d. %s", i+1, s.inShort()))
		} else {
			all = append(all, fmt.Sprintf("%d. %s", i+1, s.what()))
		}
	}
	return all
}

// inShort is the call of a step for people: its app or program, its tool, and what stands in its
// arguments.
func (s *Step) inShort() string {
	where, args := s.App, s.args
	if program, named := args[targetParam]; named && s.App == aai.DesktopApp {
		switch v := program.(type) {
		case string:
			where = v
		case *template:
			where = v.taken(true)
		}
		args = maps.Clone(args)
		delete(args, targetParam)
	}
	said := aai.CleanLabel(where, maxArgSaid) + " " + aai.CleanLabel(s.Tool, maxName)
	for _, name := range slices.Sorted(maps.Keys(args)) {
		said += " " + aai.CleanLabel(name, maxName) + "=" + s.argInShort(name, args[name])
	}
	return aai.CleanLabel(said, maxCallSaid)
}

// argInShort is one argument. What may be secret to the tool is left out: which of it is, the
// tools of other apps say only when they are called, so of theirs no text is said.
func (s *Step) argInShort(name string, value any) string {
	seen := s.App == aai.DesktopApp && slices.Contains(seenArgs(), name)
	switch v := value.(type) {
	case *template:
		return v.taken(seen)
	case bool, float64, json.Number:
		if text, err := asText(v); err == nil && seen {
			return text
		}
	case string:
		if seen {
			return strconv.Quote(aai.CleanLabel(v, maxArgSaid))
		}
	}
	return unsaid
}

// unsaid stands for what is left out.
const unsaid = "…"

// taken is the template with the names of the values that it takes, and its text where that may
// be seen.
func (t *template) taken(seen bool) string {
	var b strings.Builder
	for _, p := range t.parts {
		switch {
		case p.ref != nil:
			b.WriteString("{{" + p.ref.String() + "}}")
		case seen:
			b.WriteString(p.text)
		default:
			b.WriteString(unsaid)
		}
	}
	return aai.CleanLabel(b.String(), maxArgSaid)
}

// seenArgs are the parameters of the desktop's tools that say where and how something is done;
// none is secret to any of them.
func seenArgs() []string {
	return []string{"query", "nth", "mode", "click_type", "action", "direction", "path"}
}

// Says is what the step calls, or one of the calls of a group, from 1.
func (s *Step) Says(part int) string {
	if s.Parallel != nil && part > 0 && part <= len(s.Parallel) {
		return s.Parallel[part-1].what()
	}
	return s.what()
}
