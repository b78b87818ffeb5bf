package generate

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"aai"
	"aai/internal/catalog"
	"aai/internal/dbuswire"
)

// maxSingle is how many properties of an interface are read one by one; more are read
// together.
const maxSingle = 12

func noParams() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
}

// properties proposes tools that read and set the properties of an interface.
func (d *drafting) properties(o *object, f *iface) {
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

func (d *drafting) rankOf(iface string) int {
	if d.own(iface) {
		return rankOwnRead
	}
	return rankOtherRead
}

func (d *drafting) read(o *object, f *iface, p *property) {
	t, err := dbuswire.ParseType(p.Type)
	if err != nil {
		return
	}
	r := d.recipe(o, f.Name)
	r.Property, r.Access = p.Name, "get"
	own := snake(p.Name)
	made := proposal{
		rank:  d.rankOf(f.Name),
		names: []string{"get_" + own, "get_" + snake(lastPart(f.Name)) + "_" + own, "get_" + snake(lastElement(o.Path)) + "_" + own},
		plain: described("Read " + strings.ToLower(phrase(p.Name)) + " (" + lastPart(f.Name) + ")"),
	}
	made.declared = catalog.Declared{Params: noParams(), Returns: raw(schemaOf(t, true, 0)), Description: made.plain}
	if p.Doc != "" {
		made.declared.Description = described("Read: " + p.Doc)
	}
	d.propose(made, aai.Reads, r, nil)
}

func (d *drafting) set(o *object, f *iface, p *property) {
	t, err := dbuswire.ParseType(p.Type)
	if err != nil {
		return
	}
	fact, effect := known(f.Name)[p.Name], aai.Destroys
	if fact.words != "" {
		effect = fact.effect
	}
	params, err := objectSchema([]string{"value"}, []*schemaText{parameterOf(t, "")}, []string{"value"})
	if err != nil {
		return
	}
	r := d.recipe(o, f.Name)
	r.Property, r.Access = p.Name, "set"
	own := snake(p.Name)
	made := proposal{
		rank:  d.rankOf(f.Name),
		names: []string{"set_" + own, "set_" + snake(lastPart(f.Name)) + "_" + own, "set_" + snake(lastElement(o.Path)) + "_" + own},
		plain: described(cmp.Or(fact.words, "Set "+strings.ToLower(phrase(p.Name))+" ("+lastPart(f.Name)+")")),
	}
	made.declared = catalog.Declared{Params: params, Returns: nothing(), Description: made.plain}
	if p.Doc != "" && fact.words == "" {
		made.declared.Description = described("Set: " + p.Doc)
	}
	d.propose(made, effect, r, []string{"value"})
}

// readAll proposes one tool that reads all properties of an interface.
func (d *drafting) readAll(o *object, f *iface, readable []property) {
	schemas, list := make([]*schemaText, 0, len(readable)), make([]string, 0, len(readable))
	for _, p := range readable {
		if t, err := dbuswire.ParseType(p.Type); err == nil {
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
		names: []string{"get_" + own, "get_all_" + own, "get_all_" + own + "_" + snake(lastElement(o.Path))},
		plain: described("Read all that " + lastPart(f.Name) + " shows: " + listed(readable)),
	}
	made.declared = catalog.Declared{
		Params: noParams(), Description: made.plain,
		Returns: raw(&schemaText{Type: "object", Properties: &orderedText{list, schemas}}),
	}
	d.propose(made, aai.Reads, r, nil)
}

// listed names a few of the properties.
func listed(list []property) string {
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
