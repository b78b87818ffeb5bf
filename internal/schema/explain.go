package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const (
	maxFaults    = 3     // in one message
	maxCollected = 1_000 // processed; a long list can have a fault in each item
	maxSearches  = 20    // searches for the place of a bad name
)

// A valueFault is one error in a value.
type valueFault struct {
	at      path
	message string // complete, with the place
	unknown string // a name that is missing in "properties" of schema
	schema  *jsonschema.Schema
	hidden  int // further faults of the same kind at the same place
}

// countFaults returns the number of faults, including hidden ones.
func countFaults(faults []valueFault) int {
	n := len(faults)
	for _, f := range faults {
		n += f.hidden
	}
	return n
}

// An explanation converts the library's tree of failures to messages.
type explanation struct {
	*validator
	value        any // the checked value
	collected    int
	searches     int
	nearestNames func(name string, names []string, n int) []string // aai.Nearest, which is expensive
	places       map[string]int                                    // of the names in order; nil until needed
	// that always apply to the whole value; nil until needed
	rootSchemas []*jsonschema.Schema
}

// explain returns the error for a value that the library rejected.
func (v *validator) explain(failure *jsonschema.ValidationError, value any) error {
	return (&explanation{validator: v, value: value, nearestNames: aai.Nearest}).explain(failure)
}

// explain returns an error with the first faults and the number of the others.
func (x *explanation) explain(failure *jsonschema.ValidationError) error {
	faults := x.faults(failure)
	slices.SortFunc(faults, x.compare)
	faults = slices.CompactFunc(faults, func(a, b valueFault) bool { return a.message == b.message })
	if len(faults) == 0 {
		faults = []valueFault{{message: "the value does not fit its schema"}}
	}
	e := &aai.Error{Code: aai.InvalidParams}
	var told []string
	for _, f := range faults[:min(maxFaults, len(faults))] {
		told = append(told, f.message)
		if f.unknown != "" {
			e.Candidates = append(e.Candidates, x.nearestNames(f.unknown, slices.Sorted(maps.Keys(f.schema.Properties)), 3)...)
		}
	}
	e.Message = strings.Join(told, "; ")
	switch more := countFaults(faults) - maxFaults; {
	case x.collected >= maxCollected:
		e.Message += "; and many more"
	case more > 0:
		e.Message += fmt.Sprintf("; and %d more", more)
	}
	return e
}

// compare orders faults by the schema's parameters, unknown ones last.
func (x *explanation) compare(a, b valueFault) int {
	return cmp.Or(
		cmp.Compare(x.position(a.at), x.position(b.at)),
		slices.CompareFunc(a.at, b.at, compareSteps),
		cmp.Compare(a.message, b.message),
	)
}

// compareSteps compares indexes as numbers, and everything else as text.
func compareSteps(a, b any) int {
	i, numberA := a.(int)
	j, numberB := b.(int)
	if numberA && numberB {
		return cmp.Compare(i, j)
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// first returns the first names of one place, in the order of compare, and the number of the
// others.
func (x *explanation) first(at path, names []string) ([]string, int) {
	names = slices.Clone(names)
	slices.SortFunc(names, func(a, b string) int {
		if len(at) > 0 {
			return cmp.Compare(a, b)
		}
		return cmp.Or(cmp.Compare(x.place(a), x.place(b)), cmp.Compare(a, b))
	})
	told := names[:min(maxFaults, len(names))]
	return told, len(names) - len(told)
}

func (x *explanation) position(at path) int {
	if len(at) > 0 {
		if name, ok := at[0].(string); ok {
			return x.place(name)
		}
	}
	return len(x.order)
}

// place returns the position of a parameter in the schema; unknown ones are last.
func (x *explanation) place(name string) int {
	if x.places == nil {
		x.places = make(map[string]int, len(x.order))
		for i, known := range x.order {
			x.places[known] = i
		}
	}
	if i, known := x.places[name]; known {
		return i
	}
	return len(x.order)
}

// faults lists the faults of a failure and its causes.
func (x *explanation) faults(f *jsonschema.ValidationError) []valueFault {
	x.collected++
	switch k := f.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		var all []valueFault
		for _, cause := range f.Causes {
			if x.collected < maxCollected {
				all = append(all, x.faults(cause)...)
			}
		}
		return all
	case *kind.AnyOf:
		return x.alternatives(f, x.byLocation[f.SchemaURL].AnyOf)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return x.alternatives(f, x.byLocation[f.SchemaURL].OneOf)
		}
	case *kind.Required:
		return x.missing(f, k.Missing, "")
	case *kind.Dependency:
		return x.missing(f, k.Missing, fmt.Sprintf("needed together with %s, ", quote(k.Prop)))
	case *kind.DependentRequired:
		return x.missing(f, k.Missing, fmt.Sprintf("needed together with %s, ", quote(k.Prop)))
	case *kind.AdditionalProperties:
		return x.unexpected(f, k.Properties)
	case *kind.PropertyNames:
		return []valueFault{x.badName(f, k.Property)}
	}
	at, value := x.locate(f.InstanceLocation)
	return []valueFault{{at: at, message: prefix(at) + x.describeMismatch(f, at, value)}}
}

