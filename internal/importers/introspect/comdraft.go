package introspect

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/com/typelib"
)

// Limits on the tools of a class.
const (
	maxShownProperties = 12 // of an object in an answer
	maxShownConstants  = 12 // of an enumeration in a description
	maxSettings        = 6  // properties that are set before a method
)

// A comDrafter converts a type library to proposals.
type comDrafter struct {
	library *typelib.Library
	notes   *noteList
	list    []proposal
}

// A chain is the way from an object of the class to another: steps, and the parameters that they need.
type chain struct {
	steps  []aai.COMStep
	params []comParam
	object string // the variable with the object
	words  string // describes the object
	prefix string // of tools' names
	own    bool   // it is the object of the class
}

// A comParam is a parameter of a tool.
type comParam struct {
	name     string
	schema   *schemaText
	optional bool
	value    json.RawMessage // the template of the argument
	isValue  bool            // it is a property's new value
}

// proposals returns the tools of the class, and those of the objects that it leads to.
func (d *comDrafter) proposals() []proposal {
	root := &d.library.Interfaces[0]
	start := chain{steps: []aai.COMStep{{Action: "create", Var: "app", ProgID: d.library.ProgID}}, object: "app", own: true}
	d.object(root, start)
	for _, m := range root.Members {
		other := d.library.Interface(m.Result.Name)
		if m.Result.Base != "object" || other == nil || other == root || m.Kind == typelib.Method && !isComGetter(&m) {
			continue
		}
		params, ok := d.params(&m, nil)
		if !ok || slices.ContainsFunc(params, func(p comParam) bool { return p.optional }) {
			continue
		}
		next := start
		next.steps = append(slices.Clone(start.steps), step(&m, "app", params, "object"))
		next.object, next.params, next.own = "object", params, false
		next.prefix = strings.TrimPrefix(snake(m.Name), "get_") + "_"
		next.words = " (" + lowerPhrase(strings.TrimPrefix(m.Name, "Get")) + ")"
		d.object(other, next)
	}
	return d.list
}

// object proposes the tools of an object.
func (d *comDrafter) object(i *typelib.Interface, at chain) {
	var single []typelib.Member
	readable := d.readable(i)
	for _, m := range i.Members {
		switch {
		case m.Name == "":
		case d.isPassing(i, &m, at):
			// a value that was set would end with the call; see settings
		case m.Kind == typelib.Get && len(m.Params) == 0 && isSimple(m.Result):
			single = append(single, m)
		case m.Kind == typelib.PutRef && d.has(i, m.Name, typelib.Put):
		case m.Kind == typelib.Get && len(m.Params) == 0 && !at.own: // the tool that leads to the object reads it, or it leads on
		default:
			d.member(i, m, at)
		}
	}
	switch {
	case !at.own:
		return // the tool that leads to the object reads them
	case len(single) > maxSingle:
		d.all(readable, at)
		return
	}
	for _, m := range single {
		d.member(i, m, at)
	}
}

// isPassing reports whether a member is a property that can be set, of an object that ends with the call.
func (d *comDrafter) isPassing(i *typelib.Interface, m *typelib.Member, at chain) bool {
	if !d.library.InProcess || !at.own {
		return false
	}
	switch m.Kind {
	case typelib.Get:
		return len(m.Params) == 0 && d.has(i, m.Name, typelib.Put)
	case typelib.Put, typelib.PutRef:
		return len(m.Params) == 1
	}
	return false
}

func (d *comDrafter) has(i *typelib.Interface, name string, kind typelib.Kind) bool {
	return slices.ContainsFunc(i.Members, func(m typelib.Member) bool { return m.Name == name && m.Kind == kind })
}

// isSimple reports whether a value has a plain JSON form.
func isSimple(t typelib.Type) bool {
	return slices.Contains([]string{"bool", "int", "number", "string", "date", "variant", "array"}, t.Base)
}

// readable returns the names of properties with simple values, those that identify an object first.
func (d *comDrafter) readable(i *typelib.Interface) []string {
	var names []string
	for _, m := range i.Members {
		if m.Kind == typelib.Get && len(m.Params) == 0 && isSimple(m.Result) && m.Result.Base != "array" {
			names = append(names, m.Name)
		}
	}
	first := []string{"name", "title", "subject", "caption", "path", "text", "value"}
	slices.SortStableFunc(names, func(a, b string) int {
		rank := func(name string) int {
			return (slices.Index(first, strings.ToLower(name)) + len(first) + 1) % (len(first) + 1)
		}
		return cmp.Compare(rank(a), rank(b))
	})
	return names
}

// all proposes a tool that reads the properties of an object.
func (d *comDrafter) all(names []string, at chain) {
	get := aai.COMStep{Action: "get", Object: at.object, Properties: names[:min(len(names), 50)]}
	p := proposal{rank: rankOwnRead, candidateNames: []string{"get_properties"}}
	p.plainDescription = padDescription("Read the properties of the app: " + strings.Join(names[:min(len(names), 5)], ", ") + " and so on")
	p.declared.Description, p.declared.Returns = p.plainDescription, json.RawMessage(`{"type":"object"}`)
	d.propose(p, aai.Reads, d.library.Interfaces[0].Name, at, []aai.COMStep{get}, nil)
}

