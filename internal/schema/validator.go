package schema

import (
	"errors"
	"maps"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// location is the name of the document inside the library. Nothing is ever fetched from it.
const location = "schema:///"

// A validator is a compiled schema with the data for messages.
type validator struct {
	root       *jsonschema.Schema
	byLocation map[string]*jsonschema.Schema // every sub-schema in use
	order      []string
	secrets    secretPaths
	hasDefault bool
	lenient    bool // a value that costs too much to check is accepted
}

// noLoader rejects all loading. The library's own loader reads local files.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("references to other documents are not allowed")
}

// newCompiler returns the library's compiler with our configuration: RE2 patterns of known size,
// nothing loaded. Draft-07 asserts formats, draft 2020-12 does not.
func newCompiler(draft *jsonschema.Draft) *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(patternEngine)
	c.DefaultDraft(draft)
	// The library's own check rejects every "{?query}".
	c.RegisterFormat(&jsonschema.Format{Name: "uri-template", Validate: func(any) error { return nil }})
	return c
}

// compile compiles an inspected document with the library and validates its defaults.
func compile(d *document) (*validator, error) {
	draft := jsonschema.Draft7
	if d.lenient {
		draft = jsonschema.Draft2020
	}
	compiler := newCompiler(draft)
	if err := compiler.AddResource(location, d.value()); err != nil {
		return nil, compileFault(err)
	}
	root, err := compiler.Compile(location)
	if err != nil {
		return nil, compileFault(err)
	}
	v := &validator{
		root:       root,
		byLocation: map[string]*jsonschema.Schema{},
		order:      d.order(),
		secrets:    d.secrets(),
		lenient:    d.lenient,
	}
	v.collect(root)
	return v, v.checkDefaults()
}

func compileFault(err error) *Fault {
	return &Fault{Message: "the schema library refuses it: " + aai.CleanLabel(err.Error(), 300)}
}

// collect registers every reachable schema once.
func (v *validator) collect(s *jsonschema.Schema) {
	if s == nil || v.byLocation[s.Location] != nil {
		return
	}
	v.byLocation[s.Location] = s
	v.hasDefault = v.hasDefault || s.Default != nil
	for child := range children(s) {
		v.collect(child)
	}
}

// checkDefaults validates every default against its own schema, so that an invalid one is an
// error of the descriptor and not of a caller.
func (v *validator) checkDefaults() error {
	f, m := &defaultFiller{}, &meter{}
	for _, where := range slices.Sorted(maps.Keys(v.byLocation)) {
		s := v.byLocation[where]
		standard := f.defaultOf(s)
		if standard == nil {
			continue
		}
		value := jsonCopy(*standard)
		err := f.fill(value, []*jsonschema.Schema{s})
		if err == nil {
			err = v.validate(m, value, s)
		}
		if err != nil {
			return &Fault{
				Path:    append(locationPath(where), "default").String(),
				Message: "the default does not satisfy its own schema: " + aai.AsError(err).Message,
			}
		}
	}
	return nil
}

// check is Schema.Check of the compiled schema.
func (v *validator) check(value any) (any, error) {
	value, err := copyValue(value)
	if err != nil {
		return nil, err
	}
	if v.hasDefault {
		if err := (&defaultFiller{}).fill(value, []*jsonschema.Schema{v.root}); err != nil {
			return nil, err
		}
	}
	m := &meter{}
	if v.lenient {
		m.most = maxLenientWork
	}
	if err := v.validate(m, value, v.root); err != nil {
		return nil, err
	}
	return value, nil
}

// validate checks a value against one schema of the document, within the budget of the meter.
func (v *validator) validate(m *meter, value any, s *jsonschema.Schema) error {
	if err := m.visit(s, value); err != nil {
		if v.lenient {
			return nil
		}
		return err
	}
	err := s.Validate(value)
	if err == nil {
		return nil
	}
	failure, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return err
	}
	if failure = withoutUnknown(failure); failure == nil {
		return nil
	}
	return v.explain(failure, value)
}

// withoutUnknown returns a failure without those caused only by an unknown value, or nil if none
// remains.
func withoutUnknown(f *jsonschema.ValidationError) *jsonschema.ValidationError {
	switch k := f.ErrorKind.(type) {
	case *kind.InvalidJsonValue:
		if _, hole := k.Value.(aai.Placeholder); hole {
			return nil
		}
	case *kind.Const:
		if containsUnknown(k.Got) {
			return nil
		}
	case *kind.Enum:
		if containsUnknown(k.Got) {
			return nil
		}
	}
	if len(f.Causes) == 0 {
		return f
	}
	_, one := f.ErrorKind.(*kind.OneOf)
	_, either := f.ErrorKind.(*kind.AnyOf)
	_, among := f.ErrorKind.(*kind.Contains)
	causes := make([]*jsonschema.ValidationError, 0, len(f.Causes))
	for _, cause := range f.Causes {
		if cause = withoutUnknown(cause); cause != nil {
			causes = append(causes, cause)
		} else if one || either || among {
			return nil // this branch may fit
		}
	}
	if len(causes) == 0 {
		return nil
	}
	left := *f
	left.Causes = causes
	return &left
}

// containsUnknown reports whether the value contains a placeholder.
func containsUnknown(value any) bool {
	switch v := value.(type) {
	case aai.Placeholder:
		return true
	case map[string]any:
		for _, member := range v {
			if containsUnknown(member) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, containsUnknown)
	}
	return false
}