// locate returns the place in the value that the library names.
func (x *explanation) locate(tokens []string) (path, any) {
	at, value := path{}, x.value
	for _, token := range tokens {
		switch v := value.(type) {
		case map[string]any:
			at, value = append(at, token), v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return at, value
			}
			at, value = append(at, i), v[i]
		default:
			return at, value
		}
	}
	return at, value
}

// missing returns a fault for each missing name, with the expected value.
func (x *explanation) missing(f *jsonschema.ValidationError, names []string, reason string) []valueFault {
	at, _ := x.locate(f.InstanceLocation)
	var all []valueFault
	names, more := x.first(at, names)
	for _, name := range names {
		place := append(slices.Clone(at), name)
		message := place.String() + ": missing, " + reason + "expected " + x.describeProperty(f.SchemaURL, at, name)
		all = append(all, valueFault{at: place, message: message})
	}
	return withHiddenFaults(all, more)
}

// withHiddenFaults adds the number more to the last fault.
func withHiddenFaults(faults []valueFault, more int) []valueFault {
	if more > 0 {
		faults[len(faults)-1].hidden = more
	}
	return faults
}

// describeProperty describes the property with the name in a schema, or, for a parameter, in one
// that always applies.
func (x *explanation) describeProperty(location string, at path, name string) string {
	property := x.byLocation[location].Properties[name]
	if property == nil && len(at) == 0 {
		property = x.declared(name)
	}
	if property == nil {
		return "a value"
	}
	if about := description(property); about != "" {
		return expectation(property) + " (" + aai.CleanLabel(about, 80) + ")"
	}
	return expectation(property)
}

// declared finds a property in the schemas that always apply to the whole value. A "required" is
// often in a branch, and its "properties" at the root.
func (x *explanation) declared(name string) *jsonschema.Schema {
	if x.rootSchemas == nil {
		x.rootSchemas = (&defaultFiller{}).unconditional(nil, x.root)
	}
	for _, s := range x.rootSchemas {
		if property := s.Properties[name]; property != nil {
			return property
		}
	}
	return nil
}

// unexpected returns a fault for each name that the schema does not define.
func (x *explanation) unexpected(f *jsonschema.ValidationError, names []string) []valueFault {
	at, _ := x.locate(f.InstanceLocation)
	names, more := x.first(at, names)
	var all []valueFault
	for _, name := range names {
		what := "unexpected member "
		if len(at) == 0 {
			what = "unexpected parameter "
		}
		all = append(all, valueFault{
			at:      append(slices.Clone(at), name),
			message: prefix(at) + what + quote(name),
			unknown: name,
			schema:  x.byLocation[f.SchemaURL],
		})
	}
	return withHiddenFaults(all, more)
}

// badName returns a fault for a name that does not fit "propertyNames". The library may report a
// wrong place here, since it reuses the memory of the path. The message therefore contains the
// place only if it is unambiguous.
func (x *explanation) badName(f *jsonschema.ValidationError, name string) valueFault {
	var at path
	if x.searches++; len(f.InstanceLocation) > 0 && x.searches <= maxSearches {
		if places := holders(x.value, name, len(f.InstanceLocation), nil); len(places) == 1 {
			at = places[0]
		}
	}
	message := prefix(at) + "the name " + quote(name) + " is not allowed"
	if len(f.Causes) == 1 {
		if s := x.byLocation[f.Causes[0].SchemaURL]; s != nil {
			message += ", expected " + expectation(s)
		}
	}
	return valueFault{at: at, message: message}
}

// holders lists the objects at the given depth that have a member with the name.
func holders(value any, name string, depth int, at path) []path {
	var places []path
	switch v := value.(type) {
	case map[string]any:
		if _, has := v[name]; has && depth == 0 {
			return []path{slices.Clone(at)}
		}
		for key, member := range v {
			if depth > 0 {
				places = append(places, holders(member, name, depth-1, append(at, key))...)
			}
		}
	case []any:
		for i, item := range v {
			if depth > 0 {
				places = append(places, holders(item, name, depth-1, append(at, i))...)
			}
		}
	}
	return places
}

// alternatives explains why no branch of "anyOf" or "oneOf" fits. If the value matches a branch
// at the top and fails inside it, that branch was probably meant, and its faults are reported;
// else the expectations of all branches.
func (x *explanation) alternatives(f *jsonschema.ValidationError, branches []*jsonschema.Schema) []valueFault {
	at, value := x.locate(f.InstanceLocation)
	var closest []valueFault
	for _, cause := range f.Causes {
		faults := x.faults(cause)
		inside := !slices.ContainsFunc(faults, func(f valueFault) bool { return len(f.at) <= len(at) })
		if inside && len(faults) > 0 && (closest == nil || countFaults(faults) < countFaults(closest)) {
			closest = faults
		}
	}
	if closest != nil {
		return closest
	}
	wanted := fmt.Sprintf("one of %d forms in the schema", len(branches))
	if len(branches) <= 4 {
		var each []string
		for _, branch := range branches {
			if e := expectation(branch); !slices.Contains(each, e) {
				each = append(each, e)
			}
		}
		wanted = strings.Join(each, " or ")
	}
	return []valueFault{
		{at: at, message: prefix(at) + "expected " + wanted + ", got " + describeValue(value, x.secrets.covers(at, value))},
	}
}
