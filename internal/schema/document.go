package schema

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// A node is one JSON value of a schema's source.
type node = jsontree.Node[nodeRole]

// A nodeRole is the role of a node in its schema.
type nodeRole struct {
	schema *subschema // set if the node is at the position of a schema
	data   bool       // the node is data of a schema: a default, an enum and so on
	left   bool       // the node is left out of the check
	holds  bool       // a schema that a reference names is somewhere below
}

// faultAt returns a Fault at a node.
func faultAt(n *node, format string, args ...any) *Fault {
	return &Fault{Path: n.Path(), Message: fmt.Sprintf(format, args...)}
}

// describeNode describes a node for messages.
func describeNode(n *node) string {
	switch n.Kind {
	case jsontree.Object:
		return "an object"
	case jsontree.List:
		return "an array"
	case jsontree.Text:
		return quote(n.Text)
	case jsontree.Number:
		if len(n.Text) > maxLabel {
			return "a number of " + strconv.Itoa(len(n.Text)) + " bytes"
		}
		return n.Text
	}
	return n.Kind.String()
}

// value returns the root as decoded by encoding/json, with numbers as json.Number. It omits
// identifiers of schemas. All references stay in the document, and without identifiers the
// library resolves them in the same way.
func (d *document) value() any {
	return d.root.node.Value(func(member *node) bool {
		if d.lenient {
			return d.omits(member)
		}
		return member.Parent.Mark.schema != nil && (member.Name == "$id" || member.Name == "$schema")
	})
}

// read parses source, which must be one JSON value (RFC 8259) in valid UTF-8 without duplicate
// names.
func (r *Reader) read(source []byte) (*node, error) {
	root, fault := r.tree.Read(source, jsontree.Options[nodeRole]{MaxBytes: maxSource, MaxValues: maxNodes,
		MaxDepth: maxDepth, MaxDigits: maxDigits})
	if fault == nil {
		return root, nil
	}
	switch fault.Problem {
	case jsontree.TooManyBytes:
		return nil, &Fault{Message: fmt.Sprintf("the schema has %d bytes, at most %d are allowed", len(source), maxSource)}
	case jsontree.Empty:
		return nil, &Fault{Message: "expected a JSON Schema, got nothing"}
	case jsontree.TrailingData:
		return nil, &Fault{Message: "expected one JSON value, got more after its end"}
	case jsontree.TooManyValues:
		return nil, &Fault{Message: fmt.Sprintf("the schema has more than %d JSON values", maxNodes)}
	}
	f := &Fault{Path: pointerPath(fault.Pointer)}
	switch fault.Problem {
	case jsontree.NumberTooLong:
		f.Message = "the number is too long or its exponent is too large"
	case jsontree.TooDeep:
		f.Message = fmt.Sprintf("the schema is nested more than %d deep", maxDepth)
	case jsontree.UnexpectedEnd:
		f.Message = "the JSON ends too early"
	case jsontree.DuplicateName:
		f.Message = "the name stands twice in its object"
	default:
		f.Message = fmt.Sprintf("not valid JSON at byte %d: %s", fault.Offset, fault.Reason)
	}
	return nil, f
}

// pointerPath converts a JSON pointer to a path. Names of digits only look like indexes.
func pointerPath(pointer jsontext.Pointer) string {
	var p path
	for token := range pointer.Tokens() {
		if index, err := strconv.Atoi(token); err == nil {
			p = append(p, index)
		} else {
			p = append(p, token)
		}
	}
	return p.String()
}
