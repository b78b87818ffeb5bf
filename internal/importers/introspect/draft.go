package introspect

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// A proposal is a candidate tool of the descriptor.
type proposal struct {
	declared         catalog.ToolDeclaration
	candidateNames   []string // possible names, best first
	rank             int      // lower ranks win if there are too many, from 0
	readByName       bool     // only its name suggests that it reads
	callee           string   // the member that it calls, to distinguish equal descriptions
	plainDescription string   // the description without untrusted text
	group            []property
	needed           []string // parameters of a COM tool that must be given
}

// Ranks of proposals.
const (
	rankOwn     = iota // members of the program's own interfaces, and labelled menu actions
	rankOwnRead        // properties of its own interfaces
	rankAction         // actions without a menu label
	rankOther          // members provided by libraries
	rankOtherRead
)

// A drafter converts a source to proposals.
type drafter struct {
	source *source
	notes  *noteList
	list   []proposal
}

// proposals returns the tools for everything that a source offers.
func (d *drafter) proposals() []proposal {
	for i := range d.source.Objects {
		o := &d.source.Objects[i]
		d.actions(o)
		for j := range o.Interfaces {
			f := &o.Interfaces[j]
			if f.Name == application {
				d.application(o, f)
				continue
			}
			for k := range f.Methods {
				d.method(o, f, &f.Methods[k])
			}
			d.properties(o, f)
		}
	}
	return d.list
}

// isOwnInterface reports whether the program, and not a library, defines an interface.
func (d *drafter) isOwnInterface(iface string) bool {
	for _, service := range d.source.Services {
		plain := stripInstance(service)
		if strings.HasPrefix(iface, mprisNamePrefix[:len(mprisNamePrefix)-1]) &&
			strings.HasPrefix(service, mprisNamePrefix) || sharesVendor(iface, plain) {
			return true
		}
	}
	return false
}

// sharesVendor reports whether two names share their first three parts, or all parts of the
// shorter one.
func sharesVendor(iface, service string) bool {
	a, b := strings.Split(strings.ToLower(iface), "."), strings.Split(strings.ToLower(service), ".")
	n := min(len(a), len(b), 3)
	return slices.Equal(a[:n], b[:n])
}

// recipe returns a D-Bus recipe with the address of an object's interface.
func (d *drafter) recipe(o *object, iface string) *aai.DBusRecipe {
	return &aai.DBusRecipe{Bus: d.source.Bus, Service: o.Service, Object: o.Path, Interface: iface}
}

// propose adds a tool with its effect, recipe and parameters to d.list.
func (d *drafter) propose(p proposal, effect aai.Effect, r *aai.DBusRecipe, params []string) {
	p.declared.Effect = &effect
	p.declared.Recipe = &aai.Recipe{Platform: "linux", Kind: "dbus", Params: params, DBus: r}
	p.callee = r.Interface + "." + cmp.Or(r.Method, r.Property) + inParentheses(r.Signature) + " of " + r.Object
	d.list = append(d.list, p)
}

// method proposes a tool that calls a method.
func (d *drafter) method(o *object, f *iface, m *method) {
	what, overloads, signature := f.Name+"."+m.Name, f.overloads(m.Name), ""
	if len(overloads) > 1 {
		signature = m.signature()
		what += "(" + signature + ")"
	}
	switch {
	case m.fault != "":
		d.notes.add("%s is left out: %s", what, m.fault)
		return
	case m.Deprecated:
		d.notes.add("%s is left out: the program calls it deprecated", what)
		return
	}
	effect, byName := effectOf(f.Name, m)
	fact := knownMembers(f.Name)[m.Name]
	names, schemas, altered := d.arguments(m.Ins, fact.args)
	params, err := objectSchema(names, schemas, names)
	if err != nil {
		d.notes.add("%s is left out: %s", what, err)
		return
	}
	r := d.recipe(o, f.Name)
	r.Method, r.Signature = m.Name, signature
	if altered { // the names no longer show the order
		r.Args = templates(names)
	}
	p := proposal{
		declared:       catalog.ToolDeclaration{Params: params, Returns: answerOf(m.Outs)},
		candidateNames: methodNames(o, f, m, overloads), rank: rankOther, readByName: byName,
	}
	if d.isOwnInterface(f.Name) || fact.words != "" {
		p.rank = rankOwn
	}
	p.plainDescription = padDescription(cmp.Or(fact.words, phrase(m.Name)+" ("+lastPart(f.Name)+")"))
	p.declared.Description = padDescription(cmp.Or(fact.words, m.Doc, phrase(m.Name)+" ("+lastPart(f.Name)+")"))
	d.propose(p, effect, r, names)
}

// methodNames returns the possible names of a method's tool, best first. Of several methods of one
// name, the later ones have the names of the arguments that the first has not.
func methodNames(o *object, f *iface, m *method, overloads []*method) []string {
	own := snake(m.Name)
	if m != overloads[0] {
		for _, in := range m.Ins {
			if !slices.ContainsFunc(overloads[0].Ins, func(a argument) bool { return a.Name == in.Name }) {
				own = strings.TrimSuffix(own+"_"+snake(in.Name), "_")
			}
		}
	}
	return []string{own, snake(lastPart(f.Name)) + "_" + own, snake(lastElement(o.Path)) + "_" + own}
}

