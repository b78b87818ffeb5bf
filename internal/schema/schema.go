// Package schema turns a JSON Schema that a stranger wrote into an [aai.Schema].
//
// The dialect is draft-07, and the judge of values is the library
// github.com/santhosh-tekuri/jsonschema/v6. A schema comes from whoever wrote the
// descriptor, so before the library sees it our own code reads it, holds it
// against a budget (size, nesting, expanded size, patterns) and refuses
// references that recurse or leave the document; see budget.go for the numbers.
// Values are metered in the same way before each check; see meter.go.
//
// Formats are asserted, as draft-07 suggests: date-time, date, time, email,
// hostname, ipv4, ipv6, uri, uri-reference, iri, iri-reference, json-pointer,
// relative-json-pointer, regex (RE2 syntax, at most 512 bytes), and of later
// drafts uuid, duration, period and semver. Other formats, such as "password",
// "uri-template", "idn-email" and "idn-hostname", only inform. So do
// contentEncoding and contentMediaType.
//
// The room imports the root package, internal/schema/jsontree and the library. It touches
// no file, no network, no clock: what it does depends on its arguments alone.
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

// Parse reads a draft-07 JSON Schema and returns it with its check. It enforces
// the budget and the shape of every keyword now, in microseconds; the library
// compiles the schema at the first check, or when [Compile] is called.
//
// Schema.Order holds the names in the "properties" of the schema, or of what its
// "$ref" leads to, as they are written.
//
// Schema.Check takes what encoding/json gives, Go's integers too, and an [aai.Placeholder], which
// is whatever fits. It returns
// a copy in which defaults are filled in at every object that is there, through
// "properties", "items", "allOf" and "$ref", never over a given value or a null.
// A json.Number stays one, and Go's integers become int64 (or a json.Number where
// they do not fit). Its error is an *aai.Error with code INVALID_PARAMS,
// AAI_JSON_INVALID where [Compile] would fail, or INTERNAL for our own faults. It
// names up to three faults and never shows the value of a parameter that
// [Facts] calls secret. It is safe for concurrent use.
//
// The error of Parse is an *aai.Error with code AAI_JSON_INVALID that wraps a
// [*Fault].
func Parse(source []byte) (aai.Schema, error) {
	document, err := new(Reader).inspect(source)
	if err != nil {
		return aai.Schema{}, callError(err)
	}
	return document.schema(source), nil
}

// Facts are a schema, and what has to be known of values by it.
type Facts struct {
	Schema aai.Schema
	// SecretNames are the names of the top-level properties whose values must never be
	// recorded or shown, sorted: those for which the schema says format "password" or
	// "writeOnly" anywhere below, and those where a property name on the way sounds like
	// a secret to [hygiene.SecretName]. It would rather name one too many. What has no name,
	// such as a secret behind "patternProperties", it cannot name.
	SecretNames []string
	// Type is the "type" of the schema as it is written, such as "object" with its
	// quotation marks; empty where it has none.
	Type string
}

// A Reader reads one schema after the other, and for the next uses again what it
// needed for the last. The zero Reader is ready for use, by one goroutine at a time.
type Reader struct{ tree jsontree.Reader[nodeRole] }

// Read is [Parse] which says more.
func (r *Reader) Read(source []byte) (Facts, error) {
	document, err := r.inspect(source)
	if err != nil {
		return Facts{}, callError(err)
	}
	f := Facts{Schema: document.schema(source), SecretNames: document.secrets().names}
	if is := document.root.node.Member("type"); is != nil {
		f.Type = aai.CleanLabel(string(is.Raw()), maxLabel)
	}
	return f, nil
}

// schema is the document as others see it. Nothing of the document is kept: most
// tools are never called.
func (d *document) schema(source []byte) aai.Schema {
	c := &checker{source: bytes.Clone(source)}
	return aai.Schema{Source: json.RawMessage(c.source), Order: d.order(), Check: c.check}
}

// Compile makes the library compile a schema that [Parse] returned, and validates
// its defaults. Its error is an *aai.Error with code AAI_JSON_INVALID that wraps a
// [*Fault], the same that every Check would return. The zero Schema is right.
func Compile(s aai.Schema) error {
	if s.Check == nil {
		return nil
	}
	_, err := s.Check(compileOnly{})
	return err
}

// MustParse is [Parse] for the schemas of the gateway itself. It panics on an
// error. Like those of descriptors they are compiled when they are first used,
// because every start makes all of them; tests compile each.
func MustParse(source string) aai.Schema {
	s, err := Parse([]byte(source))
	if err != nil {
		panic(fmt.Sprintf("schema: %v in %s", err, source))
	}
	return s
}

// compileOnly is the value by which Compile asks a checker to compile and no more.
type compileOnly struct{}

// A checker is the Check of one schema. It compiles at most once.
type checker struct {
	source []byte

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
	if c.fault != nil {
		return nil, callError(c.fault)
	}
	if _, only := value.(compileOnly); only {
		return nil, nil
	}
	return c.validator.check(value)
}

// compile keeps a panic as the schema's fault: sync.Once would let the calls
// after it through to a validator that is not there.
func (c *checker) compile() {
	c.fault = &Fault{Message: "the schema library failed to compile it"}
	document, err := new(Reader).inspect(c.source)
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
