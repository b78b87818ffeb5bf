package catalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// maxTools limits the tools of one section.
const maxTools = 2_000

func (p *parser) maxTools() int {
	if p.o.Origin != "" {
		return maxForeignTools
	}
	return maxTools
}

// A toolReader reads the implementation of a tool on its platform. It was created with the common
// settings of the section.
type toolReader func(tool *members, r *aai.Recipe)

// readTools reads a list of tools into the section.
func (p *parser) readTools(s *section, run toolReader) {
	m := s.outer
	n := m.take("tools")
	switch {
	case s.fromServer && (n == nil || n.Kind == list && n.First == nil):
		return
	case n == nil:
		p.fault(m.pathOf("tools"), "missing; expected a list of tools")
		return
	case n.Kind != list:
		p.fault(n.Path(), "is %s; expected a list of tools", n.KindName())
		return
	case n.First == nil:
		p.warn(n.Path(), "empty; the app has no tools on %s", s.Platform)
	case n.Count() > p.maxTools():
		p.fault(n.Path(), "has %d tools; expected at most %d", n.Count(), p.maxTools())
		return
	}
	count := n.Count()
	s.Tools, s.nodes = make([]ToolDeclaration, 0, count), make([]*node, 0, count)
	seen := make(map[string]*members, count)
	for c := n.First; c != nil; c = c.Next {
		tool := p.members(c, " that describes a tool")
		p.readTool(s, tool, run, seen)
	}
	p.checkUndos(s)
}

func (p *parser) readTool(s *section, m *members, run toolReader, seen map[string]*members) {
	d := ToolDeclaration{Name: p.toolName(m, seen)}
	d.Title = aai.CleanLabel(m.text("title"), maxName)
	d.Description = aai.CleanText(m.text("description"), maxText)
	d.Group = aai.CleanLabel(m.text("group"), maxName)
	if d.Description == "" {
		p.warn(m.pathOf("description"), "missing; agents choose tools by it")
	}
	params := p.parameters(m)
	d.Params, d.Returns = params.Schema.Source, p.returns(m)
	d.Timeout, d.Undo = m.timeout(timeUnit(s.Platform)), p.readUndo(m)

	d.Recipe = &aai.Recipe{App: p.doc.ID, Tool: d.Name, Platform: s.Platform, Params: params.Schema.Order}
	d.Recipe.OutputParser = p.outputParser(m, s.Platform)
	claim, title := p.claimedEffect(m)
	d.Effect, d.Title = claim, cmp.Or(d.Title, title)
	if n := m.take("execution"); n != nil {
		m.fallback = p.members(n, "")
	}
	run(m, d.Recipe)
	if claim != nil && *claim != aai.Destroys {
		if means := programMeans(d.Recipe); len(means) > 0 {
			p.fault(m.pathOf("effect"), "is %q; %s can run any program, so expected \"destroys\"", claim.String(), means[0])
		}
	}
	d.Recipe.Reversible = len(params.SecretNames) == 0 && usesParams(d.Recipe)
	k := kindOf(p.kinds, d.Recipe)
	d.Recipe.Kind = k.name
	if p.effect(d.Effect, k.inherentEffect(d.Recipe)) == aai.Reads {
		d.Recipe.Start = "" // checking an app that does not run must not start it
	}
	m.unknown()
	s.Tools, s.nodes = append(s.Tools, d), append(s.nodes, m.node)
}

// tool builds the app's tool from its declaration, without an Action.
func (p *parser) tool(s *section, d *ToolDeclaration) *aai.Tool {
	k := kindOf(p.kinds, d.Recipe)
	natural := k.inherentEffect(d.Recipe)
	effect := p.effect(d.Effect, natural)
	tool := &aai.Tool{
		Name: d.Name, Title: d.Title, Description: d.Description, Group: d.Group, Effect: effect,
		Assess: p.withFiles(d.Recipe, usualAssessment{isInherent: effect == natural, kind: k.limitKind, mayStart: d.Recipe.Start != ""}),
		Limits: aai.Limits{Timeout: cmp.Or(d.Timeout, p.usualTimeout(s.Platform))},
	}
	params, returns := p.schemaFacts(d.Params), p.schemaFacts(d.Returns)
	tool.Params, tool.Privacy.Secret = params.Schema, params.SecretNames
	if r := d.Recipe; r.DBus != nil || r.COM != nil || r.Script != nil || r.URL != nil {
		tool.Params = closed(tool.Params)
	}
	tool.Returns, tool.Privacy.Result = returns.Schema, len(returns.SecretNames) > 0
	return tool
}

// closed returns the schema with a Check that rejects undeclared parameters, even if the schema
// allows them: a call of D-Bus or COM, a script and a URL have no place for such a value.
func closed(s aai.Schema) aai.Schema {
	check := s.Check
	if check == nil {
		return s
	}
	s.Check = func(value any) (any, error) {
		checked, err := check(value)
		if err != nil {
			return nil, err
		}
		args, _ := value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(args)) {
			if !slices.Contains(s.Order, name) {
				return nil, aai.Errorf(aai.InvalidParams, "unexpected parameter %q", aai.CleanLabel(name, maxName))
			}
		}
		return checked, nil
	}
	return s
}

// schemaFacts returns the facts about a schema that was read, or none.
func (p *parser) schemaFacts(source json.RawMessage) schema.Facts { return p.schemas[string(source)] }

