package web

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

type (
	noAnnotation struct{}
	schemaNode   = jsontree.Node[noAnnotation]
)

// A schemaView reads a schema that is known to be valid.
type schemaView struct{ root *schemaNode }

// maxSchemaRefs limits the references that are followed; the reader of schemas refuses
// recursive ones.
const maxSchemaRefs = 32

// resolve follows the references of a schema, as far as they can be resolved.
func (v schemaView) resolve(n *schemaNode) *schemaNode {
	for range maxSchemaRefs {
		ref := n.Member("$ref")
		if ref == nil || ref.Kind != jsontree.Text {
			break
		}
		target := v.root.ResolveRef(ref.Text)
		if target == nil {
			break
		}
		n = target
	}
	return n
}

func (v schemaView) field(p *schemaNode, secret bool) FormField {
	n := v.resolve(p)
	f := FormField{name: p.Name, Name: printableName(p.Name), Secret: secret}
	f.About = aai.CleanText(v.text(p, n, "description"), maxFieldDoc)
	if title := aai.CleanLabel(v.text(p, n, "title"), maxFieldLabel); title != "" && f.About == "" {
		f.About = title
	}
	if d := v.either(p, n, "default"); d != nil && !secret {
		f.Standard = printableValue(d)
	}
	f.Kind, f.Type = v.fieldKind(n)
	if f.Kind == KindChoice {
		if f.Options = fieldOptions(n); f.Options == nil {
			f.Kind = KindJSON
		}
	}
	if secret && f.Kind == KindText {
		f.Kind = KindLine // which can be hidden
	}
	f.Limits = fieldLimits(n)
	return f
}

func (v schemaView) either(p, n *schemaNode, key string) *schemaNode {
	if m := p.Member(key); m != nil {
		return m
	}
	return n.Member(key)
}

func (v schemaView) text(p, n *schemaNode, key string) string {
	if m := v.either(p, n, key); m != nil && m.Kind == jsontree.Text {
		return m.Text
	}
	return ""
}

// fieldKind returns the kind of field for a schema, and the type of its value.
func (v schemaView) fieldKind(n *schemaNode) (FieldKind, string) {
	types := schemaTypes(n)
	is := strings.Join(types, " or ")
	if n.Member("enum") != nil || n.Member("const") != nil {
		return KindChoice, is
	}
	types = slices.DeleteFunc(slices.Clone(types), func(t string) bool { return t == "null" })
	if len(types) != 1 {
		return KindJSON, is
	}
	switch types[0] {
	case "integer", "number":
		return KindNumber, is
	case "boolean":
		return KindBool, is
	case "string":
		if isSingleLine(n) {
			return KindLine, is
		}
		return KindText, is
	case "array":
		items := n.Member("items")
		if items == nil || items.Kind != jsontree.Object {
			return KindJSON, "list"
		}
		items = v.resolve(items)
		if of := schemaTypes(items); len(of) == 1 {
			if of[0] == "string" {
				return KindLines, "list of string"
			}
			return KindJSON, "list of " + of[0]
		}
		return KindJSON, "list"
	}
	return KindJSON, is
}

// schemaTypes returns the known types in a schema.
func schemaTypes(n *schemaNode) []string {
	t := n.Member("type")
	if t == nil {
		return nil
	}
	var types []string
	add := func(t *schemaNode) {
		switch t.Text {
		case "string", "number", "integer", "boolean", "object", "array", "null":
			types = append(types, t.Text)
		}
	}
	if t.Kind == jsontree.Text {
		add(t)
		return types
	}
	for item := range t.Items() {
		add(item)
	}
	return types
}

// isSingleLine reports whether a text of that schema has at most one line.
func isSingleLine(n *schemaNode) bool {
	if n.Member("format") != nil || n.Member("pattern") != nil {
		return true
	}
	most := n.Member("maxLength")
	if most == nil {
		return false
	}
	long, err := strconv.ParseFloat(most.Text, 64)
	return err == nil && long <= maxFieldLabel
}

// fieldOptions returns the values of an enum or a const. It returns nil if there are too
// many, or if they cannot be shown in full.
func fieldOptions(n *schemaNode) []FieldOption {
	values := []*schemaNode{n.Member("const")}
	if values[0] == nil {
		enum := n.Member("enum")
		if enum.Count() > maxFieldOptions {
			return nil
		}
		values = slices.Collect(enum.Items())
	}
	var all []FieldOption
	for i, value := range values {
		if value.Kind == jsontree.Object || value.Kind == jsontree.List || len(value.Raw()) > maxShownValue {
			return nil
		}
		o := FieldOption{Value: strconv.Itoa(i), Shown: printableValue(value), json: slices.Clone(value.Raw())}
		if slices.ContainsFunc(all, func(other FieldOption) bool { return other.Shown == o.Shown }) {
			o.Shown = sanitize.EscapeInvisible(string(value.JSON()))
		}
		all = append(all, o)
	}
	return all
}

func fieldLimits(n *schemaNode) []FieldLimit {
	var all []FieldLimit
	for _, key := range []string{
		"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf",
		"minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "minProperties", "maxProperties",
	} {
		if m := n.Member(key); m != nil && (m.Kind == jsontree.Number || m.Kind == jsontree.Text) {
			all = append(all, FieldLimit{key, printableValue(m)})
		}
	}
	return all
}

// printableName returns a name unchanged, or quoted if parts of it would be invisible.
func printableName(name string) string {
	if name != "" && aai.CleanLabel(name, maxFieldLabel) == name {
		return name
	}
	return truncate(escapedJSON(name))
}

// printableValue formats a value for people: a text unchanged if all of it is visible, else JSON.
func printableValue(n *schemaNode) string {
	if n.Kind == jsontree.Text && n.Text != "" && aai.CleanLabel(n.Text, maxShownValue) == n.Text {
		return n.Text
	}
	var b bytes.Buffer
	if json.Compact(&b, n.JSON()) != nil {
		return n.KindName()
	}
	return truncate(sanitize.EscapeInvisible(b.String()))
}

// escapedJSON returns a text as JSON with invisible characters escaped.
func escapedJSON(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	return sanitize.EscapeInvisible(string(text))
}

func truncate(s string) string { return aai.CleanLabel(s, maxShownValue) }
