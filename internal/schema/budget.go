package schema

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// The budget of one schema. A schema that exceeds it is rejected before the library sees it.
const (
	maxSource   = 256 << 10 // bytes
	maxDepth    = 32        // nested JSON containers; the library's compiler takes quadratic time in it
	maxNodes    = 5_000     // JSON values
	maxDigits   = 1_000     // bytes of a number, and its exponent; the library stores exact fractions
	maxVisits   = 10_000    // sub-schemas, counted once for each reference to them
	maxChain    = 128       // sub-schemas on the longest path, references included
	maxPattern  = 512       // bytes of a regular expression
	maxProgram  = 5_000     // instructions of one compiled regular expression
	maxPrograms = 20_000    // instructions of all regular expressions of a schema
)

// A subschema is a node at the position of a schema.
type subschema struct {
	node     *node
	children []edge     // to schemas applied because of this one
	ref      *node      // the "$ref", or nil
	target   *subschema // target of ref

	progress progress
	unrolled progress // of the search for references that lead back without a value in between
	visits   int      // of this schema and all below it, references followed
	chain    int      // the longest path below
	secret   bool     // it or a schema below it describes a secret
	loosened bool     // it or a schema below it accepts more than its author wrote
}

// An edge leads from a schema to one that is applied because of it.
type edge struct {
	to      *subschema
	keyword *node // nil: "$ref"
}

// inPlace reports whether both schemas apply to the same value.
func (e edge) inPlace() bool {
	if e.keyword == nil {
		return true
	}
	switch e.keyword.Name {
	case "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependencies", "dependentSchemas":
		return true
	}
	return false
}

// progress is the state of a schema in the depth-first walk along references.
type progress int

const (
	unvisited progress = iota
	visiting
	visited
)

// A document is a schema's source, read and within budget.
type document struct {
	root    *subschema
	schemas []*subschema // in the order of discovery

	programs int          // instructions of all patterns so far
	nestedID *node        // an "$id" below the root, which would change the meaning of references
	path     []*subschema // from the root to the schema that is being measured

	lenient         bool     // parts that cannot be checked are left out; see lenient.go
	ignoresSiblings bool     // of a "$ref", as draft-07 does
	unchecked       []string // the parts left out, and why
}

// inspect reads a schema, and checks its structure and the budget.
func (r *Reader) inspect(source []byte, lenient bool) (*document, error) {
	root, err := r.read(source)
	if err != nil {
		return nil, err
	}
	d := &document{lenient: lenient, ignoresSiblings: !lenient}
	if d.root, err = d.enter(root); err != nil {
		return nil, err
	}
	// Following a reference may append schemas, which the loop then visits too.
	for i := 0; i < len(d.schemas); i++ {
		if err := d.follow(d.schemas[i]); err != nil {
			if !lenient {
				return nil, err
			}
			d.leaveOutRef(d.schemas[i], err)
		}
	}
	for _, s := range d.schemas {
		if s.target != nil && isDataNode(s.target.node) {
			err := faultAt(s.ref, "%s points into a value, not at a schema", quote(s.ref.Text))
			if !lenient {
				return nil, err
			}
			d.leaveOutRef(s, err)
		}
		if lenient {
			d.unroll(s)
		}
	}
	for _, s := range d.schemas {
		if err := d.measure(s); err != nil {
			return nil, err
		}
	}
	if lenient {
		d.loosen()
	}
	if d.root.visits > maxVisits {
		return nil,
			&Fault{Message: fmt.Sprintf("with its references followed the schema has more than %d sub-schemas", maxVisits)}
	}
	if d.root.chain > maxChain {
		return nil,
			&Fault{Message: fmt.Sprintf("with its references followed the schema is nested more than %d deep", maxChain)}
	}
	return d, nil
}

// follow resolves a schema's "$ref".
func (d *document) follow(s *subschema) error {
	if s.ref == nil {
		return nil
	}
	target, err := d.resolve(s.ref)
	if err == nil {
		s.target, err = d.enter(target)
	}
	if d.nestedID != nil && !d.lenient {
		return faultAt(d.nestedID, "an \"$id\" below the root is not supported together with \"$ref\"")
	}
	return err
}

// resolve returns the node of a reference: "#" or "#/…", a JSON pointer (RFC 6901) as a URI
// fragment.
func (d *document) resolve(ref *node) (*node, error) {
	if d.lenient {
		if n := d.named(ref.Text); n != nil {
			return n, nil
		}
	}
	fragment, local := strings.CutPrefix(ref.Text, "#")
	if !local {
		return nil, faultAt(ref, "%s leaves the schema; only references that begin with #/ are allowed", quote(ref.Text))
	}
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, faultAt(ref, "%s is not a valid reference", quote(ref.Text))
	}
	n := d.root.node
	if pointer == "" {
		return n, nil
	}
	if !strings.HasPrefix(pointer, "/") {
		return nil, faultAt(ref, "%s is a reference by name; only references that begin with #/ are allowed", quote(ref.Text))
	}
	if n = n.ResolvePointer(pointer); n == nil {
		return nil, faultAt(ref, "%s points at nothing in the schema", quote(ref.Text))
	}
	return n, nil
}

// isDataNode reports whether the node is a data value of the schema, such as a default, or part
// of one. Data must not serve as a schema too.
func isDataNode(n *node) bool {
	for ; n != nil; n = n.Parent {
		if n.Mark.data {
			return true
		}
	}
	return false
}

// edges returns the edges to the schemas that a schema applies. Draft-07 ignores all siblings of a
// "$ref".
func (d *document) edges(s *subschema) []edge {
	switch {
	case s.target == nil:
		return s.children
	case d.ignoresSiblings:
		return []edge{{to: s.target}}
	}
	return append(slices.Clip(s.children), edge{to: s.target})
}

// measure counts the sub-schemas below, each once, and rejects recursive references. The counts
// stop just above their limits. A lenient document may recurse: the [meter] limits that.
func (d *document) measure(s *subschema) error {
	if s.progress == visited {
		return nil
	}
	s.progress = visiting
	s.visits = 1
	d.path = append(d.path, s)
	for _, e := range d.edges(s) {
		child := e.to
		if child.progress == visiting {
			if d.lenient {
				continue
			}
			ref := d.lastReference().ref
			return faultAt(ref, "%s leads back to itself; recursive schemas are not supported", quote(ref.Text))
		}
		if err := d.measure(child); err != nil {
			return err
		}
		s.visits = min(s.visits+child.visits, maxVisits+1)
		s.chain = max(s.chain, child.chain)
		s.secret = s.secret || child.secret
	}
	d.path = d.path[:len(d.path)-1]
	s.chain++
	s.progress = visited
	return nil
}

// lastReference returns the last schema of the path with a reference. A path that leads back to
// itself has one.
func (d *document) lastReference() *subschema {
	for _, s := range slices.Backward(d.path) {
		if s.target != nil {
			return s
		}
	}
	return d.root
}

// order returns the names in "properties", following the "$ref" of the root.
func (d *document) order() []string {
	s := d.root
	for s.target != nil {
		s = s.target
	}
	properties := s.node.Member("properties")
	if properties == nil {
		return nil
	}
	var names []string
	if properties.Mark.left {
		return nil
	}
	for p := properties.First; p != nil; p = p.Next {
		names = append(names, p.Name)
	}
	return names
}