// toolName reads a name of letters, digits, "_", "." and "-", up to 64.
func (p *parser) toolName(m *members, seen map[string]*members) string {
	const expected = `expected a name such as "send_email"`
	name := m.must(expected, "name")
	if name == "" {
		return ""
	}
	if !validToolName(name) {
		p.fault(m.pathOf("name"), "is %q; %s: letters, digits, \"_\", \".\" and \"-\", at most 64", aai.CleanLabel(name, maxName), expected)
		return ""
	}
	if first, taken := seen[name]; taken {
		p.fault(m.pathOf("name"), "is %q, as is %s; expected names that differ", name, first.pathOf("name"))
	}
	seen[name] = m
	return name
}

func validToolName(name string) bool {
	if len(name) > 64 || name[0] != '_' && !letter(name[0]) {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c != '_' && c != '.' && c != '-' && !letter(c) && !digit(c) {
			return false
		}
	}
	return true
}

// parameters reads the schema of the arguments, which are always an object.
func (p *parser) parameters(m *members) (none schema.Facts) {
	n := m.take("parameters")
	if n == nil {
		p.warn(m.pathOf("parameters"), "missing; the tool takes no parameters")
		return none
	}
	if n.Kind != object {
		p.fault(n.Path(), "is %s; expected a JSON Schema of an object", n.KindName())
		return none
	}
	facts, err := p.schema(n.Raw())
	if err != nil {
		p.schemaFault(n.Path(), err)
		return none
	}
	if facts.Type != "" && facts.Type != `"object"` {
		p.fault(n.Path()+".type", "is %s; expected \"object\", since arguments have names", facts.Type)
		return none
	}
	return facts
}

// returns reads the schema of a tool's result; nil: none.
func (p *parser) returns(m *members) json.RawMessage {
	n := m.take("returns")
	if n == nil {
		return nil
	}
	if n.Kind != object {
		p.fault(n.Path(), "is %s; expected a JSON Schema", n.KindName())
		return nil
	}
	facts, err := p.schema(n.Raw())
	if err != nil {
		p.schemaFault(n.Path(), err)
		return nil
	}
	return facts.Schema.Source
}

// schema reads each distinct schema once: many tools of an app have the same one or take no
// parameters.
func (p *parser) schema(source []byte) (schema.Facts, error) {
	if known, ok := p.schemas[string(source)]; ok {
		return known, nil
	}
	facts, err := p.reader.schemas.Read(source)
	if err != nil {
		return schema.Facts{}, err
	}
	if p.schemas == nil {
		p.schemas = make(map[string]schema.Facts)
	}
	p.schemas[string(source)] = facts
	return facts, nil
}

func (p *parser) schemaFault(path string, err error) {
	message := err.Error()
	if e, ok := errors.AsType[*aai.Error](err); ok {
		message = e.Message
	}
	p.fault(path, "%s", message)
}

// timeUnit returns the unit of timeouts: seconds, but milliseconds on Android.
func timeUnit(platform string) time.Duration {
	if platform == "android" {
		return time.Millisecond
	}
	return time.Second
}

// usualTimeout returns the timeout of a tool that declares none.
func (p *parser) usualTimeout(platform string) time.Duration {
	switch platform {
	case "android":
		return 5 * time.Second
	case "ios":
		return 10 * time.Second
	}
	return cmp.Or(p.o.DefaultTimeout, aai.DefaultTimeout)
}

// outputParser reads the name of the parser for the app's output.
func (p *parser) outputParser(m *members, platform string) string {
	given := m.text("output_parser")
	if given == "" {
		return ""
	}
	var known []string
	switch platform {
	case "macos":
		known = []string{"result as text", "result as record", "json"}
	case "windows":
		known = []string{"last_result", "json"}
	case "linux":
		known = []string{"json", "string"}
	default:
		return given
	}
	for _, k := range known {
		if given == k {
			return given
		}
	}
	p.warn(m.pathOf("output_parser"), "is %q; expected %s; the answer is given as it is", aai.CleanLabel(given, maxName), oneOf(known))
	return ""
}

// claimedEffect returns the effect that the descriptor claims, or nil, and the title in the
// annotations. Of two claims the more dangerous one counts.
func (p *parser) claimedEffect(m *members) (claim *aai.Effect, title string) {
	switch m.word("effect", "reads", "changes", "destroys") {
	case "reads":
		claim = worseEffect(claim, aai.Reads)
	case "changes":
		claim = worseEffect(claim, aai.Changes)
	case "destroys":
		claim = worseEffect(claim, aai.Destroys)
	}
	n := m.take("annotations")
	if n == nil {
		return claim, ""
	}
	hints := p.members(n, " of MCP tool annotations")
	title = aai.CleanLabel(hints.text("title"), maxName)
	readOnly, destructive := hints.flag("read_only_hint"), hints.flag("destructive_hint")
	switch {
	case destructive != nil && *destructive:
		claim = worseEffect(claim, aai.Destroys)
	case readOnly != nil && *readOnly:
		claim = worseEffect(claim, aai.Reads)
	case destructive != nil:
		claim = worseEffect(claim, aai.Changes)
	case readOnly != nil:
		claim = worseEffect(claim, aai.Destroys)
	}
	return claim, title
}

// flag returns a boolean member, or nil if it is absent.
func (m *members) flag(name string) *bool {
	n := m.take(name)
	if n == nil {
		return nil
	}
	if !n.IsBool() {
		m.p.fault(n.Path(), "is %s; expected true or false", n.KindName())
		return nil
	}
	value := n.Kind == trueKind
	return &value
}

func worseEffect(claim *aai.Effect, effect aai.Effect) *aai.Effect {
	if claim != nil {
		effect = min(*claim, effect)
	}
	return &effect
}

// effect combines the descriptor's claim with the recipe's inherent effect.
func (p *parser) effect(claim *aai.Effect, natural aai.Effect) aai.Effect {
	switch {
	case claim == nil:
		return natural
	case p.o.Origin != "":
		return min(*claim, natural)
	}
	return *claim
}
