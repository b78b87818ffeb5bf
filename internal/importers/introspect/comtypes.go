package introspect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/com/typelib"
)

// params returns the parameters of a member's tool, with names that differ from those taken. ok is false if an argument that is needed
// cannot be given. Optional ones of this kind have no name and are omitted.
func (d *comDrafter) params(m *typelib.Member, taken []comParam) (list []comParam, ok bool) {
	names := nameAllocator{map[string]bool{}}
	for _, p := range taken {
		names.taken[p.name] = true
	}
	for n, p := range m.Params {
		schema, template := d.schema(p.Type)
		switch unusable := p.Out || schema == nil; {
		case p.Optional && (unusable || p.Type.Base == "date"):
			list = append(list, comParam{optional: true, value: json.RawMessage(`{"type":"omitted"}`)})
			continue
		case unusable:
			return nil, false
		}
		name := snake(p.Name)
		isValue := (m.Kind == typelib.Put || m.Kind == typelib.PutRef) && n == len(m.Params)-1
		if isValue || name == "" {
			name = "value"
		}
		one := comParam{name: names.allocate(name), schema: schema, optional: p.Optional, isValue: isValue}
		switch {
		case isValue && schema.Description == "":
			schema.Description = "The new value"
		case schema.Description == "":
			schema.Description = phraseOf(p.Name)
		}
		one.value = json.RawMessage(fmt.Sprintf(template, one.name))
		list = append(list, one)
	}
	return list, true
}

// schema returns the schema of an argument and its template with the parameter's name, or nil for a type that JSON has not.
func (d *comDrafter) schema(t typelib.Type) (schema *schemaText, template string) {
	template = `"${%s}"`
	switch t.Base {
	case "bool":
		return &schemaText{Type: "boolean"}, template
	case "int":
		return d.integer(t), template
	case "number":
		return &schemaText{Type: "number"}, template
	case "string":
		return &schemaText{Type: "string"}, template
	case "date":
		return &schemaText{Type: "string", Description: "A date such as 2026-01-31 or 2026-01-31T15:04:05, local time"},
			`{"type":"date","value":"${%s}"}`
	case "variant":
		return &schemaText{}, template
	case "array":
		return &schemaText{Type: "array"}, template
	}
	return nil, ""
}

// integer returns the schema of a whole number, with the constants of its enumeration.
func (d *comDrafter) integer(t typelib.Type) *schemaText {
	s := &schemaText{Type: "integer", Minimum: "-2147483648", Maximum: "2147483647"}
	switch t.Bits {
	case 8:
		s.Minimum, s.Maximum = "0", "255"
	case -8:
		s.Minimum, s.Maximum = "-128", "127"
	case 16:
		s.Minimum, s.Maximum = "0", "65535"
	case -16:
		s.Minimum, s.Maximum = "-32768", "32767"
	case 32:
		s.Minimum, s.Maximum = "0", "4294967295"
	case 64, -64:
		s.Minimum, s.Maximum = "", ""
	}
	e := d.library.Enum(t.Name)
	if e == nil || len(e.Values) == 0 {
		return s
	}
	s.Minimum, s.Maximum = "", ""
	var words []string
	for _, v := range e.Values[:min(len(e.Values), maxShownConstants)] {
		words = append(words, fmt.Sprintf("%d (%s)", v.Value, v.Name))
	}
	s.Description = aai.CleanLabel(e.Name+": "+strings.Join(words, ", "), maxParameter)
	return s
}

// returns returns the schema of a member's result.
func (d *comDrafter) returns(m *typelib.Member) json.RawMessage {
	other := d.library.Interface(m.Result.Name)
	switch {
	case m.Kind == typelib.Put || m.Kind == typelib.PutRef || m.Result.Base == "void" || m.Result.Base == "":
		return emptyResultSchema()
	case m.Result.Base == "object" && other != nil && other.Items:
		return json.RawMessage(`{"type":"array"}`)
	case m.Result.Base == "object":
		return json.RawMessage(`{"type":["object","null"]}`)
	}
	word := map[string]string{"bool": "boolean", "int": "integer", "string": "string", "date": "string"}[m.Result.Base]
	if word == "" {
		return json.RawMessage(`{}`)
	}
	return json.RawMessage(`{"type":"` + word + `"}`)
}

// isComGetter reports whether a method is clearly a getter, by its name and result.
func isComGetter(m *typelib.Member) bool {
	if m.Result.Base == "void" || m.Result.Base == "" {
		return false
	}
	out := argument{Type: "v"}
	if m.Result.Base == "bool" {
		out.Type = "b"
	}
	return isGetter(&method{Name: m.Name, Outs: []argument{out}})
}

// phraseOf converts a name to words, or returns it as it is if it has none.
func phraseOf(name string) string { return cmp.Or(phrase(name), name) }

func lowerPhrase(name string) string { return cmp.Or(strings.Join(split(name), " "), name) }
