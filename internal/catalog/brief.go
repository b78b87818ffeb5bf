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

// Limits above which a guide shows each operation in one line.
const (
	maxGuide       = 4800 // bytes
	maxBriefChoice = 60   // bytes of the values of a parameter
	minShared      = 3    // operations with the same parameter, so that the guide describes it once
	maxSays        = 160  // bytes of a tool's description in a Brief
	maxTakes       = 200  // bytes of its parameters in a Brief
)

// GuideForTool returns the complete guide to one operation of the app, as Markdown and as the value of [GuideData].
// It returns "" and nil if the app lacks the operation.
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

// A Brief is a short description of a tool, for lists of tools of many apps.
type Brief struct {
	Parameters string // the tool's parameters, in brackets; ? marks optional ones
	Summary    string // its description, at most maxSays bytes; quoted if it comes from a descriptor
	// Example holds arguments that match the tool's schema; nil if none are known.
	Example json.RawMessage
}

// NewBrief returns the short description of a tool. It is safe for concurrent use.
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

// writeBrief writes one line for each operation: its parameters, the optional ones marked, and
// its description. The guide to a single operation has the rest.
func (g *guide) writeBrief(b *strings.Builder) {
	shared := g.sharedParams()
	fmt.Fprintf(b,
		"\nIn short: ? may be left out, = are the values. One of them in full: aai_exec({\"app\": %q, \"tool\": \"guide\", "+
			"\"args\": {\"app\": %s, \"tool\": %s}})\n",
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

// sharedParams returns, by name and description, the number of operations with that parameter.
func (g *guide) sharedParams() map[string]int {
	count := make(map[string]int)
	for i := range g.Operations {
		for _, p := range g.Operations[i].params {
			count[p.name+p.words()]++
		}
	}
	return count
}

// words returns the description of a parameter apart from its type.
func (p *param) words() string {
	words := p.description
	if p.choice != "" && len(p.choice) <= maxBriefChoice {
		words = strings.TrimSpace("= " + p.choice + ". " + words)
	}
	return words
}

// line writes an operation as one list item. It omits the descriptions of parameters that the guide shares.
func (o *operation) line(b *strings.Builder, shared map[string]int) {
	b.WriteString("- ")
	o.signature(b, shared)
	o.words(b)
	b.WriteString("\n")
}

// words writes the author's description of the operation, if there is one.
func (o *operation) words(b *strings.Builder) {
	if o.Description != "" {
		b.WriteString(": " + o.quote(o.Description, maxText))
	}
}

// signature writes the name of an operation and its parameters.
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

// exampleCall returns the arguments of aai_exec as one line of JSON.
func exampleCall(app, tool string, args json.RawMessage) string {
	return fmt.Sprintf(`{"app": %s, "tool": %s, "args": %s}`, strconv.Quote(app), strconv.Quote(tool), args)
}
