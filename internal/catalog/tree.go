package catalog

import (
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// Limits on one descriptor. They are far above the needs of authors and low enough to prevent
// harm. The schemas in it have their own limits.
const (
	maxBytes = 8 << 20
	maxDepth = 32
	maxNodes = 100_000
)

// Limits on a descriptor from the web, which no person installed.
const (
	maxForeignBytes = 256 << 10
	maxForeignNodes = 5_000
	maxForeignTools = 100
)

// Kinds of JSON values.
const (
	object    = jsontree.Object
	list      = jsontree.List
	text      = jsontree.Text
	number    = jsontree.Number
	trueKind  = jsontree.True
	falseKind = jsontree.False
	null      = jsontree.Null
)

// A node is one JSON value of a descriptor. Its mark is set when the member is used.
type node = jsontree.Node[bool]

// limits returns the limits on a descriptor. Schemas of tools are kept without being parsed here.
func (p *parser) limits() jsontree.Options[bool] {
	o := ownLimits()
	o.KeepRaw = isSchema
	if p.o.Origin != "" {
		o.MaxBytes, o.MaxValues, o.CountRaw = maxForeignBytes, maxForeignNodes, true
	}
	return o
}

func ownLimits() jsontree.Options[bool] {
	return jsontree.Options[bool]{MaxBytes: maxBytes, MaxValues: maxNodes, MaxDepth: maxDepth - 1}
}

// A reader reads one descriptor after the other, and reuses its buffers for the next.
type reader struct {
	tree      jsontree.Reader[bool]
	schemas   schema.Reader
	kinds     []kind // all kinds
	assess    map[usualAssessment]func(*aai.Call) aai.Assessment
	requested []string // storage for the requested member names of all objects; requestedBuffer hands out parts
}

func (r *reader) table() []kind {
	if r.kinds == nil {
		r.kinds = kinds()
	}
	return r.kinds
}

// read parses one JSON document within the limits.
func (r *reader) read(source []byte, o jsontree.Options[bool]) (*node, *Fault) {
	r.requested = r.requested[:0]
	root, fault := r.tree.Read(source, o)
	if fault != nil {
		return nil, treeFault(fault, o)
	}
	return root, nil
}

// treeFault describes why a document could not be read.
func treeFault(f *jsontree.Fault, o jsontree.Options[bool]) *Fault {
	fault := &Fault{Path: f.Path}
	switch f.Problem {
	case jsontree.TooManyBytes:
		fault.Problem = fmt.Sprintf("longer than %d bytes", o.MaxBytes)
	case jsontree.Empty:
		fault.Problem = "the file is empty; expected a JSON object"
	case jsontree.TooManyValues:
		fault.Problem = fmt.Sprintf("has more than %d values", o.MaxValues)
	case jsontree.TooDeep:
		fault.Problem = fmt.Sprintf("nested more than %d deep", maxDepth)
	case jsontree.DuplicateName:
		fault.Problem = fmt.Sprintf("%q is given twice", aai.CleanLabel(f.Name, maxName))
	case jsontree.UnexpectedEnd:
		fault.Problem = "the file ends too early" + f.Position()
	case jsontree.TrailingData:
		fault.Problem = "there is more after the JSON value; expected one object" + f.Position()
	default:
		fault.Problem = "not JSON: " + aai.CleanLabel(f.Reason, maxText) + f.Position()
	}
	return fault
}

// joinPath adds one member or element to a path.
func joinPath(path, name string, index int) string { return jsontree.JoinPath(path, name, index) }

// isPlainName reports whether a name needs no quotation marks.
func isPlainName(s string) bool { return jsontree.IsPlainName(s) }

// lower folds a name for comparison without regard to case.
func lower(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func digit(c byte) bool  { return '0' <= c && c <= '9' }

// JoinPath adds one member, or one element if index is not negative, to a path in the form of
// [Fault.Path].
func JoinPath(path, name string, index int) string { return joinPath(path, name, index) }
