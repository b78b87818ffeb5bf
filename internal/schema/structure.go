package schema

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// enter checks by the meta-schema of draft-07 that a node and all nodes below at positions of
// schemas are schemas. It ignores keywords that draft-07 does not define.
func (d *document) enter(n *node) (*subschema, error) {
	if n.Mark.schema != nil {
		return n.Mark.schema, nil
	}
	s := &subschema{node: n}
	n.Mark.schema = s
	d.schemas = append(d.schemas, s)
	switch n.Kind {
	case 't', 'f':
		return s, nil
	case '{':
	default:
		err := faultAt(n, "expected a schema (an object, true or false), got %s", describeNode(n))
		if !d.lenient {
			return nil, err
		}
		d.acceptAll(s, err)
		return s, nil
	}
	for k := n.First; k != nil; k = k.Next {
		if d.lenient {
			readDraft04(k)
		}
		if k.Mark.left {
			continue
		}
		if err := d.keyword(s, k); err != nil {
			if !d.lenient {
				return nil, err
			}
			d.leaveOut(s, k, err)
		}
	}
	return s, nil
}

// keyword checks one member of a schema.
func (d *document) keyword(s *subschema, k *node) error {
	switch k.Name {
	case "$ref", "$id", "$schema", "$comment", "title", "description", "format", "pattern", "contentEncoding",
		"contentMediaType":
		if k.Kind != '"' {
			return faultAt(k, "expected a string, got %s", describeNode(k))
		}
		return d.text(s, k)
	case "readOnly", "writeOnly", "uniqueItems":
		if k.Kind != 't' && k.Kind != 'f' {
			return faultAt(k, "expected true or false, got %s", describeNode(k))
		}
		s.secret = s.secret || k.Name == "writeOnly" && k.Kind == 't'
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return number(k)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return count(k)
	case "type":
		return types(k)
	case "const", "default":
		k.Mark.data = true
	case "enum":
		k.Mark.data = true
		return enum(k)
	case "examples":
		k.Mark.data = true
		if k.Kind != '[' {
			return faultAt(k, "expected an array, got %s", describeNode(k))
		}
	case "required":
		return s.names(k)
	case "properties", "patternProperties", "definitions", "dependencies":
		return d.schemasByName(s, k)
	case "allOf", "anyOf", "oneOf":
		return d.schemaList(s, k)
	case "items":
		if k.Kind == '[' {
			return d.schemaList(s, k)
		}
		return d.below(s, k, k)
	case "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "additionalItems":
		return d.below(s, k, k)
	}
	if d.lenient {
		return d.laterKeyword(s, k)
	}
	return nil
}

// below enters a schema that is applied because of a keyword of s.
func (d *document) below(s *subschema, keyword, n *node) error {
	child, err := d.enter(n)
	if err == nil {
		s.children = append(s.children, edge{child, keyword})
	}
	return err
}

