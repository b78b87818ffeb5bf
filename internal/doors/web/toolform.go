// Package form makes a form of a tool's parameters, and arguments of what a person typed
// into it. It knows JSON Schema and what a browser sends, and neither pages nor calls: what
// is right, the tool's own check says when the call is made, and [ToolForm.AssignFaults] puts that
// beside the fields.
//
// A schema is a stranger's. Fields are named by their place, so that no parameter can take
// the name of anything else on a page; a form says by a digest which schema it was made of,
// so that what was typed for one parameter never goes to another. Whatever has no field of
// its own, because there are too many or because a field could not say it, is given as JSON
// in the place of all fields.
package web

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/schema"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// The names of what a form sends besides its fields.
const (
	DigestField = "of"   // the form's Digest
	JSONField   = "json" // all arguments, in the place of the fields
)

// Limits on what is made of a schema.
const (
	maxFormFields   = 100
	maxFieldOptions = 100
	maxFieldLabel   = 80  // bytes of a name
	maxFieldDoc     = 600 // bytes of a description
	maxShownValue   = 200 // bytes of a default, an option or a limit
)

// A Form is the fields of a tool's parameters, empty or as they were filled in.
type ToolForm struct {
	// Digest names the schema that it was made of; a field called Of sends it back.
	Digest string
	Fields []FormField
	// Omitted is how many parameters have no field.
	Omitted int
	// JSON is the text in the place of all fields, JSONFault what is wrong with it.
	JSON      string
	JSONFault FieldFault
	// Faults are about no field alone.
	Faults []FieldFault
}

// A Field is one parameter.
type FormField struct {
	Control  string // the name of what sends it
	Name     string // the parameter's, as it may be shown
	Kind     FieldKind
	Type     string // of its values, such as "integer" or "list of string"
	Required bool
	Secret   bool // what is typed is neither shown nor given back
	About    string
	Standard string // the default, as it may be shown; "" for none
	Limits   []FieldLimit
	Options  []FieldOption
	Value    string
	Fault    FieldFault

	name string // the parameter's own
}

// Types are the parts of Type, where a value may be of one of several.
func (f FormField) Types() []string {
	if f.Type == "" {
		return nil
	}
	return strings.Split(f.Type, " or ")
}

// A Kind says what a person gives a field.
type FieldKind string

// The kinds. The zero Kind takes JSON.
const (
	KindJSON   FieldKind = ""
	KindLine   FieldKind = "line"   // one line of text
	KindText   FieldKind = "text"   // several
	KindLines  FieldKind = "lines"  // a list of texts, one a line
	KindNumber FieldKind = "number" // as JSON writes numbers
	KindBool   FieldKind = "bool"   // "true" or "false"
	KindChoice FieldKind = "choice" // one of Options
)

// A Limit is what else the schema says of a value.
type FieldLimit struct {
	Key   string // the schema's word, such as "minimum"
	Value string
}

// An Option is one of the values of a Choice.
type FieldOption struct {
	Value string // what is sent
	Shown string

	json json.RawMessage
}

// A Fault is what is wrong. The zero Fault is nothing.
type FieldFault struct {
	Code string // one of the codes; "" where there are only words
	Says string // the check's own words
}

// Is reports whether anything is wrong.
func (f FieldFault) Is() bool { return f != FieldFault{} }

// The codes of faults.
const (
	FaultMissing   = "missing"
	FaultNotNumber = "number"
	FaultNotJSON   = "json"
	FaultNotObject = "object"
	FaultNotOption = "choice"
	FaultOutdated  = "outdated"
	FaultRepeated  = "twice" // one field was sent more than once
)

// NewToolForm makes the form of a schema. One that cannot be read, such as of a tool that is
// refused, has no fields.
func NewToolForm(source json.RawMessage) *ToolForm {
	sum := sha256.Sum256(source)
	f := &ToolForm{Digest: hex.EncodeToString(sum[:16])}
	if len(source) == 0 {
		return f
	}
	facts, err := new(schema.Reader).Read(source)
	if err != nil {
		return f
	}
	root, fault := new(jsontree.Reader[noAnnotation]).Read(source, jsontree.Options[noAnnotation]{})
	if fault != nil {
		return f
	}
	v := schemaView{root}
	top := v.resolve(root)
	properties := slices.Collect(top.Member("properties").Items())
	required := nameSet(top.Member("required"))
	chosen := selectProperties(properties, required)
	f.Omitted = len(properties) - len(chosen)
	for _, p := range chosen {
		field := v.field(p, slices.Contains(facts.SecretNames, p.Name))
		field.Control = "p" + strconv.Itoa(len(f.Fields))
		field.Required = required[p.Name]
		f.Fields = append(f.Fields, field)
	}
	return f
}

// selectProperties are the properties that get a field, in their order: those that are required
// before others where there are too many.
func selectProperties(all []*schemaNode, required map[string]bool) []*schemaNode {
	needed := 0
	for _, p := range all {
		if required[p.Name] {
			needed++
		}
	}
	rest := max(0, maxFormFields-needed)
	var kept []*schemaNode
	for _, p := range all {
		switch {
		case required[p.Name]:
		case rest == 0:
			continue
		default:
			rest--
		}
		if len(kept) < maxFormFields {
			kept = append(kept, p)
		}
	}
	return kept
}

func nameSet(list *schemaNode) map[string]bool {
	all := make(map[string]bool)
	for n := range list.Items() {
		all[n.Text] = true
	}
	return all
}
