package schema

import (
	"github.com/gybob/aai-gateway"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What the defaults of one schema may add to one value. A list of many objects
// multiplies every default of its items.
const (
	maxDefaultValues = 20_000  // values
	maxDefaultBytes  = 4 << 20 // of text and names
)

// A filler puts defaults into one value.
type defaultFiller struct {
	steps, nodes, bytes int // what it has done so far
}

// fill puts the defaults of the schemas that apply to the value into it. The
// value must be ours to change. Working with all of the schemas at once makes
// filling twice the same as filling once.
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

// unconditional appends s and what it applies to the same value whatever the value is:
// the target of "$ref" and the schemas of "allOf". The others, such as "anyOf",
// may not apply, and a default must not depend on a guess.
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

// fillMissing sets the members that are missing and have a default. The first
// schema that has one wins.
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

// defaultOf finds the default of a schema, or of what it surely applies.
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

// charge counts a default that is about to be filled in.
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
		return aai.Errorf(aai.InvalidParams, "the defaults of the schema would add more than %d values or %d MiB of text", maxDefaultValues, maxDefaultBytes>>20)
	}
	return nil
}
