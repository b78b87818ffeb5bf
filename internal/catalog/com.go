package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

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
	var vars []string // of earlier steps
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
	return warnOfPrograms(r) + strings.TrimSpace("COM "+r.COM.ProgID+" "+strings.Join(words, ", "))
}

func comTexts(r *aai.Recipe) []string {
	var texts []string
	for _, s := range r.COM.Steps {
		texts = append(texts, string(s.Value))
		for _, arg := range s.Args {
			texts = append(texts, string(arg))
		}
		for _, name := range slices.Sorted(maps.Keys(s.Named)) {
			texts = append(texts, string(s.Named[name]))
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

// maxProperties limits the properties that a step reads of an object.
const maxProperties = 50

// comStep reads one step. Its action determines the required fields.
func (p *parser) comStep(m *members, r *aai.Recipe, vars []string) aai.COMStep {
	actions := []string{"create", "call", "set", "get", "list", "return"}
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
		running := m.flag("running")
		s.Running = running != nil && *running
		return s
	case "return":
		s.Value = p.comValue(m, r, vars)
		return s
	}
	s.Object = need("object")
	if s.Object != "" && !slices.Contains(vars, s.Object) {
		p.fault(m.pathOf("object"), "is %q, which no earlier step has as its \"var\"", aai.CleanLabel(s.Object, maxName))
	}
	switch s.Action {
	case "call":
		s.Method, s.Var = need("method"), m.text("var")
		s.Args, s.Named = p.comArgs(m, r, vars), p.comNamed(m, r, vars)
	case "set":
		s.Property, s.Value = need("property"), p.comValue(m, r, vars)
		s.Args = p.comArgs(m, r, vars)
	case "get":
		s.Properties, s.Var = m.texts("properties", maxProperties), m.text("var")
		if len(s.Properties) == 0 {
			s.Property = need("property")
		}
		s.Args = p.comArgs(m, r, vars)
	case "list":
		s.Var, s.Properties = m.text("var"), m.texts("properties", maxProperties)
	}
	return s
}

// markAllUsed marks every member as used, so that no warnings follow.
func markAllUsed(n *node) {
	for c := n.First; c != nil; c = c.Next {
		c.Mark = true
	}
}

func (p *parser) comValue(m *members, r *aai.Recipe, vars []string) json.RawMessage {
	n := m.node.Member("value")
	m.requested = append(m.requested, "value")
	if n == nil {
		p.fault(m.pathOf("value"), "missing; this step needs it")
		return nil
	}
	n.Mark = true // null is a value here
	return p.template(n, r, vars...)
}

// comNamed reads the arguments that have names.
func (p *parser) comNamed(m *members, r *aai.Recipe, vars []string) map[string]json.RawMessage {
	n := m.take("named")
	switch {
	case n == nil:
		return nil
	case n.Kind != object:
		p.fault(n.Path(), "is %s; expected an object of arguments by their names", n.KindName())
		return nil
	}
	named := map[string]json.RawMessage{}
	for c := n.First; c != nil; c = c.Next {
		c.Mark = true
		named[c.Name] = p.template(c, r, vars...)
	}
	return named
}

// comArgs reads a list of arguments.
func (p *parser) comArgs(m *members, r *aai.Recipe, vars []string) []json.RawMessage {
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
		args = append(args, p.template(c, r, vars...))
	}
	return args
}
