package catalog

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gybob/aai-gateway"
)

// scriptIn returns a reader of tools that are scripts for macOS.
func scriptIn(language string) sectionReader {
	return func(p *parser, _ *section, _ *members) toolReader {
		return func(tool *members, r *aai.Recipe) {
			script := tool.must("a macOS tool needs a script", "script")
			p.placeholders(tool.pathOf("script"), script, r)
			r.Script = &aai.ScriptRecipe{Language: language, Script: script}
		}
	}
}

// programMeans returns the names by which a recipe runs any program, such as a class of COM or a command of AppleScript.
func programMeans(r *aai.Recipe) []string {
	switch {
	case r.COM != nil:
		return r.COM.ProgramClasses()
	case r.Script != nil:
		return r.Script.ProgramCommands()
	}
	return nil
}

// warnOfPrograms returns the beginning of a description, because long text is cut at the end.
func warnOfPrograms(r *aai.Recipe) string {
	if means := programMeans(r); len(means) > 0 {
		return "can run any program, by " + strings.Join(means, ", ") + "; "
	}
	return ""
}

// placeholders checks that every ${param} in a template names a parameter of the tool.
func (p *parser) placeholders(path, template string, r *aai.Recipe) {
	p.braced(path, template, "${", r)
}

func (p *parser) braced(path, template, opening string, r *aai.Recipe, vars ...string) {
	rest := template
	for {
		_, after, found := strings.Cut(rest, opening)
		if !found {
			return
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			p.fault(path, "has %q without \"}\"", opening)
			return
		}
		if !p.declares(r, name) && !slices.Contains(vars, name) {
			p.fault(path, "has %s, which names no parameter; %s",
				aai.CleanLabel(opening+name+"}", maxName), parametersOf(r))
			return
		}
		rest = tail
	}
}

// declares reports whether the tool has the parameter. It keeps the names of the current tool in
// a set, because a template may use very many.
func (p *parser) declares(r *aai.Recipe, name string) bool {
	if p.paramSetOf != r {
		p.paramSetOf, p.paramSet = r, make(map[string]bool, len(r.Params))
		for _, declared := range r.Params {
			p.paramSet[declared] = true
		}
	}
	return p.paramSet[name]
}

// maxShown limits the parameters listed in a message.
const maxShown = 10

func parametersOf(r *aai.Recipe) string {
	if len(r.Params) == 0 {
		return "the tool declares none"
	}
	names := make([]string, 0, maxShown)
	for _, name := range r.Params[:min(len(r.Params), maxShown)] {
		names = append(names, aai.CleanLabel(name, maxName))
	}
	return "expected " + oneOf(names)
}

// template returns a value as compact JSON, after checking every ${param} in its strings. The name may also be one of vars.
func (p *parser) template(n *node, r *aai.Recipe, vars ...string) json.RawMessage {
	p.templateStrings(n, r, vars)
	value := jsontext.Value(n.JSON())
	if n.First == nil {
		return json.RawMessage(value)
	}
	value = value.Clone()
	if err := value.Compact(); err != nil {
		return n.JSON()
	}
	return json.RawMessage(value)
}

func (p *parser) templateStrings(n *node, r *aai.Recipe, vars []string) {
	if n.Kind == text {
		p.braced(n.Path(), n.Text, "${", r, vars...)
	}
	for c := n.First; c != nil; c = c.Next {
		p.templateStrings(c, r, vars)
	}
}
