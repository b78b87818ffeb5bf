package schema

import (
	"cmp"

	"github.com/gybob/aai-gateway"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The budget of one check. It is computed before the library begins, because the library cannot
// be stopped: a schema and a value within their limits can still be too expensive together.
const (
	maxWork = 1_000_000 // steps: sub-schemas visited, values compared
	// maxLenientWork is maxWork for a schema that may recurse: a value that fits nowhere in nested choices
	// makes the library collect a failure in each step.
	maxLenientWork = 30_000
	maxMatchWork   = 300_000_000 // pattern instructions times bytes of text
	maxMatchText   = 64 << 10    // bytes of text matched against a pattern
	maxUniqueList  = 10_000      // items checked by "uniqueItems"

	// stepsPerRegexByte is the cost per byte of a value that must be a regular expression:
	// "x{1000}" compiles to a thousand instructions.
	stepsPerRegexByte = 40
)

// A meter sums up the cost of checking a value against a schema. It does not stop early as the
// library may, so it never underestimates.
type meter struct {
	work, match int
	most        int // work; zero means maxWork
	at          path
}

func tooMuchWork() error {
	return &aai.Error{
		Code:    aai.InvalidParams,
		Message: "the value is too large to be checked against its schema",
		Hint:    "Send less at once.",
	}
}

// visit adds the cost of checking the value against s, and returns an error above the limit.
func (m *meter) visit(s *jsonschema.Schema, value any) error {
	m.work += 1 + len(s.Required)
	if s.Enum != nil {
		m.work += len(s.Enum.Values)
	}
	if m.work > cmp.Or(m.most, maxWork) {
		return tooMuchWork()
	}
	for child := range inPlaceSchemas(s) {
		if err := m.visit(child, value); err != nil {
			return err
		}
	}
	switch v := value.(type) {
	case string:
		return m.text(s, v)
	case map[string]any:
		return m.object(s, v)
	case []any:
		return m.array(s, v)
	}
	return nil
}

func (m *meter) text(s *jsonschema.Schema, text string) error {
	if s.Format != nil && s.Format.Name == "regex" {
		m.work += stepsPerRegexByte * min(len(text), maxPattern)
	}
	if s.Pattern != nil {
		return m.matching(s.Pattern, text)
	}
	return nil
}

// matching adds the cost of matching a pattern with a text.
func (m *meter) matching(r jsonschema.Regexp, text string) error {
	if len(text) > maxMatchText {
		return aai.Errorf(aai.InvalidParams, "%sexpected at most %d bytes of text, because it must match a pattern; got %d",
			prefix(m.at), maxMatchText, len(text))
	}
	size := maxProgram
	if p, ok := r.(*pattern); ok {
		size = p.size
	}
	if m.match += size * (1 + len(text)); m.match > maxMatchWork {
		return tooMuchWork()
	}
	return nil
}

func (m *meter) object(s *jsonschema.Schema, object map[string]any) error {
	additional, _ := s.AdditionalProperties.(*jsonschema.Schema)
	members := []*jsonschema.Schema{nil, additional, s.UnevaluatedProperties}
	for name, member := range object {
		if s.PropertyNames != nil {
			if err := m.visit(s.PropertyNames, name); err != nil {
				return err
			}
		}
		m.at = append(m.at, name)
		for expression, child := range s.PatternProperties {
			if err := m.matching(expression, name); err != nil {
				return err
			}
			if err := m.visit(child, member); err != nil {
				return err
			}
		}
		members[0] = s.Properties[name]
		for _, child := range members {
			if child == nil {
				continue
			}
			if err := m.visit(child, member); err != nil {
				return err
			}
		}
		m.at = m.at[:len(m.at)-1]
	}
	return nil
}

func (m *meter) array(s *jsonschema.Schema, array []any) error {
	if s.UniqueItems && len(array) > maxUniqueList {
		return aai.Errorf(aai.InvalidParams, "%sexpected at most %d items, because they must all be different; got %d",
			prefix(m.at), maxUniqueList, len(array))
	}
	additional, _ := s.AdditionalItems.(*jsonschema.Schema)
	for i, item := range array {
		of := itemSchema(s, i)
		if of == nil {
			of = additional
		}
		m.at = append(m.at, i)
		for _, child := range []*jsonschema.Schema{of, s.Contains, s.UnevaluatedItems} {
			if child == nil {
				continue
			}
			if err := m.visit(child, item); err != nil {
				return err
			}
		}
		m.at = m.at[:len(m.at)-1]
	}
	return nil
}
