package schema

import (
	"maps"
	"slices"

	"aai"
)

// secrets says which parts of a value are secret.
type secrets struct {
	names []string // of top-level properties, sorted
	other bool     // something that has no name in the schema, such as an item of a list
}

func (d *document) secrets() secrets {
	c := &secretCollector{names: map[string]bool{}, seen: map[*subschema]bool{}}
	c.collect(d.root)
	return secrets{names: slices.Sorted(maps.Keys(c.names)), other: c.other}
}

// covers reports whether the value at a place must not be shown. A text that was
// given where an object with a secret belongs may be that object in writing.
func (s secrets) covers(at path) bool {
	if s.other || len(at) == 0 && len(s.names) > 0 {
		return true
	}
	for i, step := range at {
		name, ok := step.(string)
		if ok && (aai.SecretName(name) || i == 0 && slices.Contains(s.names, name)) {
			return true
		}
	}
	return false
}

// A secretCollector looks at every schema that the whole value is held against.
type secretCollector struct {
	names map[string]bool
	other bool
	seen  map[*subschema]bool
}

func (c *secretCollector) collect(s *subschema) {
	if s == nil || c.seen[s] {
		return
	}
	c.seen[s] = true
	c.collect(s.target)
	for k := s.node.first; k != nil; k = k.next {
		switch k.name {
		case "properties":
			for p := k.first; p != nil; p = p.next {
				if p.schema.secret || aai.SecretName(p.name) {
					c.names[p.name] = true
				}
			}
		case "required":
			for item := k.first; item != nil; item = item.next {
				if aai.SecretName(item.text) {
					c.names[item.text] = true
				}
			}
		case "allOf", "anyOf", "oneOf", "dependencies":
			for item := k.first; item != nil; item = item.next {
				c.collect(item.schema)
			}
		case "not", "if", "then", "else":
			c.collect(k.schema)
		case "additionalProperties", "items", "additionalItems", "contains", "patternProperties":
			c.other = c.other || k.hidesSecret()
		}
	}
}

// hidesSecret reports whether a schema, or one of several, asks for a secret.
func (n *node) hidesSecret() bool {
	if n.schema != nil {
		return n.schema.secret
	}
	for k := n.first; k != nil; k = k.next {
		if k.schema != nil && k.schema.secret || aai.SecretName(k.name) {
			return true
		}
	}
	return false
}
