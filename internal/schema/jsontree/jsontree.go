// Package jsontree reads JSON into nodes that know their places, for whoever must
// say where in a stranger's document something is wrong: the catalog, the reader of
// schemas, the linter.
//
// What is read is strict JSON (RFC 7493): valid UTF-8, no name twice in one object,
// nothing after the value. Limits are counted before anything is made of what
// passes them. A [Fault] says what was wrong and where; each room puts it in words
// of its own.
//
// The room imports the root package, which makes strangers' names fit to be shown,
// and a JSON tokenizer.
package jsontree

import (
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

// The kinds.
const (
	Object Kind = '{'
	List   Kind = '['
	Text   Kind = '"'
	Number Kind = '0'
	True   Kind = 't'
	False  Kind = 'f'
	Null   Kind = 'n'
)

// A Node is one JSON value and its place in the document. Members and elements are
// linked in the order they are written. M is what the room that reads marks nodes
// with.
type Node[M any] struct {
	Name string // of a member
	Text string // what a string says; a number as written

	Parent, First, Next *Node[M]

	reader *Reader[M]
	begin  int32 // where the value is in the source
	end    int32
	index  int32 // of an element
	Kind   Kind  // zero where the document ends before the value
	Mark   M
}

// Index is which element of its list the node is, from 0, and -1 for a member and
// for the root.
func (n *Node[M]) Index() int {
	if n.Parent == nil || n.Parent.Kind != List {
		return -1
	}
	return int(n.index)
}

// EmptyObject is an object without members in the place of the node, for whoever goes on
// where one was expected.
func (n *Node[M]) EmptyObject() *Node[M] {
	return &Node[M]{Kind: Object, Name: n.Name, Parent: n.Parent, index: n.index}
}

// Raw is the value as written, a part of the source.
func (n *Node[M]) Raw() []byte {
	if n.reader == nil {
		return nil // it was never written
	}
	return n.reader.source[n.begin:n.end:n.end]
}

// Offset is where in the source the value begins or, of what is none, the text
// before it ends.
func (n *Node[M]) Offset() int { return int(n.begin) }

// maxName is how many bytes of a name a path shows.
const maxName = 60

// Path names the node's place, such as platforms.linux.tools[1].method. The root,
// and nil, have the empty path.
func (n *Node[M]) Path() string {
	if n == nil || n.Parent == nil {
		return ""
	}
	return JoinPath(n.Parent.Path(), n.Name, n.Index())
}

// JoinPath adds one member, or one element where index is not negative, to a path in
// the way of [Node.Path].
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

// IsPlainName reports whether a name can stand in a path, and wherever names are shown,
// without quotation marks.
func IsPlainName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '_' && c != '-' && c != '$' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= maxName
}

// Member finds a member by its exact name, or returns nil. It may be asked of nil.
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

// element finds an element by its index as a JSON pointer writes it, or returns nil.
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

// ResolvePointer finds what a JSON pointer (RFC 6901), such as /definitions/date, leads to
// from the node, or returns nil. The empty one leads to the node.
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

// ResolveRef finds what a reference of a schema to its own document, such as
// "#/definitions/date", means. The node is the document's root.
func (n *Node[M]) ResolveRef(ref string) *Node[M] {
	fragment, local := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(fragment)
	if !local || err != nil {
		return nil
	}
	return n.ResolvePointer(pointer)
}

// Items yields the members or elements. It may be asked of nil.
func (n *Node[M]) Items() iter.Seq[*Node[M]] {
	return func(yield func(*Node[M]) bool) {
		if n == nil {
			return
		}
		for c := n.First; c != nil && yield(c); c = c.Next {
		}
	}
}

// Count is the number of members or elements.
func (n *Node[M]) Count() int {
	count := 0
	for c := n.First; c != nil; c = c.Next {
		count++
	}
	return count
}

// Walk calls f for the node and all that is in it, in the order of the document.
func (n *Node[M]) Walk(f func(*Node[M])) {
	f(n)
	for c := n.First; c != nil; c = c.Next {
		c.Walk(f)
	}
}

// IsBool reports whether the node is true or false.
func (n *Node[M]) IsBool() bool { return n.Kind == True || n.Kind == False }

// KindName says what kind of value the node is, for people.
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

// JSON is the value as JSON: a string in its plainest form, all else as written.
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

// Value is the node as encoding/json would decode it, with numbers as json.Number.
// Members for which omit, if it is given, reports true are left out.
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
