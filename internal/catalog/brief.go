package catalog

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"aai"
	"aai/internal/hygiene"
)

// How long a guide may be before its operations are told in a line each.
const (
	maxGuide       = 4800 // bytes
	maxBriefChoice = 60   // bytes of the values of a parameter
	minShared      = 3    // of how many operations a parameter is told once for all
)

// GuideTo is the guide to one operation of the app, in full; "" where it has none of the name.
func GuideTo(app *aai.App, tool string) (text string, data any) {
	g := newGuide(app)
	for i := range g.Operations {
		if o := g.Operations[i]; o.Name == tool {
			var b strings.Builder
			o.write(&b, g.App.ID)
			g.Operations = g.Operations[i : i+1]
			return strings.TrimLeft(b.String(), "\n"), g
		}
	}
	return "", nil
}

// briefly tells the operations in a line each: what they take, what of it may be left out,
// what they do. The rest is told by the guide to one of them.
func (g *guide) briefly(b *strings.Builder) {
	shared := g.shared()
	fmt.Fprintf(b, "\nIn short: ? may be left out, = are the values. One of them in full: aai_exec({\"app\": %q, \"tool\": \"guide\", \"args\": {\"app\": %s, \"tool\": %s}})\n",
		aai.OwnApp, strconv.Quote(g.App.ID), strconv.Quote(g.Operations[0].Name))
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
			fmt.Fprintf(b, "\nExample: aai_exec(%s)\n", hygiene.QuoteJSON(exampleCall(g.App.ID, o.Name, o.Example)))
			break
		}
	}
}

// shared counts how many operations have a parameter with the same words.
func (g *guide) shared() map[string]int {
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
	fmt.Fprintf(b, "- %s(", o.Name)
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
	if words := o.Description; words != "" {
		b.WriteString(": " + o.say(words, maxText))
	}
	b.WriteString("\n")
}

func capital(words string) string { return strings.ToUpper(words[:1]) + words[1:] }

// exampleCall is the arguments of aai_exec, as one line of JSON.
func exampleCall(app, tool string, args json.RawMessage) string {
	return fmt.Sprintf(`{"app": %s, "tool": %s, "args": %s}`, strconv.Quote(app), strconv.Quote(tool), args)
}