func (d *document) schemaList(s *subschema, k *node) error {
	if k.Kind != '[' || k.First == nil {
		return faultAt(k, "expected an array of at least one schema, got %s", describeNodeOrEmpty(k))
	}
	for item := k.First; item != nil; item = item.Next {
		if err := d.below(s, k, item); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) schemasByName(s *subschema, k *node) error {
	if k.Kind != '{' {
		return faultAt(k, "expected an object of schemas, got %s", describeNode(k))
	}
	for member := k.First; member != nil; member = member.Next {
		var err error
		switch {
		case k.Name == "definitions", k.Name == "$defs":
			_, err = d.enter(member) // counted at each reference to it
		case k.Name == "dependencies" && member.Kind == '[':
			err = s.names(member)
		default:
			s.secret = s.secret || isSecretProperty(member.Name, member)
			if k.Name == "patternProperties" {
				if err := d.pattern(member, member.Name); err != nil && !d.lenient {
					return err
				} else if err != nil {
					d.leaveOut(s, member, err)
				}
			}
			err = d.below(s, k, member)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// names checks an array of distinct property names.
func (s *subschema) names(k *node) error {
	if k.Kind != '[' {
		return faultAt(k, "expected an array of property names, got %s", describeNode(k))
	}
	seen := map[string]bool{}
	for item := k.First; item != nil; item = item.Next {
		if item.Kind != '"' {
			return faultAt(item, "expected a property name, got %s", describeNode(item))
		}
		if seen[item.Text] {
			return faultAt(item, "%s stands twice in the array", describeNode(item))
		}
		seen[item.Text] = true
		s.secret = s.secret || isSecretProperty(item.Text, siblingSchema(k, item.Text))
	}
	return nil
}

// text checks the keywords with string values that have a meaning.
func (d *document) text(s *subschema, k *node) error {
	switch k.Name {
	case "$ref":
		s.ref = k
	case "$id":
		if s.node.Parent != nil && !strings.HasPrefix(k.Text, "#") {
			d.nestedID = k
		}
	case "$schema":
		if d.lenient {
			d.ignoresSiblings = slices.ContainsFunc([]string{"-04/", "-06/", "-07/"}, func(draft string) bool {
				return k.Parent == d.schemas[0].node && strings.Contains(k.Text, "/draft"+draft)
			})
		} else if !isDraft7(k.Text) {
			return faultAt(k, "expected http://json-schema.org/draft-07/schema#, got %s", describeNode(k))
		}
	case "format":
		s.secret = s.secret || k.Text == "password"
	case "pattern":
		return d.pattern(k, k.Text)
	}
	return nil
}

func isDraft7(uri string) bool {
	uri = strings.TrimSuffix(uri, "#")
	return uri == "http://json-schema.org/draft-07/schema" || uri == "https://json-schema.org/draft-07/schema"
}

// pattern checks that a regular expression is supported and cheap.
func (d *document) pattern(at *node, expression string) error {
	size, err := checkPattern(expression)
	if err != nil {
		return faultAt(at, "%v", err)
	}
	if d.programs += size; d.programs > maxPrograms {
		return faultAt(at, "the patterns of the schema are too large together")
	}
	return nil
}

func number(k *node) error {
	if k.Kind != '0' {
		return faultAt(k, "expected a number, got %s", describeNode(k))
	}
	if k.Name == "multipleOf" && rational(k.Text).Sign() <= 0 {
		return faultAt(k, "expected a number greater than 0, got %s", describeNode(k))
	}
	return nil
}

// count checks a non-negative integer. A larger one than MaxInt32 is reduced to that, so that it
// fits the library's int on every platform.
func count(k *node) error {
	if k.Kind != '0' || strings.HasPrefix(k.Text, "-") && rational(k.Text).Sign() < 0 || !rational(k.Text).IsInt() {
		return faultAt(k, "expected an integer from 0, got %s", describeNode(k))
	}
	if rational(k.Text).Cmp(new(big.Rat).SetInt64(math.MaxInt32)) > 0 {
		k.Text = strconv.Itoa(math.MaxInt32)
	}
	return nil
}

// rational returns a number of a schema, which [jsontree.IsCheapNumber] has accepted.
func rational(number string) *big.Rat {
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		return new(big.Rat)
	}
	return r
}

func types(k *node) error {
	switch {
	case k.Kind == '[' && k.First != nil:
	case k.Kind == '"':
		return typeName(k)
	default:
		return faultAt(k, "expected a type or an array of types, got %s", describeNodeOrEmpty(k))
	}
	var seen []string
	for item := k.First; item != nil; item = item.Next {
		if err := typeName(item); err != nil {
			return err
		}
		if slices.Contains(seen, item.Text) {
			return faultAt(item, "%s stands twice in the array", describeNode(item))
		}
		seen = append(seen, item.Text)
	}
	return nil
}

func typeName(n *node) error {
	switch n.Text {
	case "array", "boolean", "integer", "null", "number", "object", "string":
		if n.Kind == '"' {
			return nil
		}
	}
	return faultAt(n, "expected one of array, boolean, integer, null, number, object, string, got %s", describeNode(n))
}

func enum(k *node) error {
	if k.Kind != '[' || k.First == nil {
		return faultAt(k, "expected an array of at least one value, got %s", describeNodeOrEmpty(k))
	}
	seen := map[string]bool{}
	for item := k.First; item != nil; item = item.Next {
		c := canonical(item)
		if seen[c] {
			return faultAt(item, "the value stands twice in the array")
		}
		seen[c] = true
	}
	return nil
}

// describeNodeOrEmpty is describeNode that distinguishes an empty array.
func describeNodeOrEmpty(n *node) string {
	if n.Kind == '[' && n.First == nil {
		return "an empty array"
	}
	return describeNode(n)
}

// canonical returns the same text for equal values: members sorted, numbers reduced.
func canonical(n *node) string {
	var parts []string
	for k := n.First; k != nil; k = k.Next {
		part := canonical(k)
		if n.Kind == '{' {
			part = strconv.Quote(k.Name) + ":" + part
		}
		parts = append(parts, part)
	}
	switch n.Kind {
	case '{':
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case '[':
		return "[" + strings.Join(parts, ",") + "]"
	case '"':
		return strconv.Quote(n.Text)
	case '0':
		return rational(n.Text).RatString()
	}
	return describeNode(n)
}
