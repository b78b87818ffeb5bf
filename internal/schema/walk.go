package schema

import (
	"iter"
	"net/url"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// children yields the schemas that a compiled schema applies to the same value or to
// parts of it.
func children(s *jsonschema.Schema) iter.Seq[*jsonschema.Schema] {
	return func(yield func(*jsonschema.Schema) bool) {
		for child := range inPlaceSchemas(s) {
			if !yield(child) {
				return
			}
		}
		below := []any{s.Items, s.AdditionalItems, s.PrefixItems, s.Items2020, s.Contains, s.AdditionalProperties,
			s.PropertyNames, s.UnevaluatedItems, s.UnevaluatedProperties}
		for _, child := range s.Properties {
			below = append(below, child)
		}
		for _, child := range s.PatternProperties {
			below = append(below, child)
		}
		for _, child := range below {
			switch child := child.(type) {
			case *jsonschema.Schema:
				if child != nil && !yield(child) {
					return
				}
			case []*jsonschema.Schema:
				for _, item := range child {
					if !yield(item) {
						return
					}
				}
			}
		}
	}
}

// inPlaceSchemas yields the schemas that a schema may apply to the same value.
func inPlaceSchemas(s *jsonschema.Schema) iter.Seq[*jsonschema.Schema] {
	return func(yield func(*jsonschema.Schema) bool) {
		for _, list := range [][]*jsonschema.Schema{{s.Ref, s.Not, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf} {
			for _, child := range list {
				if child != nil && !yield(child) {
					return
				}
			}
		}
		for _, dependency := range s.DependentSchemas {
			if !yield(dependency) {
				return
			}
		}
		for _, dependency := range s.Dependencies {
			if child, ok := dependency.(*jsonschema.Schema); ok && !yield(child) {
				return
			}
		}
	}
}

// itemSchema returns the schema that "items" or "prefixItems" has for the item at index, or nil.
func itemSchema(s *jsonschema.Schema, index int) *jsonschema.Schema {
	if index < len(s.PrefixItems) {
		return s.PrefixItems[index]
	}
	if s.Items2020 != nil {
		return s.Items2020
	}
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		return items
	case []*jsonschema.Schema:
		if index < len(items) {
			return items[index]
		}
	}
	return nil
}

// locationPath converts the library's location of a schema, a URL with a JSON pointer, to a path.
func locationPath(where string) path {
	_, fragment, _ := strings.Cut(where, "#")
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	var p path
	for token := range strings.SplitSeq(strings.TrimPrefix(fragment, "/"), "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		if index, err := strconv.Atoi(token); err == nil {
			p = append(p, index)
		} else if token != "" {
			p = append(p, token)
		}
	}
	return p
}
