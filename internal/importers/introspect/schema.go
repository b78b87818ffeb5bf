package introspect

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// maxSchemaDepth limits the nesting of a schema; deeper values may be anything.
const maxSchemaDepth = 5

// A schemaText is a JSON schema with its keywords in output order.
type schemaText struct {
	Type        string       `json:"type,omitzero"`
	Description string       `json:"description,omitzero"`
	Minimum     json.Number  `json:"minimum,omitzero"`
	Maximum     json.Number  `json:"maximum,omitzero"`
	Pattern     string       `json:"pattern,omitzero"`
	Enum        []string     `json:"enum,omitzero"`
	Items       any          `json:"items,omitzero"` // a schema, or a list of schemas
	MinItems    int          `json:"minItems,omitzero"`
	MaxItems    int          `json:"maxItems,omitzero"`
	Properties  *orderedText `json:"properties,omitzero"`
	Required    []string     `json:"required,omitzero"`
	Additional  any          `json:"additionalProperties,omitzero"`
}

// orderedText is an object that preserves the order of its members.
type orderedText struct {
	names   []string
	members []*schemaText
}

// MarshalJSON implements json.Marshaler.
func (o orderedText) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, name := range o.names {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(o.members[i])
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), value...)
	}
	return append(b, '}'), nil
}

// schemaOf returns the schema of a D-Bus type: as an argument in the driver's input format, or as
// a result in its output format.
func schemaOf(t *wire.Type, answer bool, depth int) *schemaText {
	if depth > maxSchemaDepth {
		return &schemaText{}
	}
	switch t.Code {
	case 'b':
		return &schemaText{Type: "boolean"}
	case 'y', 'n', 'q', 'i', 'u', 'x', 't':
		low, high := rangeOf(t.Code)
		return &schemaText{Type: "integer", Minimum: low, Maximum: high}
	case 'd':
		return &schemaText{Type: "number"}
	case 's':
		return &schemaText{Type: "string"}
	case 'o':
		return &schemaText{Type: "string", Description: "An object path", Pattern: "^/[A-Za-z0-9_/]*$"}
	case 'g':
		return &schemaText{Type: "string", Description: "A D-Bus signature"}
	case wire.StructCode:
		items := make([]*schemaText, len(t.Fields))
		for i, field := range t.Fields {
			items[i] = schemaOf(field, answer, depth+1)
		}
		return &schemaText{Type: "array", Items: items, MinItems: len(items), MaxItems: len(items)}
	case wire.DictCode:
		return &schemaText{Type: "object", Additional: schemaOf(t.Elem, answer, depth+1)}
	case wire.ArrayCode:
		if t.Elem.Code == 'y' {
			if answer { // a text, or base64 in an object
				return &schemaText{Description: "Bytes"}
			}
			return &schemaText{Type: "string", Description: "Bytes, as text"}
		}
		return &schemaText{Type: "array", Items: schemaOf(t.Elem, answer, depth+1)}
	}
	return &schemaText{}
}

func rangeOf(code byte) (low, high json.Number) {
	switch code {
	case 'y':
		return "0", "255"
	case 'n':
		return "-32768", "32767"
	case 'q':
		return "0", "65535"
	case 'i':
		return "-2147483648", "2147483647"
	case 'u':
		return "0", "4294967295"
	case 't':
		return "0", ""
	}
	return "", ""
}

// parameterOf returns the schema of an argument with a description.
func parameterOf(t *wire.Type, doc string) *schemaText {
	s := schemaOf(t, false, 0)
	if doc != "" {
		s.Description = aai.CleanLabel(doc, maxParameter)
	}
	if s.Description == "" {
		s.Description = describeType(t)
	}
	return s
}

// describeType describes an argument without documentation by its type.
func describeType(t *wire.Type) string {
	switch t.Code {
	case 'v':
		return `Any value; {"signature": "u", "value": 1} gives its D-Bus type`
	case wire.DictCode:
		return "Names and values, of the D-Bus type " + t.Sig
	case wire.ArrayCode:
		if t.Elem.Code == 'y' {
			return "Bytes, as a text"
		}
		return "A list, of the D-Bus type " + t.Sig
	case wire.StructCode:
		return fmt.Sprintf("%d values in their order, of the D-Bus type %s", len(t.Fields), t.Sig)
	case 'b':
		return "true or false"
	case 's':
		return "A text"
	case 'o':
		return "An object path, such as /org/example/Thing"
	case 'g':
		return "A D-Bus signature, such as a{sv}"
	case 'd':
		return "A number"
	}
	return "A whole number"
}

// describeArgument describes an argument by its name and type; "" if the name is generic.
func describeArgument(name string, t *wire.Type) string {
	words := split(name)
	if len(words) == 0 || words[0] == "arg" {
		return ""
	}
	about := describeType(t)
	return sentence(strings.Join(words, " ")) + ": " + strings.ToLower(about[:1]) + about[1:]
}

// emptyResultSchema returns the schema of an empty result.
func emptyResultSchema() json.RawMessage { return json.RawMessage(`{"type":"null"}`) }

// objectSchema returns the schema of a tool's arguments.
func objectSchema(names []string, members []*schemaText, required []string) (json.RawMessage, error) {
	return json.Marshal(&schemaText{
		Type: "object", Properties: &orderedText{names, members}, Required: required, Additional: false,
	})
}