func inParentheses(signature string) string {
	if signature == "" {
		return ""
	}
	return "(" + signature + ")"
}

// templates returns "${name}" for each parameter, in order.
func templates(names []string) []json.RawMessage {
	args := make([]json.RawMessage, len(names))
	for i, name := range names {
		args[i] = json.RawMessage(`"${` + name + `}"`)
	}
	return args
}

// arguments returns the names and schemas of a method's arguments, and whether a name differs
// from the program's name for it.
func (d *drafter) arguments(ins []argument,
	words map[string]string) (list []string, schemas []*schemaText, altered bool) {
	taken := nameAllocator{map[string]bool{}}
	for i, in := range ins {
		name := snake(in.Name)
		if name == "" {
			name = "arg_" + string(rune('0'+i%10))
			altered = true
		}
		given := taken.allocate(name)
		altered = altered || !strings.EqualFold(strings.ReplaceAll(given, "_", ""),
			strings.NewReplacer("_", "", "-", "").Replace(in.Name))
		t, err := wire.ParseType(in.Type)
		if err != nil {
			continue // the introspection parser rejects such types
		}
		list, schemas = append(list, given),
			append(schemas, parameterOf(t, cmp.Or(words[in.Name], in.Doc, describeArgument(in.Name, t))))
	}
	return list, schemas, altered
}

// answerOf returns the schema of a method's result, in the driver's format.
func answerOf(outs []argument) json.RawMessage {
	if len(outs) == 0 {
		return emptyResultSchema()
	}
	schemas := make([]*schemaText, len(outs))
	var names []string
	for i, out := range outs {
		t, err := wire.ParseType(out.Type)
		if err != nil {
			return json.RawMessage(`{}`)
		}
		schemas[i] = schemaOf(t, true, 0)
		if out.Doc != "" {
			schemas[i].Description = out.Doc
		}
		if out.Name != "" && !slices.Contains(names, out.Name) {
			names = append(names, out.Name)
		}
	}
	var whole *schemaText
	switch {
	case len(outs) == 1:
		whole = schemas[0]
	case len(names) == len(outs):
		whole = &schemaText{Type: "object", Properties: &orderedText{names, schemas}, Required: names}
	default:
		whole = &schemaText{Type: "array", Items: schemas, MinItems: len(schemas), MaxItems: len(schemas)}
	}
	raw, err := json.Marshal(whole)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return raw
}

func lastElement(path string) string { return path[strings.LastIndex(path, "/")+1:] }

// application proposes the methods of org.freedesktop.Application, without their platform data,
// which is for desktops.
func (d *drafter) application(o *object, f *iface) {
	for k := range f.Methods {
		m := &f.Methods[k]
		r := d.recipe(o, f.Name)
		r.Method = m.Name
		fact := knownMembers(f.Name)[m.Name]
		p := proposal{rank: rankOwn, candidateNames: []string{snake(m.Name)}, plainDescription: padDescription(fact.words)}
		p.declared.Description, p.declared.Returns = p.plainDescription, emptyResultSchema()
		switch m.Name {
		case "Activate":
			p.candidateNames = []string{"show_window", "show_app_window"}
			p.declared.Params = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
			r.Args = []json.RawMessage{json.RawMessage(`{}`)}
			d.propose(p, fact.effect, r, nil)
		case "Open":
			p.candidateNames = []string{"open", "open_in_app"}
			p.declared.Params = json.RawMessage(`{"type":"object","properties":{"uris":{"type":"array","description":"What to open, such as file:///home/ann/notes.txt","items":{"type":"string"},"minItems":1}},"required":["uris"],"additionalProperties":false}`)
			r.Args = []json.RawMessage{json.RawMessage(`"${uris}"`), json.RawMessage(`{}`)}
			d.propose(p, fact.effect, r, []string{"uris"})
		case "ActivateAction":
			d.entryActions(o, f)
		}
	}
}

// entryActions proposes the actions of the desktop entry, unless the program describes actions
// itself.
func (d *drafter) entryActions(o *object, f *iface) {
	if d.source.Entry == nil || len(o.Actions) > 0 {
		return
	}
	for _, a := range d.source.Entry.Actions {
		r := d.recipe(o, f.Name)
		r.Method = "ActivateAction"
		r.Args = constants(a.Name, []any{}, map[string]any{})
		p := proposal{rank: rankOwn, candidateNames: []string{snake(a.Name), "action_" + snake(a.Name)},
			plainDescription: padDescription(a.Label)}
		p.declared.Description = p.plainDescription
		p.declared.Params, p.declared.Returns = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`), emptyResultSchema()
		d.propose(p, aai.Destroys, r, nil)
	}
}

// constants encodes constant arguments.
func constants(values ...any) []json.RawMessage {
	args := make([]json.RawMessage, len(values))
	for i, value := range values {
		raw, err := json.Marshal(value)
		if err != nil {
			raw = json.RawMessage("null")
		}
		args[i] = raw
	}
	return args
}
