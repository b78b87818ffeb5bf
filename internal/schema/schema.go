// Package schema compiles an untrusted JSON Schema into an [aai.Schema].
//
// The dialect is draft-07; the library github.com/santhosh-tekuri/jsonschema/v6 validates values.
// A schema comes from the author of a descriptor. Therefore the package reads it first, checks it
// against a budget (size, nesting, expanded size, patterns), and rejects references that recurse
// or leave the document; budget.go has the limits. The cost of each check is limited in the same
// way; see meter.go.
//
// Formats are asserted, as draft-07 suggests: date-time, date, time, email, hostname, ipv4, ipv6,
// uri, uri-reference, iri, iri-reference, json-pointer, relative-json-pointer, regex (RE2 syntax,
// at most 512 bytes), and of later drafts uuid, duration, period and semver. Other formats, such
// as "password", "uri-template", "idn-email" and "idn-hostname", are annotations, and so are
// contentEncoding and contentMediaType.
//
// [Reader.ReadLenient] reads the schemas of programs that check their arguments themselves, in the
// dialect 2020-12; see there.
//
// The package uses no file, network or clock: its results depend only on the arguments.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// Parse reads a draft-07 JSON Schema and returns it with its check. It enforces the budget and
// the form of every keyword immediately, in microseconds. The library compiles the schema at the
// first check, or when [Compile] is called.
//
// Schema.Order holds the names in "properties" of the schema, or of its "$ref" target, as
// written.
//
// Schema.Check accepts the types of encoding/json, Go's integers, and an [aai.Placeholder], which
// fits anything. It returns a copy with defaults inserted in every existing object, through
// "properties", "items", "allOf" and "$ref", never over a given value or a null. A json.Number
// stays one; Go's integers become int64, or json.Number if they do not fit. Its error is an
// *aai.Error with code INVALID_PARAMS, AAI_JSON_INVALID if [Compile] would fail, or INTERNAL for
// bugs of the gateway. It names up to three faults and never shows the value of a parameter in
// [Facts].SecretNames. It is safe for concurrent use.
//
// The error of Parse is an *aai.Error with code AAI_JSON_INVALID that wraps a [*Fault].
func Parse(source []byte) (aai.Schema, error) {
	document, err := new(Reader).inspect(source, false)
	if err != nil {
		return aai.Schema{}, callError(err)
	}
	return document.schema(source), nil
}

// Facts are the result of [Reader.Read]: a schema, and facts about it that callers need.
type Facts struct {
	Schema aai.Schema
	// SecretNames lists the top-level properties with values that must never be recorded or
	// shown, sorted. These are properties with format "password" or "writeOnly" anywhere below,
	// and those with a name on the path for which [sanitize.IsSecretName] returns true. In doubt
	// a name is included. A secret without a name, such as one behind "patternProperties", cannot
	// be listed.
	SecretNames []string
	// Type is the "type" of the schema as written, such as "object" with its quotation marks; may
	// be empty.
	Type string
}

// A Reader reads schemas one after the other and reuses its memory. The zero Reader is ready for
// use by one goroutine at a time.
type Reader struct{ tree jsontree.Reader[nodeRole] }

// Read is [Parse] with additional results.
func (r *Reader) Read(source []byte) (Facts, error) {
	document, err := r.inspect(source, false)
	if err != nil {
		return Facts{}, callError(err)
	}
	f := Facts{Schema: document.schema(source), SecretNames: document.secrets().names}
	if is := document.root.node.Member("type"); is != nil {
		f.Type = aai.CleanLabel(string(is.Raw()), maxLabel)
	}
	return f, nil
}

// schema returns the document as an aai.Schema. It keeps only the source, since most tools are
// never called.
func (d *document) schema(source []byte) aai.Schema {
	c := &checker{source: bytes.Clone(source), lenient: d.lenient}
	return aai.Schema{Source: json.RawMessage(c.source), Order: d.order(), Check: c.check, Unchecked: d.unchecked}
}

// Compile makes the library compile a schema that [Parse] returned, and validates its defaults.
// Its error is an *aai.Error with code AAI_JSON_INVALID that wraps a [*Fault], the same that
// every Check would return. The zero Schema is valid.
func Compile(s aai.Schema) error {
	if s.Check == nil {
		return nil
	}
	_, err := s.Check(compileOnly{})
	return err
}

// MustParse is [Parse] for the schemas of the gateway itself. It panics on an error. They are
// compiled at the first use, like those of descriptors, since every start creates all of them;
// tests compile each.
func MustParse(source string) aai.Schema {
	s, err := Parse([]byte(source))
	if err != nil {
		panic(fmt.Sprintf("schema: %v in %s", err, source))
	}
	return s
}

// compileOnly is the value with which Compile requests compilation without a check.
type compileOnly struct{}

// A checker is the Check of one schema. It compiles at most once.
type checker struct {
	source  []byte
	lenient bool

	once      sync.Once
	validator *validator
	fault     error
}

func (c *checker) check(value any) (checked any, err error) {
	defer func() {
		if p := recover(); p != nil {
			checked, err = nil, panicError(p)
		}
	}()
	c.once.Do(c.compile)
	if c.fault != nil && c.lenient {
		return copyValue(value)
	}
	if c.fault != nil {
		return nil, callError(c.fault)
	}
	if _, only := value.(compileOnly); only {
		return nil, nil
	}
	return c.validator.check(value)
}

// compile stores a panic as the schema's fault: after a panic sync.Once would let later calls
// continue with a nil validator.
func (c *checker) compile() {
	c.fault = &Fault{Message: "the schema library failed to compile it"}
	document, err := new(Reader).inspect(c.source, c.lenient)
	if err == nil {
		c.validator, err = compile(document)
	}
	c.fault = err
}

func panicError(p any) *aai.Error {
	return &aai.Error{
		Code:    aai.Internal,
		Message: "the check of a value against its schema failed",
		Hint:    "This is a fault of the gateway. Its log has the details.",
		Err:     fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
	}
}
