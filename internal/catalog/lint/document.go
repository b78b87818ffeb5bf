package lint

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// maxDepth is how deep a document is looked into: deeper than any descriptor that
// is read.
const maxDepth = 64

// The kinds of JSON values.
const (
	object = jsontree.Object
	list   = jsontree.List
	text   = jsontree.Text
)

// A value is one JSON value of a document, marked with its path, as catalog.Fault has
// it; "" is that of the whole document.
type value = jsontree.Node[string]

// A document is what could be read of one, up to the first thing that is no JSON.
type document struct {
	source []byte
	shift  int // bytes before the JSON text
	root   *value
	byPath map[string]*value
	fault  *jsontree.Fault // what is no JSON; nil: all of it is
}

// readDocument reads as far as it can: what is wrong is for catalog.Parse to say.
func readDocument(source []byte) *document {
	body := bytes.TrimPrefix(source, []byte("\xef\xbb\xbf"))
	d := &document{source: source, shift: len(source) - len(body), byPath: make(map[string]*value)}
	d.root, d.fault = new(jsontree.Reader[string]).Read(body, jsontree.Options[string]{MaxDepth: maxDepth})
	d.root.Walk(func(v *value) {
		if v.Parent != nil {
			v.Mark = jsontree.JoinPath(v.Parent.Mark, v.Name, v.Index())
		}
		d.byPath[v.Mark] = v
	})
	return d
}

// member finds a member by any of its names, or returns nil. It may be asked of
// nil.
func member(v *value, names ...string) *value {
	for item := range v.Items() {
		if v.Kind == object && slices.Contains(names, item.Name) {
			return item
		}
	}
	return nil
}

// place finds the value a path means or, where there is none, the nearest around
// it; beyond is what of the path is not in the document.
func (d *document) place(path string) (v *value, beyond string) {
	for short := path; ; {
		if v, ok := d.byPath[short]; ok {
			return v, strings.TrimPrefix(path[len(short):], ".")
		}
		short = short[:max(strings.LastIndexAny(short, ".["), 0)]
	}
}

// position is the line and the column in bytes at which a value begins, from 1, in
// the way editors count.
func (d *document) position(v *value) (line, column int) {
	before := d.source[:min(d.shift+v.Offset(), len(d.source))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}
