package lint

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"aai/internal/catalog"
)

// maxDepth is how deep a document is looked into: deeper than any descriptor that
// is read.
const maxDepth = 64

// The kinds of JSON values, as jsontext names them.
const (
	object jsontext.Kind = '{'
	list   jsontext.Kind = '['
	text   jsontext.Kind = '"'
)

// A value is one JSON value of a document and its place there.
type value struct {
	kind   jsontext.Kind
	name   string // of a member
	path   string // as catalog.Fault has it; "" is the whole document
	text   string // what a string says
	raw    []byte // of a value that is neither object nor list, as written
	offset int    // of the value's first byte
	items  []*value
}

// A document is what could be read of one, up to the first thing that is no JSON.
type document struct {
	source []byte
	root   *value
	byPath map[string]*value
	cutOff bool // something is no JSON
}

// readDocument reads as far as it can: what is wrong is for catalog.Parse to say.
func readDocument(source []byte) *document {
	d := &document{source: source, root: &value{}, byPath: make(map[string]*value)}
	body := bytes.TrimPrefix(source, []byte("\xef\xbb\xbf"))
	r := &reader{document: d, shift: len(source) - len(body), decoder: jsontext.NewDecoder(bytes.NewBuffer(body))}
	d.cutOff = !r.read(d.root, 1) || len(bytes.TrimSpace(body[r.decoder.InputOffset():])) > 0
	d.byPath[""] = d.root
	return d
}

type reader struct {
	*document
	shift   int // bytes before the JSON text
	decoder *jsontext.Decoder
}

// read reads the next value into v, and reports whether there was a whole one.
func (r *reader) read(v *value, depth int) bool {
	r.byPath[v.path] = v
	kind := r.decoder.PeekKind()
	if depth > maxDepth {
		return false
	}
	token, err := r.decoder.ReadToken()
	if err != nil {
		v.offset = r.shift + int(r.decoder.InputOffset())
		return false
	}
	end := int(r.decoder.InputOffset()) + r.shift
	v.kind = kind
	switch kind {
	case object, list:
		v.offset = end - 1
		return r.readItems(v, depth)
	case text:
		v.text = token.String()
	default:
		v.text = token.String()
	}
	v.offset = r.begin(v, end)
	v.raw = r.source[v.offset:end]
	return true
}

// begin finds where a scalar that ends at end begins.
func (r *reader) begin(v *value, end int) int {
	if v.kind != text {
		return end - len(v.text)
	}
	for i := end - 2; i >= 0; i-- {
		if r.source[i] != '"' {
			continue
		}
		escapes := 0
		for i-escapes-1 >= 0 && r.source[i-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
	return end
}

func (r *reader) readItems(v *value, depth int) bool {
	for index := 0; ; index++ {
		if kind := r.decoder.PeekKind(); kind == '}' || kind == ']' {
			_, err := r.decoder.ReadToken()
			return err == nil
		}
		item := &value{}
		if v.kind == object {
			name, err := r.decoder.ReadToken()
			if err != nil {
				return false
			}
			item.name = name.String()
			item.path = catalog.Step(v.path, item.name, -1)
		} else {
			item.path = catalog.Step(v.path, "", index)
		}
		v.items = append(v.items, item)
		if !r.read(item, depth+1) {
			return false
		}
	}
}

// member finds a member by any of its names, or returns nil. It may be asked of
// nil.
func (v *value) member(names ...string) *value {
	if v == nil || v.kind != object {
		return nil
	}
	for _, item := range v.items {
		for _, name := range names {
			if item.name == name {
				return item
			}
		}
	}
	return nil
}

// each calls f for v and all that is in it.
func (v *value) each(f func(*value)) {
	f(v)
	for _, item := range v.items {
		item.each(f)
	}
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

// position is the line and the column in bytes of an offset, from 1, in the way
// editors count.
func (d *document) position(offset int) (line, column int) {
	before := d.source[:min(offset, len(d.source))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}
