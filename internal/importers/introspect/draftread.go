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

// maxSingle limits the properties of an interface that get a tool each; more share one tool.
const maxSingle = 12

func noParams() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
}

// properties proposes tools that read and set the properties of an interface.
func (d *drafter) properties(o *object, f *iface) {
	var usable []property
	for _, p := range f.Properties {
		switch {
		case p.fault != "":
			d.notes.add("%s.%s is left out: %s", f.Name, p.Name, p.fault)
		case p.Deprecated:
			d.notes.add("%s.%s is left out: the program calls it deprecated", f.Name, p.Name)
		default:
			usable = append(usable, p)
		}
	}
	readable := slices.DeleteFunc(slices.Clone(usable), func(p property) bool { return !p.Readable })
	if len(readable) > maxSingle {
		d.readAll(o, f, readable)
		readable = nil
	}
	for i := range readable {
		d.read(o, f, &readable[i])
	}
	for i := range usable {
		if usable[i].Writable {
			d.set(o, f, &usable[i])
		}
	}
}

func (d *drafter) rankOf(iface string) int {
	if d.isOwnInterface(iface) {
		return rankOwnRead
	}
	return rankOtherRead
}

// propertyTool returns the proposal of a tool that gets or sets a property, and its recipe.
func (d *drafter) propertyTool(o *object, f *iface, p *property, access, words string) (proposal, *aai.DBusRecipe) {
	r := d.recipe(o, f.Name)
	r.Property, r.Access = p.Name, access
	own := "_" + snake(p.Name)
	names := []string{access + own, access + "_" + snake(lastPart(f.Name)) + own, access + "_" + snake(lastElement(o.Path)) + own}
	return proposal{rank: d.rankOf(f.Name), candidateNames: names, plainDescription: padDescription(words)}, r
}

func (d *drafter) read(o *object, f *iface, p *property) {
	t, err := wire.ParseType(p.Type)
	if err != nil {
		return
	}
	made, r := d.propertyTool(o, f, p, "get", "Read "+strings.ToLower(phrase(p.Name))+" ("+lastPart(f.Name)+")")
	made.declared = catalog.ToolDeclaration{Params: noParams(), Returns: raw(schemaOf(t, true, 0)),
		Description: made.plainDescription}
	if p.Doc != "" {
		made.declared.Description = padDescription("Read: " + p.Doc)
	}
	d.propose(made, aai.Reads, r, nil)
}

func (d *drafter) set(o *object, f *iface, p *property) {
	t, err := wire.ParseType(p.Type)
	if err != nil {
		return
	}
	fact, effect := knownMembers(f.Name)[p.Name], aai.Destroys
	if fact.words != "" {
		effect = fact.effect
	}
	params, err := objectSchema([]string{"value"}, []*schemaText{parameterOf(t, "")}, []string{"value"})
	if err != nil {
		return
	}
	made, r := d.propertyTool(o, f, p, "set", cmp.Or(fact.words, "Set "+strings.ToLower(phrase(p.Name))+" ("+lastPart(f.Name)+")"))
	made.declared = catalog.ToolDeclaration{Params: params, Returns: emptyResultSchema(),
		Description: made.plainDescription}
	if p.Doc != "" && fact.words == "" {
		made.declared.Description = padDescription("Set: " + p.Doc)
	}
	d.propose(made, effect, r, []string{"value"})
}

// readAll proposes one tool that reads all properties of an interface.
func (d *drafter) readAll(o *object, f *iface, readable []property) {
	schemas, list := make([]*schemaText, 0, len(readable)), make([]string, 0, len(readable))
	for _, p := range readable {
		if t, err := wire.ParseType(p.Type); err == nil {
			s := schemaOf(t, true, 0)
			if p.Doc != "" {
				s.Description = aai.CleanLabel(p.Doc, maxLabel)
			}
			list, schemas = append(list, p.Name), append(schemas, s)
		}
	}
	r := d.recipe(o, properties)
	r.Method, r.Args = "GetAll", constants(f.Name)
	own := snake(lastPart(f.Name))
	made := proposal{
		rank: d.rankOf(f.Name), group: readable,
		candidateNames:   []string{"get_" + own, "get_all_" + own, "get_all_" + own + "_" + snake(lastElement(o.Path))},
		plainDescription: padDescription("Read all that " + lastPart(f.Name) + " shows: " + listProperties(readable)),
	}
	made.declared = catalog.ToolDeclaration{
		Params: noParams(), Description: made.plainDescription,
		Returns: raw(&schemaText{Type: "object", Properties: &orderedText{list, schemas}}),
	}
	d.propose(made, aai.Reads, r, nil)
}

// listProperties names the first properties.
func listProperties(list []property) string {
	words := make([]string, 0, len(list))
	for _, p := range list {
		words = append(words, strings.ToLower(phrase(p.Name)))
	}
	if len(words) > 8 {
		words = append(words[:8], "and more")
	}
	return strings.Join(words, ", ")
}

func raw(s *schemaText) json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return text
}
