package schema

import (
	"github.com/gybob/aai-gateway"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The limits for the defaults of one schema in one value. A list of many objects multiplies every
// default of its items.
const (
	maxDefaultValues = 20_000  // values
	maxDefaultBytes  = 4 << 20 // of text and names
)

// A defaultFiller inserts defaults into one value.
type defaultFiller struct {
	steps, nodes, bytes int // used so far
}

// fill inserts the defaults of the applicable schemas into the value, which it changes. It
// handles all schemas together, so filling twice equals filling once.
func (f *defaultFiller) fill(value any, schemas []*jsonschema.Schema) error {
	switch value.(type) {
	case map[string]any, []any:
	default:
		return nil
	}
	var all []*jsonschema.Schema
	for _, s := range schemas {
		all = f.unconditional(all, s)
	}
	if f.steps > maxWork {
		return tooMuchWork()
	}
	switch v := value.(type) {
	case map[string]any:
		if err := f.fillMissing(v, all); err != nil {
			return err
		}
		for name, member := range v {
			var below []*jsonschema.Schema
			for _, s := range all {
				if property := s.Properties[name]; property != nil {
					below = append(below, property)
				}
			}
			if err := f.fill(member, below); err != nil {
				return err
			}
		}
	case []any:
		for i, item := range v {
			var below []*jsonschema.Schema
			for _, s := range all {
				if of := itemSchema(s, i); of != nil {
					below = append(below, of)
				}
			}
			if err := f.fill(item, below); err != nil {
				return err
			}
		}
	}
	return nil
}

// unconditional appends s and the schemas that it always applies to the same value: the target of
// "$ref" and those of "allOf". Others, such as "anyOf", may not apply, and a default must not
// depend on a guess.
func (f *defaultFiller) unconditional(all []*jsonschema.Schema, s *jsonschema.Schema) []*jsonschema.Schema {
	if f.steps++; f.steps > maxWork {
		return all
	}
	if s.Ref != nil {
		return f.unconditional(all, s.Ref)
	}
	all = append(all, s)
	for _, part := range s.AllOf {
		all = f.unconditional(all, part)
	}
	return all
}

// fillMissing sets missing members that have a default. The first schema with a default wins.
func (f *defaultFiller) fillMissing(object map[string]any, schemas []*jsonschema.Schema) error {
	for _, s := range schemas {
		f.steps += len(s.Properties)
		for name, property := range s.Properties {
			if _, given := object[name]; given {
				continue
			}
			value := f.defaultOf(property)
			if value == nil {
				continue
			}
			f.bytes += len(name)
			if err := f.charge(*value); err != nil {
				return err
			}
			object[name] = jsonCopy(*value)
		}
	}
	return nil
}

// defaultOf returns the default of a schema, or of one that it always applies.
func (f *defaultFiller) defaultOf(s *jsonschema.Schema) *any {
	if f.steps++; f.steps > maxWork {
		return nil
	}
	if s.Default != nil {
		return s.Default
	}
	if s.Ref != nil {
		return f.defaultOf(s.Ref)
	}
	for _, part := range s.AllOf {
		if standard := f.defaultOf(part); standard != nil {
			return standard
		}
	}
	return nil
}

// charge counts a default before its insertion.
func (f *defaultFiller) charge(value any) error {
	f.nodes++
	switch v := value.(type) {
	case string:
		f.bytes += len(v)
	case map[string]any:
		for name, member := range v {
			f.bytes += len(name)
			if err := f.charge(member); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := f.charge(item); err != nil {
				return err
			}
		}
	}
	if f.nodes > maxDefaultValues || f.bytes > maxDefaultBytes {
		return aai.Errorf(aai.InvalidParams, "the defaults of the schema would add more than %d values or %d MiB of text",
			maxDefaultValues, maxDefaultBytes>>20)
	}
	return nil
}
