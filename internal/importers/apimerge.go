package importers

import (
	"reflect"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// combined converts allOf, anyOf and oneOf. oneOf becomes anyOf, because authors rarely ensure
// that only one schema fits.
func (c *schemaConverter) combined(o object, s *openapi3.Schema, depth int) {
	list := func(refs openapi3.SchemaRefs) (all []any) {
		for _, ref := range refs {
			all = append(all, c.schema(ref, depth))
		}
		return all
	}
	var choice []any
	switch {
	case len(s.AnyOf) > 0:
		choice = list(s.AnyOf)
	case len(s.OneOf) > 0:
		choice = list(s.OneOf)
	}
	if len(choice) > 0 && s.Nullable {
		choice = append(choice, object{"type": "null"})
	}
	if len(choice) > 0 && !slices.ContainsFunc(choice, isAnything) {
		o["anyOf"] = choice
	}
	all := list(s.AllOf)
	if s.Nullable && len(o) == 0 {
		return // null matches none of these
	}
	if len(all) == 1 && mergeOne(o, all[0]) || mergeObjects(o, all) {
		return
	}
	if len(all) > 0 {
		o["allOf"] = all
	}
}

// mergeOne merges a single subschema into o. It reports false, and changes nothing, if their keywords conflict.
func mergeOne(o object, one any) bool {
	part, _ := one.(object)
	for key, value := range o {
		switch key {
		case "description", "format", "writeOnly":
		case "type":
			if part["type"] != nil && !reflect.DeepEqual(part["type"], value) {
				return false
			}
		default:
			return false
		}
	}
	for key, value := range part {
		if _, given := o[key]; !given {
			o[key] = value
		}
	}
	return true
}

// mergeObjects merges the subschemas of an allOf into o. It reports false, and changes nothing, unless all are plain
// objects.
func mergeObjects(o object, all []any) bool {
	parts := []object{o}
	for _, one := range all {
		part, _ := one.(object)
		parts = append(parts, part)
	}
	if len(all) == 0 {
		return true
	}
	closed := false
	for _, part := range parts {
		for key := range part {
			switch key {
			case "type", "properties", "required", "description":
			case "additionalProperties":
				if part[key] != false {
					return false
				}
				closed = true
			default:
				return false
			}
		}
		if t, given := part["type"]; given && t != "object" {
			return false
		}
	}
	properties, required := object{}, []string{}
	for _, part := range parts {
		members, _ := part["properties"].(object)
		for name, member := range members {
			if _, twice := properties[name]; !twice || len(member.(object)) > 0 {
				properties[name] = member
			}
		}
		names, _ := part["required"].([]string)
		for _, name := range names {
			if !slices.Contains(required, name) {
				required = append(required, name)
			}
		}
		if words, given := part["description"]; given && o["description"] == nil {
			o["description"] = words
		}
	}
	o["type"] = "object"
	if len(properties) > 0 {
		o["properties"] = properties
	}
	if delete(o, "additionalProperties"); closed && len(properties) > 0 {
		o["additionalProperties"] = false // of the merged object; each part alone would reject the others' members
	}
	required = slices.DeleteFunc(required, func(name string) bool { return properties[name] == nil })
	if delete(o, "required"); len(required) > 0 {
		o["required"] = required
	}
	return true
}

// isAnything reports whether a schema accepts any value.
func isAnything(v any) bool {
	o, _ := v.(object)
	return len(o) == 0
}
