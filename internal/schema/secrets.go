package schema

import (
	"maps"
	"slices"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// secretPaths tells which parts of a value are secret.
type secretPaths struct {
	names   []string // of top-level properties, sorted
	unnamed bool     // a secret without a name in the schema, such as an item of a list
}

func (d *document) secrets() secretPaths {
	c := &secretCollector{names: map[string]bool{}, seen: map[*subschema]bool{}}
	c.collect(d.root)
	return secretPaths{names: slices.Sorted(maps.Keys(c.names)), unnamed: c.unnamed}
}

// covers reports whether the value at a place must not be shown. A text in place of an object
// with a secret may be that object in JSON.
func (s secretPaths) covers(at path, value any) bool {
	if s.unnamed || len(at) == 0 && len(s.names) > 0 {
		return true
	}
	for i, step := range at {
		name, ok := step.(string)
		if ok && (sanitize.IsSecretName(name) && (i < len(at)-1 || !sanitize.IsCountValue(name, value)) ||
			i == 0 && slices.Contains(s.names, name)) {
			return true
		}
	}
	return false
}

// isSecretProperty reports whether the name of a property marks a secret; a number of tokens is
// none. schema is nil if unknown.
func isSecretProperty(name string, schema *node) bool {
	if !sanitize.IsSecretName(name) {
		return false
	}
	if schema == nil || schema.Kind != '{' || !sanitize.IsCountName(name) {
		return true
	}
	is := schema.Member("type")
	return is == nil || is.Kind != '"' || !slices.Contains([]string{"integer", "number", "boolean"}, is.Text)
}

// siblingSchema returns the schema in "properties" of a name in the "required" beside them, or nil.
func siblingSchema(names *node, name string) *node {
	if names.Name != "required" || names.Parent == nil {
		return nil
	}
	properties := names.Parent.Member("properties")
	if properties == nil || properties.Kind != '{' {
		return nil
	}
	return properties.Member(name)
}

// A secretCollector visits every schema that applies to the whole value.
type secretCollector struct {
	names   map[string]bool
	unnamed bool
	seen    map[*subschema]bool
}

func (c *secretCollector) collect(s *subschema) {
	if s == nil || c.seen[s] {
		return
	}
	c.seen[s] = true
	c.collect(s.target)
	if required := s.node.Member("required"); required != nil && !required.Mark.left {
		for item := range required.Items() {
			if isSecretProperty(item.Text, siblingSchema(required, item.Text)) {
				c.names[item.Text] = true
			}
		}
	}
	for _, e := range s.children {
		name := e.to.node.Name
		switch {
		case e.keyword.Mark.left:
		case e.inPlace():
			c.collect(e.to)
		case e.keyword.Name == "properties":
			if e.to.secret || isSecretProperty(name, e.to.node) {
				c.names[name] = true
			}
		case e.keyword.Name != "propertyNames":
			c.unnamed = c.unnamed || e.to.secret || sanitize.IsSecretName(name)
		}
	}
}
