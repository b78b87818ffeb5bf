package schema

import (
	"aai"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What the defaults of one schema may add to one value. A list of many objects
// multiplies every default of its items.
const (
	maxFilled      = 20_000  // values
	maxFilledBytes = 4 << 20 // of text and names
)

// A filler puts defaults into one value.
type filler struct {
	steps, nodes, bytes int // what it has done so far
}

// fill puts the defaults of the schemas that apply to the value into it. The
// value must be ours to change. Working with all of the schemas at once makes
// filling twice the same as filling once.
func (f *filler) fill(value any, schemas []*jsonschema.Schema) error {
	switch value.(type) {
	case map[string]any, []any:
	default:
		return nil
	}
	var all []*jsonschema.Schema
	for _, s := range schemas {
		all = f.certain(all, s)
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

// certain appends s and what it applies to the same value whatever the value is:
// the target of "$ref" and the schemas of "allOf". The others, such as "anyOf",
// may not apply, and a default must not depend on a guess.
func (f *filler) certain(all []*jsonschema.Schema, s *jsonschema.Schema) []*jsonschema.Schema {
	if f.steps++; f.steps > maxWork {
		return all
	}
	if s.Ref != nil {
		return f.certain(all, s.Ref)
	}
	all = append(all, s)
	for _, part := range s.AllOf {
		all = f.certain(all, part)
	}
	return all
}

// fillMissing sets the members that are missing and have a default. The first
// schema that has one wins.
func (f *filler) fillMissing(object map[string]any, schemas []*jsonschema.Schema) error {
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
			if err := f.weigh(*value); err != nil {
				return err
			}
			object[name] = asGiven(*value)
		}
	}
	return nil
}

// defaultOf finds the default of a schema, or of what it surely applies.
func (f *filler) defaultOf(s *jsonschema.Schema) *any {
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

// weigh counts a default that is about to be filled in.
func (f *filler) weigh(value any) error {
	f.nodes++
	switch v := value.(type) {
	case string:
		f.bytes += len(v)
	case map[string]any:
		for name, member := range v {
			f.bytes += len(name)
			if err := f.weigh(member); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := f.weigh(item); err != nil {
				return err
			}
		}
	}
	if f.nodes > maxFilled || f.bytes > maxFilledBytes {
		return aai.Errorf(aai.InvalidParams, "the defaults of the schema would add more than %d values or %d MiB of text", maxFilled, maxFilledBytes>>20)
	}
	return nil
}
