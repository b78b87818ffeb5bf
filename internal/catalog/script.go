package catalog

import (
	"encoding/json"
	"fmt"
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

// placeholders checks that every ${param} in a template names a parameter of the tool.
func (p *parser) placeholders(path, template string, r *aai.Recipe) {
	p.braced(path, template, "${", r)
}

func (p *parser) braced(path, template, opening string, r *aai.Recipe) {
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
		if !p.declares(r, name) {
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

// comToolReader reads tools that are lists of steps on COM objects.
func (p *parser) comToolReader(s *section, m *members) toolReader {
	progID := p.progID(m)
	s.ProgID = progID
	return func(tool *members, r *aai.Recipe) { p.comTool(progID, tool, r) }
}

func (p *parser) comTool(progID string, tool *members, r *aai.Recipe) {
	r.COM = &aai.COMRecipe{ProgID: progID}
	n := tool.take("script")
	switch {
	case n == nil:
		p.fault(tool.pathOf("script"), "missing; a COM tool needs a list of steps")
		return
	case n.Kind != list:
		p.fault(n.Path(), "is %s; expected a list of steps", n.KindName())
		return
	case n.First == nil:
		p.fault(n.Path(), "empty; expected at least one step")
	}
	var vars []string
	for c := n.First; c != nil; c = c.Next {
		m := p.members(c, " that describes a step")
		s := p.comStep(m, r, vars)
		r.COM.Steps = append(r.COM.Steps, s)
		if s.Var != "" {
			vars = append(vars, s.Var)
		}
		m.unknown()
	}
}

// comOrEnvelope reads tools of execution type "com": a tool with a script runs its steps; other
// tools use the protocol's envelope.
func (p *parser) comOrEnvelope(s *section, m *members) toolReader {
	progID := p.progID(m)
	s.ProgID = progID
	return func(tool *members, r *aai.Recipe) {
		if tool.has("script") {
			p.comTool(progID, tool, r)
			return
		}
		r.IPC = &aai.IPCRecipe{ProgID: progID}
	}
}

func describeCOM(r *aai.Recipe) string {
	words := make([]string, len(r.COM.Steps))
	for i, s := range r.COM.Steps {
		words[i] = strings.Join(strings.Fields(s.Action+" "+s.ProgID+" "+s.Method+" "+s.Property), " ")
	}
	return strings.TrimSpace("COM " + r.COM.ProgID + " " + strings.Join(words, ", "))
}

func comTexts(r *aai.Recipe) []string {
	var texts []string
	for _, s := range r.COM.Steps {
		texts = append(texts, string(s.Value))
		for _, arg := range s.Args {
			texts = append(texts, string(arg))
		}
	}
	return texts
}

func (p *parser) progID(m *members) string {
	const expected = `expected a ProgID such as "Outlook.Application"`
	id := m.text("progid", "prog_id")
	for i := range len(id) {
		if c := id[i]; c != '.' && c != '_' && c != '-' && !letter(c) && !digit(c) {
			p.fault(m.pathOf("progid", "prog_id"), "is %q; %s", aai.CleanLabel(id, maxName), expected)
			return ""
		}
	}
	return id
}

// comStep reads one step. Its action determines the required fields.
func (p *parser) comStep(m *members, r *aai.Recipe, vars []string) aai.COMStep {
	actions := []string{"create", "call", "set", "get", "return"}
	s := aai.COMStep{Action: m.word("action", actions...)}
	if s.Action == "" {
		if m.node.Member("action") == nil {
			p.fault(m.pathOf("action"), "missing; expected %s", oneOf(actions))
		}
		markAllUsed(m.node)
		return s
	}
	need := func(name string) string {
		return m.must(fmt.Sprintf("a %q step needs it", s.Action), name)
	}
	switch s.Action {
	case "create":
		s.Var = need("var")
		if s.ProgID = p.progID(m); s.ProgID == "" && !m.has("progid", "prog_id") {
			p.fault(m.pathOf("progid", "prog_id"), "missing; a \"create\" step needs it")
		}
		return s
	case "return":
		s.Value = p.comValue(m, r, true)
		return s
	}
	s.Object = need("object")
	if s.Object != "" && !slices.Contains(vars, s.Object) {
		p.fault(m.pathOf("object"), "is %q, which no earlier step has as its \"var\"", aai.CleanLabel(s.Object, maxName))
	}
	switch s.Action {
	case "call":
		s.Method, s.Var = need("method"), m.text("var")
		s.Args = p.comArgs(m, r)
	case "set":
		s.Property, s.Value = need("property"), p.comValue(m, r, true)
	case "get":
		s.Property, s.Var = need("property"), m.text("var")
	}
	return s
}

// markAllUsed marks every member as used, so that no warnings follow.
func markAllUsed(n *node) {
	for c := n.First; c != nil; c = c.Next {
		c.Mark = true
	}
}

func (p *parser) comValue(m *members, r *aai.Recipe, needed bool) json.RawMessage {
	n := m.node.Member("value")
	m.requested = append(m.requested, "value")
	if n == nil {
		if needed {
			p.fault(m.pathOf("value"), "missing; this step needs it")
		}
		return nil
	}
	n.Mark = true // null is a value here
	return p.template(n, r)
}

func (p *parser) comArgs(m *members, r *aai.Recipe) []json.RawMessage {
	n := m.take("args")
	if n == nil {
		return nil
	}
	if n.Kind != list {
		p.fault(n.Path(), "is %s; expected a list of arguments", n.KindName())
		return nil
	}
	var args []json.RawMessage
	for c := n.First; c != nil; c = c.Next {
		args = append(args, p.template(c, r))
	}
	return args
}

// template returns a value as compact JSON, after checking every ${param} in its strings.
func (p *parser) template(n *node, r *aai.Recipe) json.RawMessage {
	p.templateStrings(n, r)
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

func (p *parser) templateStrings(n *node, r *aai.Recipe) {
	if n.Kind == text {
		p.placeholders(n.Path(), n.Text, r)
	}
	for c := n.First; c != nil; c = c.Next {
		p.templateStrings(c, r)
	}
}
