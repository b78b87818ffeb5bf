package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Limits on the parts of a schema that a guide shows.
const (
	maxParamText = 200 // bytes of a parameter's description
	maxChoices   = 20  // values of an enum
	maxNesting   = 3   // objects within objects
	maxParams    = 100 // parameters and members of one tool, together
	maxSteps     = 20_000
	maxListTypes = 5 // lists within lists, and items of a tuple
)

// A param is one parameter in a guide.
type param struct {
	name, kind   string
	required     bool
	defaultValue string // the default, as JSON
	choice       string // the enum, as JSON values
	bounds       string
	description  string  // quoted if untrusted
	members      []param // of an object, or of the objects in a list
}

// A schemaView reads a schema that was validated.
type schemaView struct {
	root, node *node
	left       *int // number of parameters that may still be shown
	steps      *int // number of parts that may still be read: a schema may refer to itself
	quote      quoter
}

func readSchema(source []byte, say quoter) schemaView {
	if len(source) == 0 {
		return schemaView{}
	}
	root, fault := new(reader).read(source, ownLimits())
	if fault != nil {
		return schemaView{}
	}
	left, steps := maxParams, maxSteps
	return schemaView{root: root, node: root, left: &left, steps: &steps, quote: say}
}

// at returns the view of a part, following references within the document. After maxSteps parts it
// returns the view of an empty schema.
func (v schemaView) at(n *node) schemaView {
	if v.steps != nil {
		if *v.steps--; *v.steps < 0 {
			n = &node{Kind: object}
		}
	}
	for range maxDepth {
		ref := n.Member("$ref")
		if ref == nil || ref.Kind != text {
			break
		}
		target := v.root.ResolveRef(ref.Text)
		if target == nil {
			break
		}
		n = target
	}
	return schemaView{root: v.root, node: n, left: v.left, steps: v.steps, quote: v.quote}
}

// properties calls f for each property, in order.
func (v schemaView) properties(f func(name string, required bool, property schemaView)) {
	properties := v.node.Member("properties")
	if properties == nil {
		return
	}
	required := make(map[string]bool)
	if list := v.node.Member("required"); list != nil {
		for r := list.First; r != nil; r = r.Next {
			required[r.Text] = true
		}
	}
	for p := properties.First; p != nil; p = p.Next {
		f(p.Name, required[p.Name], v.at(p))
	}
}

func (v schemaView) params() []param { return v.at(v.node).membersOf(1) }

func (v schemaView) membersOf(nesting int) (params []param) {
	if nesting > maxNesting || v.node == nil {
		return nil
	}
	v.properties(func(name string, required bool, property schemaView) {
		if *v.left--; *v.left >= 0 {
			params = append(params, property.param(name, required, nesting))
		}
	})
	return params
}

// omitted returns the number of parameters not shown.
func (v schemaView) omitted() int {
	if v.left == nil {
		return 0
	}
	return max(0, -*v.left)
}

func (v schemaView) param(name string, required bool, nesting int) param {
	p := param{name: paramName(name), kind: v.kind(0), required: required}
	if d := v.node.Member("description"); d != nil {
		if words := aai.CleanLabel(d.Text, maxParamText); words != "" {
			p.description = v.quote(withFullStop(words), maxParamText+len("."))
		}
	}
	if d := v.node.Member("default"); d != nil {
		p.defaultValue = shownValue(d)
	}
	p.choice, p.bounds = v.choice(), v.bounds()
	p.members = v.membersOf(nesting + 1)
	if items := v.node.Member("items"); items != nil && items.Kind == object {
		p.members = append(p.members, v.at(items).membersOf(nesting+1)...)
	}
	return p
}

// paramName quotes a name that could be misread.
func paramName(name string) string {
	if isPlainName(name) {
		return name
	}
	return shownValue(&node{Kind: text, Text: name})
}

// shownValue returns a short value as exact JSON, and its type otherwise.
func shownValue(n *node) string {
	var b bytes.Buffer
	switch {
	case len(n.Text) > maxName:
		return sanitize.Quote(n.Text, maxName)
	case n.Kind != object && n.Kind != list:
		return sanitize.QuoteJSON(string(n.JSON()))
	case json.Compact(&b, n.Raw()) != nil || b.Len() > maxName:
		return n.KindName()
	}
	return sanitize.QuoteJSON(b.String())
}

