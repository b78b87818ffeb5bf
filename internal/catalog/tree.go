package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"aai"
)

// Limits on one descriptor. They are far above what an honest author needs and
// far below what would hurt. The schemas inside have a budget of their own.
const (
	maxBytes = 1 << 20
	maxDepth = 32
	maxNodes = 20_000
)

// Limits on a descriptor from the web, which nobody chose to have here.
const (
	maxForeignBytes = 256 << 10
	maxForeignNodes = 5_000
	maxForeignTools = 100
)

// limits are how large a document may be.
type limits struct {
	bytes, nodes int
	inSchemas    bool // values in what is skipped count too
}

func ownLimits() limits { return limits{bytes: maxBytes, nodes: maxNodes} }

func (p *parser) limits() limits {
	if p.o.Origin != "" {
		return limits{bytes: maxForeignBytes, nodes: maxForeignNodes, inSchemas: true}
	}
	return ownLimits()
}

// The kinds of JSON values, as jsontext names them.
const (
	object jsontext.Kind = '{'
	list   jsontext.Kind = '['
	text   jsontext.Kind = '"'
	number jsontext.Kind = '0'
	truth  jsontext.Kind = 't'
	lie    jsontext.Kind = 'f'
	null   jsontext.Kind = 'n'
)

// A node is one JSON value that knows its place in the document. Members and
// elements are linked in the order they are written.
type node struct {
	kind   jsontext.Kind
	name   string // of a member
	index  int    // of an element; -1 for a member and for the root
	text   string // what a string says
	raw    []byte // the value as written
	parent *node
	first  *node
	last   *node
	next   *node
	read   bool // somebody took notice of this member
}

// path names the node's place, such as platforms.linux.tools[1].method. The root
// has the empty path.
func (n *node) path() string {
	if n == nil || n.parent == nil {
		return ""
	}
	return step(n.parent.path(), n.name, n.index)
}

