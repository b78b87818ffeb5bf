package workflow

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// paramsName is the name of a workflow's parameters in templates.
const paramsName = "params"

// schema parses a member that is a JSON Schema of an object.
func (o *documentObject) schema(name string, value any) aai.Schema {
	object, ok := value.(map[string]any)
	if !ok || object["type"] != "object" {
		o.fail(name, `expected a JSON Schema of an object: {"type": "object", "properties": {…}}`)
		return aai.Schema{}
	}
	source, err := json.Marshal(object)
	if err != nil {
		o.fail(name, err.Error())
		return aai.Schema{}
	}
	s, err := schema.Parse(source)
	if err == nil {
		err = schema.Compile(s)
	}
	if err != nil {
		o.fail(name, aai.AsError(err).Message)
	}
	return s
}

// bind returns the document for one run: it replaces the templates of known values in the steps
// from first on. Values are not parsed as templates.
func (d *Document) bind(v stepValues, first int) (*Document, error) {
	one := *d
	var err error
	if one.Steps, err = v.steps(d.Steps, first); err != nil {
		return nil, err
	}
	return &one, nil
}

func (v stepValues) steps(all []*Step, first int) ([]*Step, error) {
	if all == nil {
		return nil, nil
	}
	copies := make([]*Step, len(all))
	for i, s := range all {
		one := *s
		var err error
		if s.Number >= first {
			// a value for a conditional step may be missing if the condition does not hold
			if err = one.resolveKnown(v); err != nil && s.condition == nil {
				return nil, stepError(s, unresolvedError(s, err))
			}
		}
		if one.Parallel, err = v.steps(s.Parallel, first); err != nil {
			return nil, err
		}
		copies[i] = &one
	}
	return copies, nil
}

// resolveKnown resolves the templates of known values. On an error it changes nothing.
func (s *Step) resolveKnown(v stepValues) error {
	args, err := v.resolveKnown(s.args)
	if err != nil {
		return err
	}
	list, err := v.resolveKnown(s.forEach)
	if err != nil {
		return err
	}
	s.args, _ = args.(map[string]any)
	s.forEach = list
	return nil
}

// resolveKnown resolves the templates of known values and keeps the others.
func (v stepValues) resolveKnown(value any) (any, error) {
	return mapTemplates(value, v.resolveKnownText)
}

func (v stepValues) resolveKnownText(t *template) (any, error) {
	if ref := t.soleReference(); ref != nil {
		if _, given := v[ref.of]; !given {
			return t, nil
		}
		return v.lookUp(ref)
	}
	left, most := &template{}, maxMade
	var text strings.Builder
	for _, p := range t.parts {
		if p.ref == nil {
			text.WriteString(p.text)
			continue
		}
		if _, given := v[p.ref.of]; given {
			value, err := v.resolveTemplate(&template{parts: []part{p}}, &most)
			if err != nil {
				return nil, err
			}
			said, err := asText(value)
			if err == nil {
				err = most.take(len(said))
			}
			if err != nil {
				return nil, err
			}
			text.WriteString(said)
			continue
		}
		if text.Len() > 0 {
			left.parts = append(left.parts, part{text: text.String()})
			text.Reset()
		}
		left.parts = append(left.parts, p)
	}
	if len(left.parts) == 0 {
		return text.String(), nil
	}
	if text.Len() > 0 {
		left.parts = append(left.parts, part{text: text.String()})
	}
	return left, nil
}

// firstMissing returns the first reference, in the steps from first on, to a lost value of an earlier
// step, or "".
func (d *Document) firstMissing(v stepValues, first int) (step *Step, value string) {
	gone := map[string]bool{}
	for _, s := range d.Steps[:first-1] {
		for _, name := range s.names() {
			if _, given := v[name]; !given {
				gone[name] = true
			}
		}
	}
	for _, s := range d.calls(first) {
		parts := []any{s.args, s.forEach}
		if s.condition != nil {
			parts = append(parts, &template{parts: []part{{ref: s.condition.ref}}})
		}
		if ref := firstReferenceTo(parts, gone); ref != nil {
			return s, ref.String()
		}
	}
	return nil, ""
}

// names returns the names of the step's values in templates.
func (s *Step) names() []string {
	names := []string{fmt.Sprintf("step_%d", s.Number)}
	for _, one := range append([]*Step{s}, s.Parallel...) {
		if one.Name != "" {
			names = append(names, one.Name)
		}
	}
	return names
}

// firstReferenceTo returns the first reference in a compiled value to one of the names.
func firstReferenceTo(value any, names map[string]bool) *reference {
	switch x := value.(type) {
	case *template:
		for _, p := range x.parts {
			if p.ref != nil && names[p.ref.of] {
				return p.ref
			}
		}
	case map[string]any:
		for _, member := range x {
			if ref := firstReferenceTo(member, names); ref != nil {
				return ref
			}
		}
	case []any:
		for _, item := range x {
			if ref := firstReferenceTo(item, names); ref != nil {
				return ref
			}
		}
	}
	return nil
}