// kind returns the type: "string", "date-time string", "integer", "list of string".
func (v schemaView) kind(nesting int) string {
	kind := "any"
	if t := v.node.Member("type"); t != nil && t.Kind == text {
		kind = typeName(t)
	} else if t != nil && t.Kind == list {
		var kinds []string
		for k := t.First; k != nil; k = k.Next {
			kinds = append(kinds, typeName(k))
		}
		kind = strings.Join(kinds, " or ")
	} else if v.node.Member("properties") != nil {
		kind = "object"
	} else if enum := v.node.Member("enum"); enum != nil && enum.First != nil {
		kind = strings.TrimPrefix(strings.TrimPrefix(enum.First.KindName(), "an "), "a ")
	}
	if kind == "array" {
		kind = "list"
		if items := v.node.Member("items"); items != nil && items.Kind == object && nesting < maxListTypes {
			kind = "list of " + v.at(items).kind(nesting+1)
		}
		if tuple := v.tuple(); tuple != nil && nesting < maxListTypes && tuple.Count() <= maxListTypes {
			var kinds []string
			for item := tuple.First; item != nil; item = item.Next {
				kinds = append(kinds, v.at(item).kind(nesting+1))
			}
			kind = "list of " + strings.Join(kinds, ", ")
		}
	}
	if f := v.node.Member("format"); f != nil && kind == "string" && knownFormat(f.Text) {
		kind = f.Text + " string"
	}
	return kind
}

// tuple returns the schemas of the single items of a list, or nil.
func (v schemaView) tuple() *node {
	for _, name := range []string{"prefixItems", "items"} {
		if items := v.node.Member(name); items != nil && items.Kind == list {
			return items
		}
	}
	return nil
}

// typeName returns the name of a type, or "any" for an unknown one.
func typeName(n *node) string {
	switch n.Text {
	case "string", "number", "integer", "boolean", "object", "array", "null":
		return n.Text
	}
	return "any"
}

// knownFormat reports whether a format is a common one of draft-07 and later, or of OpenAPI.
// Others are not shown, because an author could use them for arbitrary text.
func knownFormat(format string) bool {
	return formatted(format) != "" || slices.Contains([]string{
		"regex", "json-pointer", "relative-json-pointer", "password", "byte", "binary", "int32", "int64", "float", "double",
	}, format)
}

// choice returns the values of an enum or const.
func (v schemaView) choice() string {
	if c := v.node.Member("const"); c != nil {
		return shownValue(c)
	}
	enum := v.node.Member("enum")
	if items := v.node.Member("items"); enum == nil && items != nil && items.Kind == object {
		enum = v.at(items).node.Member("enum")
	}
	if enum == nil {
		return ""
	}
	var values []string
	for e := enum.First; e != nil; e = e.Next {
		if len(values) == maxChoices {
			values = append(values, fmt.Sprintf("… (%d in all)", enum.Count()))
			break
		}
		values = append(values, shownValue(e))
	}
	return strings.Join(values, ", ")
}

// bounds describes the limits of a value, such as its minimum or pattern; "": none.
func (v schemaView) bounds() string {
	var words []string
	for _, limit := range []struct{ key, word string }{
		{"minimum", "at least "}, {"exclusiveMinimum", "more than "}, {"maximum", "at most "},
		{"exclusiveMaximum", "less than "}, {"minLength", "length at least "}, {"maxLength", "length at most "},
		{"minItems", "items at least "}, {"maxItems", "items at most "}, {"pattern", "pattern "},
	} {
		if n := v.node.Member(limit.key); n != nil && (n.Kind == number || n.Kind == text) {
			words = append(words, limit.word+shownValue(n))
		}
	}
	if len(words) == 0 {
		return ""
	}
	first := words[0]
	words[0] = strings.ToUpper(first[:1]) + first[1:]
	return strings.Join(words, ", ")
}

// summary describes a result in a few words.
func (v schemaView) summary() string {
	if v.node == nil {
		return ""
	}
	top := v.at(v.node)
	kind := top.kind(0)
	if items := top.node.Member("items"); items != nil && items.Kind == object {
		top = top.at(items)
	}
	var members []string
	for _, p := range top.membersOf(maxNesting) {
		members = append(members, p.name+" ("+p.kind+")")
	}
	if len(members) == 0 {
		if kind == "any" {
			return ""
		}
		return kind
	}
	if len(members) > maxChoices {
		members = append(members[:maxChoices], "…")
	}
	return kind + " with " + strings.Join(members, ", ")
}