// step adds one member or element to a path.
func step(path, name string, index int) string {
	switch {
	case index >= 0:
		return path + "[" + strconv.Itoa(index) + "]"
	case !plainName(name):
		return path + "[" + strconv.Quote(aai.CleanLabel(name, maxName)) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

func plainName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && c != '-' && c != '$' && !letter(c) && !digit(c) {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

func (n *node) add(child *node) {
	child.parent = n
	if n.last == nil {
		n.first = child
	} else {
		n.last.next = child
	}
	n.last = child
}

// member finds a member by its exact name, or returns nil.
func (n *node) member(name string) *node {
	if n == nil {
		return nil
	}
	for m := n.first; m != nil; m = m.next {
		if m.name == name && m.index < 0 {
			return m
		}
	}
	return nil
}

// count is the number of members or elements.
func (n *node) count() int {
	count := 0
	for m := n.first; m != nil; m = m.next {
		count++
	}
	return count
}

// words says what kind of value the node is, for people.
func (n *node) words() string {
	switch n.kind {
	case object:
		return "an object"
	case list:
		return "a list"
	case text:
		return "a string"
	case number:
		return "a number"
	case null:
		return "null"
	}
	return n.kind.String()
}

// treeReader builds the nodes of one document.
type treeReader struct {
	source  []byte
	decoder *jsontext.Decoder
	limits  limits
	nodes   int
	slab    []node
	// skip says of a member that it is only to be checked for syntax and kept as
	// raw text, because somebody else reads it.
	skip func(*node) bool
}

// readTree reads a whole JSON document. It refuses what is not strict JSON (RFC
// 7493): member names given twice, invalid UTF-8, anything after the value.
func readTree(source []byte, most limits, skip func(*node) bool) (*node, *Fault) {
	if len(source) > most.bytes {
		return nil, &Fault{Problem: fmt.Sprintf("longer than %d bytes", most.bytes)}
	}
	if len(bytes.TrimSpace(source)) == 0 {
		return nil, &Fault{Problem: "the file is empty; expected a JSON object"}
	}
	r := &treeReader{source: source, limits: most, decoder: jsontext.NewDecoder(bytes.NewBuffer(source)), skip: skip}
	root := &node{index: -1}
	if fault := r.value(root, 1); fault != nil {
		return nil, fault
	}
	if rest := bytes.TrimLeft(source[r.decoder.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return nil, &Fault{Problem: "there is more after the JSON value; expected one object" + r.at(int64(len(source)-len(rest)))}
	}
	return root, nil
}

func (r *treeReader) node() *node {
	if len(r.slab) == 0 {
		r.slab = make([]node, 64)
	}
	n := &r.slab[0]
	r.slab = r.slab[1:]
	n.index = -1
	return n
}

// value reads the next value into n, whose name and parent are set.
func (r *treeReader) value(n *node, depth int) *Fault {
	if fault := r.count(1); fault != nil {
		return fault
	}
	if r.skip != nil && r.decoder.PeekKind() == object && r.skip(n) {
		raw, err := r.decoder.ReadValue()
		if err != nil {
			return r.syntax(n, err)
		}
		end := int(r.decoder.InputOffset())
		n.kind, n.raw = object, r.source[end-len(raw):end:end]
		if r.limits.inSchemas {
			return r.count(values(raw) - 1)
		}
		return nil
	}
	token, err := r.decoder.ReadToken()
	if err != nil {
		return r.syntax(n, err)
	}
	n.kind = token.Kind()
	begin := int(r.decoder.InputOffset())
	switch n.kind {
	case object, list:
		begin--
		if depth >= maxDepth {
			return &Fault{Path: n.path(), Problem: fmt.Sprintf("nested more than %d deep", maxDepth)}
		}
		if fault := r.children(n, depth+1); fault != nil {
			return fault
		}
	case text:
		n.text = token.String()
		return nil // raw of strings is not needed and would have to be searched for
	case number:
		n.text = token.String()
		begin -= len(n.text)
	default:
		begin -= len(token.String())
	}
	end := int(r.decoder.InputOffset())
	n.raw = r.source[begin:end:end]
	return nil
}

// count adds values to those that were read, up to the limit.
func (r *treeReader) count(more int) *Fault {
	if r.nodes += more; r.nodes > r.limits.nodes {
		return &Fault{Problem: fmt.Sprintf("holds more than %d values", r.limits.nodes)}
	}
	return nil
}

// values is how many JSON values a value is made of, itself included. The names
// of members count as well, since they cost as much.
func values(raw []byte) int {
	count := 0
	for d := jsontext.NewDecoder(bytes.NewReader(raw)); ; {
		token, err := d.ReadToken()
		if err != nil {
			return count
		}
		if kind := token.Kind(); kind != '}' && kind != ']' {
			count++
		}
	}
}

// children reads the members or elements of n up to its end.
func (r *treeReader) children(n *node, depth int) *Fault {
	for index := 0; ; index++ {
		if kind := r.decoder.PeekKind(); kind == '}' || kind == ']' {
			if _, err := r.decoder.ReadToken(); err != nil {
				return r.syntax(n, err)
			}
			return nil
		}
		child := r.node()
		if n.kind == object {
			name, err := r.decoder.ReadToken()
			if err != nil {
				return r.syntax(n, err)
			}
			child.name = name.String()
		} else {
			child.index = index
		}
		n.add(child)
		if fault := r.value(child, depth); fault != nil {
			return fault
		}
	}
}

// syntax tells what is not JSON near the node n.
func (r *treeReader) syntax(n *node, err error) *Fault {
	fault := &Fault{Path: n.path()}
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && ok:
		fault.Problem = fmt.Sprintf("%q is given twice", aai.CleanLabel(syntactic.JSONPointer.LastToken(), maxName))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		fault.Problem = "the file ends too early" + r.at(int64(len(r.source)))
	case ok:
		fault.Problem = "not JSON: " + aai.CleanLabel(syntactic.Err.Error(), maxText) + r.at(syntactic.ByteOffset)
	default:
		fault.Problem = "not JSON: " + aai.CleanLabel(err.Error(), maxText)
	}
	return fault
}

// at says where an offset in bytes is, in the way editors count.
func (r *treeReader) at(offset int64) string {
	before := r.source[:min(max(int(offset), 0), len(r.source))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - (bytes.LastIndexByte(before, '\n') + 1) + 1
	return fmt.Sprintf(" (line %d, column %d)", line, column)
}

// json returns the value as JSON.
func (n *node) json() []byte {
	if n.kind != text {
		return n.raw
	}
	quoted, err := jsontext.AppendQuote(nil, n.text)
	if err != nil {
		return []byte(`""`)
	}
	return quoted
}

// lower folds a name for comparison without regard to case.
func lower(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func digit(c byte) bool  { return '0' <= c && c <= '9' }

// Step adds one member, or one element where index is not negative, to a path in
// the way of [Fault.Path].
func Step(path, name string, index int) string { return step(path, name, index) }