// member proposes the tool of one member.
func (d *comDrafter) member(i *typelib.Interface, m typelib.Member, at chain) {
	params, ok := d.params(&m, at.params)
	if !ok {
		d.notes.add("%s.%s is left out: it needs an object, or a type that JSON has not", i.Name, m.Name)
		return
	}
	var settings []aai.COMStep
	if m.Kind == typelib.Method && at.own && d.library.InProcess {
		var more []comParam
		settings, more = d.settings(i, params)
		params = append(params, more...)
	}
	effect, p := aai.Destroys, proposal{rank: rankOther}
	p.candidateNames = []string{at.prefix + snake(m.Name), at.prefix + string(m.Kind) + "_" + snake(m.Name)}
	words := phraseOf(m.Name) + at.words
	switch {
	case m.Kind == typelib.Get:
		effect, p.rank = aai.Reads, rankOtherRead
		p.candidateNames[0], words = "get_"+at.prefix+snake(m.Name), "Read "+lowerPhrase(m.Name)+at.words
	case m.Kind == typelib.Put || m.Kind == typelib.PutRef:
		p.candidateNames[0], words = "set_"+at.prefix+snake(m.Name), "Set "+lowerPhrase(m.Name)+at.words
	case isComGetter(&m):
		effect, p.readByName = aai.Reads, true
	}
	if at.own {
		p.rank = map[bool]int{true: rankOwnRead, false: rankOwn}[m.Kind == typelib.Get]
	}
	p.plainDescription = padDescription(words)
	p.declared.Description = padDescription(cmp.Or(m.Doc, words))
	call := params
	if len(settings) > 0 {
		call = params[:len(params)-len(settings)]
	}
	steps := append(settings, d.result(&m, step(&m, at.object, call, ""))...)
	p.declared.Returns = d.returns(&m)
	d.propose(p, effect, i.Name+"."+m.Name, at, steps, params)
}

// settings returns steps that set the few properties of an object in the caller's process before a method, from optional parameters.
func (d *comDrafter) settings(i *typelib.Interface, taken []comParam) (steps []aai.COMStep, params []comParam) {
	for _, m := range i.Members {
		if m.Kind != typelib.Put || len(m.Params) != 1 {
			continue
		}
		one, ok := d.params(&typelib.Member{Params: []typelib.Parameter{{Name: m.Name, Type: m.Params[0].Type}}}, slices.Concat(taken, params))
		if !ok {
			continue
		}
		one[0].optional = true
		steps = append(steps, aai.COMStep{Action: "set", Object: "app", Property: m.Name, Value: one[0].value})
		params = append(params, one[0])
	}
	if len(params) > maxSettings {
		return nil, nil
	}
	return steps, params
}

// step returns the step that uses a member.
func step(m *typelib.Member, object string, params []comParam, variable string) aai.COMStep {
	s := aai.COMStep{Object: object, Var: variable}
	args := make([]json.RawMessage, 0, len(params))
	for _, p := range params {
		if p.isValue {
			s.Value = p.value
			continue
		}
		args = append(args, p.value)
	}
	if len(args) > 0 {
		s.Args = args
	}
	switch m.Kind {
	case typelib.Method:
		s.Action, s.Method = "call", m.Name
	case typelib.Get:
		s.Action, s.Property = "get", m.Name
	default:
		s.Action, s.Property = "set", m.Name
	}
	return s
}

// result adds the steps that turn an object into an answer: its items, or its properties.
func (d *comDrafter) result(m *typelib.Member, call aai.COMStep) []aai.COMStep {
	other := d.library.Interface(m.Result.Name)
	if m.Result.Base != "object" || other == nil {
		return []aai.COMStep{call}
	}
	call.Var = "result"
	if other.Items {
		list := aai.COMStep{Action: "list", Object: "result"}
		if item := d.itemOf(other); item != nil {
			names := d.readable(item)
			list.Properties = names[:min(len(names), maxShownProperties)]
		}
		return []aai.COMStep{call, list}
	}
	names := d.readable(other)
	if len(names) == 0 {
		return []aai.COMStep{call}
	}
	return []aai.COMStep{call, {Action: "get", Object: "result", Properties: names[:min(len(names), maxShownProperties)]}}
}

// itemOf returns the interface of a collection's items, or nil.
func (d *comDrafter) itemOf(i *typelib.Interface) *typelib.Interface {
	for _, m := range i.Members {
		if strings.EqualFold(m.Name, "Item") && m.Kind != typelib.Put && m.Kind != typelib.PutRef {
			return d.library.Interface(m.Result.Name)
		}
	}
	return nil
}

func (d *comDrafter) propose(p proposal, effect aai.Effect, callee string, at chain, steps []aai.COMStep, params []comParam) {
	if params == nil {
		params = at.params
	} else {
		params = append(slices.Clone(at.params), params...)
	}
	var names, needed []string
	var schemas []*schemaText
	for _, param := range params {
		if param.name == "" {
			continue
		}
		names, schemas = append(names, param.name), append(schemas, param.schema)
		if !param.optional {
			needed = append(needed, param.name)
		}
	}
	declared, err := objectSchema(names, schemas, needed)
	if err != nil {
		d.notes.add("%s is left out: %s", callee, err)
		return
	}
	if aai.RunsPrograms(d.library.ProgID) {
		effect, p.readByName = aai.Destroys, false
	}
	p.callee, p.needed, p.declared.Params, p.declared.Effect = callee+at.words, needed, declared, &effect
	p.declared.Recipe = &aai.Recipe{Platform: "windows", Kind: "com", App: d.library.ProgID, Params: names,
		COM: &aai.COMRecipe{ProgID: d.library.ProgID, Steps: slices.Concat(at.steps, steps)}}
	d.list = append(d.list, p)
}
