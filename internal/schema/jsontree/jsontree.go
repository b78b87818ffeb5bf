// Package jsontree reads JSON into nodes that know their position, for packages that report
// errors in third-party documents: the catalog, the schema reader, the linter.
//
// It accepts strict JSON (RFC 7493): valid UTF-8, no duplicate names in an object, nothing after
// the value. Limits are checked before a value is stored. A [Fault] describes the problem and its
// place; each caller words its own message.
//
// The package imports the root package, which cleans third-party names for display, and a JSON
// tokenizer.
package jsontree

import (
	"bytes"
	"encoding/json"
	"iter"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gybob/aai-gateway"
)

// A Kind is the kind of a JSON value, as the tokenizer names it.
type Kind = jsontext.Kind

// The kinds of JSON values.
const (
	Object Kind = '{'
	List   Kind = '['
	Text   Kind = '"'
	Number Kind = '0'
	True   Kind = 't'
	False  Kind = 'f'
	Null   Kind = 'n'
)

// A Node is one JSON value and its place in the document. Members and elements are linked in the
// order of the document. M is the type of the caller's marks on nodes.
type Node[M any] struct {
	Name string // of a member
	Text string // the value of a string; a number as written

	Parent, First, Next *Node[M] // First is the first member or element, Next the next sibling

	reader *Reader[M]
	begin  int32 // position of the value in the source
	end    int32
	index  int32 // of an element
	Kind   Kind  // zero if the document ends before the value
	Mark   M
}

// Index returns the node's index in its list, from 0, or -1 for a member and for the root.
func (n *Node[M]) Index() int {
	if n.Parent == nil || n.Parent.Kind != List {
		return -1
	}
	return int(n.index)
}

// EmptyObject returns an object without members at the place of the node, for a caller that
// continues after a wrong type.
func (n *Node[M]) EmptyObject() *Node[M] {
	return &Node[M]{Kind: Object, Name: n.Name, Parent: n.Parent, index: n.index}
}

// Raw returns the value as written, a slice of the source.
func (n *Node[M]) Raw() []byte {
	if n.reader == nil {
		return nil // not in the source
	}
	return n.reader.source[n.begin:n.end:n.end]
}

// Offset returns the offset of the value in the source or, without a value, the end of the text
// before it.
func (n *Node[M]) Offset() int { return int(n.begin) }

// Line returns the line of the value in the source, from 1.
func (n *Node[M]) Line() int {
	if n.reader == nil {
		return 1
	}
	return bytes.Count(n.reader.source[:n.begin], []byte("\n")) + 1
}

// maxName is the number of bytes of a name that a path shows.
const maxName = 60

// Path returns the node's place, such as platforms.linux.tools[1].method. The root and nil have
// the empty path.
func (n *Node[M]) Path() string {
	if n == nil || n.Parent == nil {
		return ""
	}
	return JoinPath(n.Parent.Path(), n.Name, n.Index())
}

// JoinPath appends a member, or an element if index is not negative, to a path in the form of
// [Node.Path].
func JoinPath(path, name string, index int) string {
	switch {
	case index >= 0:
		return path + "[" + strconv.Itoa(index) + "]"
	case !IsPlainName(name):
		return path + "[" + strconv.Quote(aai.CleanLabel(name, maxName)) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

// IsPlainName reports whether a name needs no quotation marks in a path and in display.
func IsPlainName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '_' && c != '-' && c != '$' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= maxName
}

// Member returns the member with the exact name, or nil. It accepts a nil receiver.
func (n *Node[M]) Member(name string) *Node[M] {
	if n == nil || n.Kind != Object {
		return nil
	}
	for m := n.First; m != nil; m = m.Next {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// element returns the element with the index in JSON pointer form, or nil.
func (n *Node[M]) element(index string) *Node[M] {
	i, err := strconv.Atoi(index)
	if err != nil || strconv.Itoa(i) != index {
		return nil
	}
	for e := n.First; e != nil; e = e.Next {
		if e.Index() == i {
			return e
		}
	}
	return nil
}

// ResolvePointer returns the node at a JSON pointer (RFC 6901), such as /definitions/date,
// relative to n, or nil. The empty pointer means n.
func (n *Node[M]) ResolvePointer(pointer string) *Node[M] {
	rest, ok := strings.CutPrefix(pointer, "/")
	if !ok {
		if pointer == "" {
			return n
		}
		return nil
	}
	for token := range strings.SplitSeq(rest, "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		if n.Kind == List {
			n = n.element(token)
		} else {
			n = n.Member(token)
		}
		if n == nil {
			return nil
		}
	}
	return n
}

// ResolveRef returns the node of a schema's local reference, such as "#/definitions/date", or nil.
// n must be the document's root.
func (n *Node[M]) ResolveRef(ref string) *Node[M] {
	fragment, local := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(fragment)
	if !local || err != nil {
		return nil
	}
	return n.ResolvePointer(pointer)
}

// Items yields the members or elements. It accepts a nil receiver.
func (n *Node[M]) Items() iter.Seq[*Node[M]] {
	return func(yield func(*Node[M]) bool) {
		if n == nil {
			return
		}
		for c := n.First; c != nil && yield(c); c = c.Next {
		}
	}
}

// Count returns the number of members or elements.
func (n *Node[M]) Count() int {
	count := 0
	for c := n.First; c != nil; c = c.Next {
		count++
	}
	return count
}

// Walk calls f for the node and all nodes in it, in the order of the document.
func (n *Node[M]) Walk(f func(*Node[M])) {
	f(n)
	for c := n.First; c != nil; c = c.Next {
		c.Walk(f)
	}
}

// IsBool reports whether the node is true or false.
func (n *Node[M]) IsBool() bool { return n.Kind == True || n.Kind == False }

// KindName returns the kind of the value for display.
func (n *Node[M]) KindName() string {
	switch n.Kind {
	case Object:
		return "an object"
	case List:
		return "a list"
	case Text:
		return "a string"
	case Number:
		return "a number"
	}
	return n.Kind.String()
}

// JSON returns the value as JSON: a string in its simplest form, everything else as written.
func (n *Node[M]) JSON() []byte {
	if n.Kind != Text {
		return n.Raw()
	}
	quoted, err := jsontext.AppendQuote(nil, n.Text)
	if err != nil {
		return []byte(`""`)
	}
	return quoted
}

// Value returns the node as encoding/json would decode it, with numbers as json.Number. It omits
// members for which omit, if not nil, returns true.
func (n *Node[M]) Value(omit func(member *Node[M]) bool) any {
	switch n.Kind {
	case Object:
		object := map[string]any{}
		for c := n.First; c != nil; c = c.Next {
			if omit == nil || !omit(c) {
				object[c.Name] = c.Value(omit)
			}
		}
		return object
	case List:
		list := []any{}
		for c := n.First; c != nil; c = c.Next {
			list = append(list, c.Value(omit))
		}
		return list
	case Text:
		return n.Text
	case Number:
		return json.Number(n.Text)
	case True, False:
		return n.Kind == True
	}
	return nil
}
