package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// How long a guide may be before its operations are told in a line each.
const (
	maxGuide       = 4800 // bytes
	maxBriefChoice = 60   // bytes of the values of a parameter
	minShared      = 3    // of how many operations a parameter is told once for all
	maxSays        = 160  // bytes of what a tool's author says, in a Brief
	maxTakes       = 200  // and of its parameters
)

// GuideForTool is the guide to one operation of the app, in full; "" where it has none of the name.
func GuideForTool(app *aai.App, tool string) (text string, data any) {
	t := app.Tool(tool)
	if t == nil {
		return "", nil
	}
	g, b := guideHead(app), new(strings.Builder)
	g.Operations = append(g.Operations, newOperation(t, g.quote))
	g.Operations[0].write(b, g.App.ID)
	return strings.TrimLeft(b.String(), "\n"), g
}

// A Brief is one tool in few words, for lists of tools of many apps.
type Brief struct {
	Parameters string // its parameters, in brackets; ? may be left out
	Summary    string // what its author says it does, at most maxSays bytes; a descriptor's words are quoted
	// Example is arguments that are right by its schema; nil if none are known.
	Example json.RawMessage
}

// NewBrief is the tool of the app in few words. Safe for concurrent use.
func NewBrief(app *aai.App, tool *aai.Tool) Brief {
	say := quoter(aai.CleanLabel)
	if app.Digest != "" {
		say = sanitize.Quote
	}
	o := newOperation(tool, say)
	brief := Brief{Example: o.Example}
	var b strings.Builder
	o.signature(&b, nil)
	brief.Parameters = aai.CleanLabel(strings.TrimPrefix(b.String(), o.Name), maxTakes)
	if words := cmp.Or(o.Description, o.Title); words != "" {
		brief.Summary = say(words, maxSays)
	}
	return brief
}

// writeBrief tells the operations in a line each: what they take, what of it may be left out,
// what they do. The rest is told by the guide to one of them.
func (g *guide) writeBrief(b *strings.Builder) {
	shared := g.sharedParams()
	fmt.Fprintf(b, "\nIn short: ? may be left out, = are the values. One of them in full: aai_exec({\"app\": %q, \"tool\": \"guide\", \"args\": {\"app\": %s, \"tool\": %s}})\n",
		aai.BuiltinApp, strconv.Quote(g.App.ID), strconv.Quote(g.Operations[0].Name))
	told := make(map[string]bool)
	for i := range g.Operations {
		for _, p := range g.Operations[i].params {
			if words := p.words(); shared[p.name+words] >= minShared && words != "" && !told[p.name] {
				if len(told) == 0 {
					b.WriteString("\n")
				}
				told[p.name] = true
				fmt.Fprintf(b, "- %s: %s\n", p.name, words)
			}
		}
	}
	for _, effect := range []aai.Effect{aai.Reads, aai.Changes, aai.Destroys} {
		first := true
		for i := range g.Operations {
			o := &g.Operations[i]
			if o.Effect != effect.String() {
				continue
			}
			if first {
				first = false
				fmt.Fprintf(b, "\n%s:\n", capital(effectWords(o.Effect)))
			}
			o.line(b, shared)
		}
	}
	for i := range g.Operations {
		if o := &g.Operations[i]; len(o.params) > 0 && o.Example != nil {
			fmt.Fprintf(b, "\nExample: aai_exec(%s)\n", sanitize.QuoteJSON(exampleCall(g.App.ID, o.Name, o.Example)))
			break
		}
	}
}

// sharedParams counts how many operations have a parameter with the same words.
func (g *guide) sharedParams() map[string]int {
	count := make(map[string]int)
	for i := range g.Operations {
		for _, p := range g.Operations[i].params {
			count[p.name+p.words()]++
		}
	}
	return count
}

// words are what is said of a parameter besides its type.
func (p *param) words() string {
	words := p.description
	if p.choice != "" && len(p.choice) <= maxBriefChoice {
		words = strings.TrimSpace("= " + p.choice + ". " + words)
	}
	return words
}

// line is an operation in a line.
func (o *operation) line(b *strings.Builder, shared map[string]int) {
	b.WriteString("- ")
	o.signature(b, shared)
	o.words(b)
	b.WriteString("\n")
}

// words are what the author says of it.
func (o *operation) words(b *strings.Builder) {
	if o.Description != "" {
		b.WriteString(": " + o.quote(o.Description, maxText))
	}
}

// signature is the name of an operation and what it takes.
func (o *operation) signature(b *strings.Builder, shared map[string]int) {
	b.WriteString(o.Name + "(")
	for i, p := range o.params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.name)
		if !p.required {
			b.WriteString("?")
		}
		if shared[p.name+p.words()] >= minShared && p.words() != "" {
			continue
		}
		switch {
		case p.choice != "" && len(p.choice) <= maxBriefChoice:
			b.WriteString(" = " + p.choice)
		case p.kind != "string":
			b.WriteString(" " + p.kind)
		}
	}
	b.WriteString(")")
	if o.omitted > 0 {
		b.WriteString(" and more")
	}
}

func capital(words string) string { return strings.ToUpper(words[:1]) + words[1:] }

// exampleCall is the arguments of aai_exec, as one line of JSON.
func exampleCall(app, tool string, args json.RawMessage) string {
	return fmt.Sprintf(`{"app": %s, "tool": %s, "args": %s}`, strconv.Quote(app), strconv.Quote(tool), args)
}
