package lint

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// maxDepth limits the nesting of a document. It exceeds the limit for valid descriptors.
const maxDepth = 64

// Kinds of JSON values.
const (
	object = jsontree.Object
	list   = jsontree.List
	text   = jsontree.Text
)

// A value is one JSON value of a document, marked with its path, as in catalog.Fault; "" for the
// whole document.
type value = jsontree.Node[string]

// A document is the readable part of a document, up to the first syntax error.
type document struct {
	source []byte
	shift  int // bytes before the JSON text
	root   *value
	byPath map[string]*value
	fault  *jsontree.Fault // the syntax error, or nil
}

// readDocument reads as far as it can; catalog.Parse reports the errors.
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

// member returns the member with one of the names, or nil. v may be nil.
func member(v *value, names ...string) *value {
	for item := range v.Items() {
		if v.Kind == object && slices.Contains(names, item.Name) {
			return item
		}
	}
	return nil
}

// place returns the value at a path, or its nearest existing ancestor; beyond is the rest of the
// path.
func (d *document) place(path string) (v *value, beyond string) {
	for short := path; ; {
		if v, ok := d.byPath[short]; ok {
			return v, strings.TrimPrefix(path[len(short):], ".")
		}
		short = short[:max(strings.LastIndexAny(short, ".["), 0)]
	}
}

// position returns the line and the column, in bytes, of a value, both from 1 like editors.
func (d *document) position(v *value) (line, column int) {
	before := d.source[:min(d.shift+v.Offset(), len(d.source))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}
