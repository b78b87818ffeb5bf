package schema

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// enter checks that a node is a schema by the meta-schema of draft-07, and
// everything below it that stands in the place of a schema too. Keywords that
// draft-07 does not know are left alone.
func (d *document) enter(n *node) (*subschema, error) {
	if n.schema != nil {
		return n.schema, nil
	}
	s := &subschema{node: n}
	n.schema = s
	d.schemas = append(d.schemas, s)
	switch n.kind {
	case 't', 'f':
		return s, nil
	case '{':
	default:
		return nil, n.fault("expected a schema (an object, true or false), got %s", n)
	}
	for k := n.first; k != nil; k = k.next {
		if err := d.keyword(s, k); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// keyword checks one member of a schema.
func (d *document) keyword(s *subschema, k *node) error {
	switch k.name {
	case "$ref", "$id", "$schema", "$comment", "title", "description", "format", "pattern", "contentEncoding", "contentMediaType":
		if k.kind != '"' {
			return k.fault("expected a string, got %s", k)
		}
		return d.text(s, k)
	case "readOnly", "writeOnly", "uniqueItems":
		if k.kind != 't' && k.kind != 'f' {
			return k.fault("expected true or false, got %s", k)
		}
		s.secret = s.secret || k.name == "writeOnly" && k.kind == 't'
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return number(k)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return count(k)
	case "type":
		return types(k)
	case "const", "default":
		k.data = true
	case "enum":
		k.data = true
		return enum(k)
	case "examples":
		k.data = true
		if k.kind != '[' {
			return k.fault("expected an array, got %s", k)
		}
	case "required":
		return s.names(k)
	case "properties", "patternProperties", "definitions", "dependencies":
		return d.schemasByName(s, k)
	case "allOf", "anyOf", "oneOf":
		return d.schemaList(s, k)
	case "items":
		if k.kind == '[' {
			return d.schemaList(s, k)
		}
		return d.below(s, k)
	case "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "additionalItems":
		return d.below(s, k)
	}
	return nil
}

// below enters a schema that values are held against because of s.
func (d *document) below(s *subschema, n *node) error {
	child, err := d.enter(n)
	if err == nil {
		s.children = append(s.children, child)
	}
	return err
}

func (d *document) schemaList(s *subschema, k *node) error {
	if k.kind != '[' || k.first == nil {
		return k.fault("expected an array of at least one schema, got %s", k.orEmpty())
	}
	for item := k.first; item != nil; item = item.next {
		if err := d.below(s, item); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) schemasByName(s *subschema, k *node) error {
	if k.kind != '{' {
		return k.fault("expected an object of schemas, got %s", k)
	}
	for member := k.first; member != nil; member = member.next {
		var err error
		switch {
		case k.name == "definitions":
			_, err = d.enter(member) // counted where it is referred to
		case k.name == "dependencies" && member.kind == '[':
			err = s.names(member)
		default:
			s.secret = s.secret || asksSecret(member.name, member)
			if k.name == "patternProperties" {
				if err := d.pattern(member, member.name); err != nil {
					return err
				}
			}
			err = d.below(s, member)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// names checks an array of different property names.
func (s *subschema) names(k *node) error {
	if k.kind != '[' {
		return k.fault("expected an array of property names, got %s", k)
	}
	seen := map[string]bool{}
	for item := k.first; item != nil; item = item.next {
		if item.kind != '"' {
			return item.fault("expected a property name, got %s", item)
		}
		if seen[item.text] {
			return item.fault("%s stands twice in the array", item)
		}
		seen[item.text] = true
		s.secret = s.secret || asksSecret(item.text, beside(k, item.text))
	}
	return nil
}

// text checks the keywords whose values are strings with a meaning.
func (d *document) text(s *subschema, k *node) error {
	switch k.name {
	case "$ref":
		s.ref = k
	case "$id":
		if s.node.parent != nil && !strings.HasPrefix(k.text, "#") {
			d.nestedID = k
		}
	case "$schema":
		if !isDraft7(k.text) {
			return k.fault("expected http://json-schema.org/draft-07/schema#, got %s", k)
		}
	case "format":
		s.secret = s.secret || k.text == "password"
	case "pattern":
		return d.pattern(k, k.text)
	}
	return nil
}

func isDraft7(uri string) bool {
	uri = strings.TrimSuffix(uri, "#")
	return uri == "http://json-schema.org/draft-07/schema" || uri == "https://json-schema.org/draft-07/schema"
}

// pattern checks that a regular expression can be used, and used cheaply.
func (d *document) pattern(at *node, expression string) error {
	size, err := checkPattern(expression)
	if err != nil {
		return at.fault("%v", err)
	}
	if d.programs += size; d.programs > maxPrograms {
		return at.fault("the patterns of the schema are too large together")
	}
	return nil
}

func number(k *node) error {
	if k.kind != '0' {
		return k.fault("expected a number, got %s", k)
	}
	if k.name == "multipleOf" && exact(k.text).Sign() <= 0 {
		return k.fault("expected a number greater than 0, got %s", k)
	}
	return nil
}

// count checks an integer from 0. One too large for any value of ours is made
// smaller, so that it fits the library's int on every computer.
func count(k *node) error {
	if k.kind != '0' || strings.HasPrefix(k.text, "-") && exact(k.text).Sign() < 0 || !exact(k.text).IsInt() {
		return k.fault("expected an integer from 0, got %s", k)
	}
	if exact(k.text).Cmp(new(big.Rat).SetInt64(math.MaxInt32)) > 0 {
		k.text = strconv.Itoa(math.MaxInt32)
	}
	return nil
}

// exact is a number of a schema, which [reasonable] has found to be cheap.
func exact(number string) *big.Rat {
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		return new(big.Rat)
	}
	return r
}

func types(k *node) error {
	switch {
	case k.kind == '[' && k.first != nil:
	case k.kind == '"':
		return typeName(k)
	default:
		return k.fault("expected a type or an array of types, got %s", k.orEmpty())
	}
	var seen []string
	for item := k.first; item != nil; item = item.next {
		if err := typeName(item); err != nil {
			return err
		}
		if slices.Contains(seen, item.text) {
			return item.fault("%s stands twice in the array", item)
		}
		seen = append(seen, item.text)
	}
	return nil
}

func typeName(n *node) error {
	switch n.text {
	case "array", "boolean", "integer", "null", "number", "object", "string":
		if n.kind == '"' {
			return nil
		}
	}
	return n.fault("expected one of array, boolean, integer, null, number, object, string, got %s", n)
}

func enum(k *node) error {
	if k.kind != '[' || k.first == nil {
		return k.fault("expected an array of at least one value, got %s", k.orEmpty())
	}
	seen := map[string]bool{}
	for item := k.first; item != nil; item = item.next {
		c := item.canonical()
		if seen[c] {
			return item.fault("the value stands twice in the array")
		}
		seen[c] = true
	}
	return nil
}

// orEmpty is String, but tells an empty array from a full one.
func (n *node) orEmpty() string {
	if n.kind == '[' && n.first == nil {
		return "an empty array"
	}
	return n.String()
}

// canonical returns the same text for equal values: members sorted, numbers
// reduced.
func (n *node) canonical() string {
	var parts []string
	for k := n.first; k != nil; k = k.next {
		part := k.canonical()
		if n.kind == '{' {
			part = strconv.Quote(k.name) + ":" + part
		}
		parts = append(parts, part)
	}
	switch n.kind {
	case '{':
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case '[':
		return "[" + strings.Join(parts, ",") + "]"
	case '"':
		return strconv.Quote(n.text)
	case '0':
		return exact(n.text).RatString()
	}
	return n.String()
}
