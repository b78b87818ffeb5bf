package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A node is one JSON value of a schema's source. Containers keep their children,
// in the order of the source, as a linked list: reading is then one allocation
// for many nodes.
type node struct {
	kind  jsontext.Kind // '{', '[', '"', '0', 't', 'f' or 'n'
	text  string        // of a string, unquoted; of a number, as written
	name  string        // in an object
	index int           // in an array

	parent, first, next *node

	schema *subschema // where the node stands in the place of a schema
	data   bool       // where it is a value of a schema: a default, an enum and so on
}

// child finds a member by its name, or returns nil.
func (n *node) child(name string) *node {
	if n.kind != '{' {
		return nil
	}
	for k := n.first; k != nil; k = k.next {
		if k.name == name {
			return k
		}
	}
	return nil
}

// item finds an item by its index as a JSON pointer writes it, or returns nil.
func (n *node) item(index string) *node {
	i, err := strconv.Atoi(index)
	if err != nil || strconv.Itoa(i) != index {
		return nil
	}
	for k := n.first; k != nil; k = k.next {
		if k.index == i {
			return k
		}
	}
	return nil
}

func (n *node) path() path {
	var p path
	for ; n.parent != nil; n = n.parent {
		if n.parent.kind == '[' {
			p = append(p, n.index)
		} else {
			p = append(p, n.name)
		}
	}
	slices.Reverse(p)
	return p
}

// fault says what is wrong at the node.
func (n *node) fault(format string, args ...any) *Fault {
	return &Fault{Path: n.path().String(), Message: fmt.Sprintf(format, args...)}
}

// String says what the node is, for messages.
func (n *node) String() string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return quote(n.text)
	case 't':
		return "true"
	case 'f':
		return "false"
	case 'n':
		return "null"
	}
	if len(n.text) > maxLabel {
		return "a number of " + strconv.Itoa(len(n.text)) + " bytes"
	}
	return n.text
}

// value is the node as encoding/json would give it to the library, with numbers
// as json.Number. Identifiers of schemas are left out: references were found to
// stay in the document, and without identifiers the library cannot see it in
// another way.
func (n *node) value() any {
	switch n.kind {
	case '{':
		object := map[string]any{}
		for k := n.first; k != nil; k = k.next {
			if n.schema != nil && (k.name == "$id" || k.name == "$schema") {
				continue
			}
			object[k.name] = k.value()
		}
		return object
	case '[':
		array := []any{}
		for k := n.first; k != nil; k = k.next {
			array = append(array, k.value())
		}
		return array
	case '"':
		return n.text
	case '0':
		return json.Number(n.text)
	case 't', 'f':
		return n.kind == 't'
	}
	return nil
}

// A reader builds nodes from source and stops at the first limit passed.
type reader struct {
	decoder *jsontext.Decoder
	nodes   int
	spare   []node
}

// read parses source, which must be one JSON value (RFC 8259) without duplicate
// names and in valid UTF-8.
func read(source []byte) (*node, error) {
	if len(source) > maxSource {
		return nil, &Fault{Message: fmt.Sprintf("the schema has %d bytes, at most %d are allowed", len(source), maxSource)}
	}
	if len(bytes.TrimSpace(source)) == 0 {
		return nil, &Fault{Message: "expected a JSON Schema, got nothing"}
	}
	r := &reader{decoder: jsontext.NewDecoder(bytes.NewBuffer(source))}
	root, err := r.value(nil, 0)
	if err != nil {
		return nil, err
	}
	if _, err := r.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, &Fault{Message: "expected one JSON value, got more after its end"}
	}
	return root, nil
}

func (r *reader) value(parent *node, depth int) (*node, error) {
	token, err := r.decoder.ReadToken()
	if err != nil {
		return nil, r.syntax(err)
	}
	if r.nodes++; r.nodes > maxNodes {
		return nil, &Fault{Message: fmt.Sprintf("the schema has more than %d JSON values", maxNodes)}
	}
	n := r.node()
	n.parent, n.kind = parent, token.Kind()
	switch n.kind {
	case '"':
		n.text = token.String()
	case '0':
		n.text = token.String()
		if !reasonable(n.text) {
			return nil, &Fault{Path: r.place(), Message: "the number is too long or its exponent is too large"}
		}
	case '{', '[':
		if depth == maxDepth {
			return nil, &Fault{Path: r.place(), Message: fmt.Sprintf("the schema is nested more than %d deep", maxDepth)}
		}
		return n, r.children(n, depth+1)
	}
	return n, nil
}

// children reads the members or items of a container, up to its end.
func (r *reader) children(n *node, depth int) error {
	last := &n.first
	for index := 0; ; index++ {
		switch r.decoder.PeekKind() {
		case '}', ']':
			_, err := r.decoder.ReadToken()
			return r.syntax(err)
		}
		name := ""
		if n.kind == '{' {
			token, err := r.decoder.ReadToken()
			if err != nil {
				return r.syntax(err)
			}
			name = token.String()
		}
		child, err := r.value(n, depth)
		if err != nil {
			return err
		}
		child.name, child.index = name, index
		*last, last = child, &child.next
	}
}

// node returns a fresh node from a block of them.
func (r *reader) node() *node {
	if len(r.spare) == 0 {
		r.spare = make([]node, 32)
	}
	n := &r.spare[0]
	r.spare = r.spare[1:]
	return n
}

func (r *reader) place() string { return pointerPath(r.decoder.StackPointer()) }

// syntax puts the tokenizer's error in our words. It returns nil for nil.
func (r *reader) syntax(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Fault{Path: r.place(), Message: "the JSON ends too early"}
	}
	fault := &Fault{Message: "not valid JSON"}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		fault.Path = pointerPath(syntactic.JSONPointer)
		fault.Message = fmt.Sprintf("not valid JSON at byte %d", syntactic.ByteOffset)
		if errors.Is(err, jsontext.ErrDuplicateName) {
			fault.Message = "the name stands twice in its object"
		} else if syntactic.Err != nil {
			fault.Message += ": " + strings.TrimPrefix(syntactic.Err.Error(), "jsontext: ")
		}
	}
	return fault
}

// pointerPath writes a JSON pointer as a path. Indexes cannot be told from names
// made of digits, and look like indexes.
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

// reasonable reports whether exact arithmetic with a JSON number is cheap.
func reasonable(number string) bool {
	if len(number) > maxDigits {
		return false
	}
	e := strings.IndexAny(number, "eE")
	if e < 0 {
		return true
	}
	exponent, err := strconv.Atoi(number[e+1:])
	return err == nil && -maxExponent <= exponent && exponent <= maxExponent
}
