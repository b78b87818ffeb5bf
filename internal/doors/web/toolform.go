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

// The names of the form's controls that belong to no field.
const (
	DigestField = "of"   // the form's Digest
	JSONField   = "json" // all arguments, instead of the fields
)

// Limits of forms.
const (
	maxFormFields   = 100
	maxFieldOptions = 100
	maxFieldLabel   = 80  // bytes of a name
	maxFieldDoc     = 600 // bytes of a description
	maxShownValue   = 200 // bytes of a default, an option or a limit
)

// A ToolForm has a field for each parameter of a tool, empty or filled in. The tool's own
// check validates the arguments during the call; [ToolForm.AssignFaults] adds its faults to
// the fields. The schema is foreign data: controls are named by position, so that a
// parameter cannot take the name of another control. The digest of the schema keeps input
// for one parameter from another. Parameters without a field, because there are too many or
// a field cannot express them, are entered as JSON for all.
type ToolForm struct {
	// Digest identifies the schema of the form; the control DigestField returns it.
	Digest string
	Fields []FormField
	// Omitted is the number of parameters without a field.
	Omitted int
	// JSON is the object of all arguments, entered instead of the fields; JSONFault is its fault.
	JSON      string
	JSONFault FieldFault
	// Faults are the faults of the input that belong to no field.
	Faults []FieldFault
}

// A FormField is the input for one parameter of the tool.
type FormField struct {
	Control  string // the name of the HTML control
	Name     string // the parameter's name in printable form
	Kind     FieldKind
	Type     string // of its values, such as "integer" or "list of string"
	Required bool
	Secret   bool // the input is neither shown nor sent back
	About    string
	Standard string // the default in printable form; "" for none
	Limits   []FieldLimit
	Options  []FieldOption
	Value    string
	Fault    FieldFault

	name string // the parameter's name
}

// Types returns the alternatives in Type, such as "string" and "null"; nil if Type is empty.
func (f FormField) Types() []string {
	if f.Type == "" {
		return nil
	}
	return strings.Split(f.Type, " or ")
}

// A FieldKind is the kind of input for a field.
type FieldKind string

// The kinds. The zero kind takes JSON.
const (
	KindJSON   FieldKind = ""
	KindLine   FieldKind = "line"   // one line of text
	KindText   FieldKind = "text"   // several lines of text
	KindLines  FieldKind = "lines"  // a list of texts, one per line
	KindNumber FieldKind = "number" // in JSON's syntax for numbers
	KindBool   FieldKind = "bool"   // "true" or "false"
	KindChoice FieldKind = "choice" // one of Options
)

// A FieldLimit is a constraint of the schema on a field's value, besides its type.
type FieldLimit struct {
	Key   string // the schema's keyword, such as "minimum"
	Value string
}

// A FieldOption is one of the values of a choice.
type FieldOption struct {
	Value string // the form data that selects the option
	Shown string

	json json.RawMessage
}

// A FieldFault is a fault of the input. The zero value means none.
type FieldFault struct {
	Code string // one of the Fault constants; "" if there is only text
	Says string // the text of the tool's check
}

// Is reports whether there is a fault.
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

// NewToolForm returns the form for the JSON Schema of a tool's parameters. An unreadable schema,
// such as of a refused tool, yields no fields.
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

// selectProperties returns the properties that get a field, in order. If there are too
// many, required ones have priority.
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
