package jsontree

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Options are limits for reading a document. Zero means no limit.
type Options[M any] struct {
	MaxBytes  int // of the document
	MaxValues int // nodes
	MaxDepth  int // nested containers
	MaxDigits int // bytes of a number, and the absolute value of its exponent
	// KeepRaw reports whether an object is only checked for syntax and kept as written, because
	// another reader decodes it. When KeepRaw is called, only the node's name and parents are set.
	KeepRaw func(*Node[M]) bool
	// CountRaw makes the values and names in such objects count too.
	CountRaw bool
}

// A Reader reads documents one after the other and reuses its memory. Nodes are valid until the
// next Read; strings of Text and slices of Raw stay valid. The zero Reader is ready for use by
// one goroutine at a time.
type Reader[M any] struct {
	options Options[M]
	source  []byte
	buffer  bytes.Buffer
	decoder jsontext.Decoder
	values  int

	blocks   [][]Node[M] // of nodes
	block    int         // the current one
	used     int         // nodes used in it
	interned map[string]string
}

// Read reads one document. With a fault, the root contains the part read so far; it is never nil.
func (r *Reader[M]) Read(source []byte, o Options[M]) (*Node[M], *Fault) {
	r.options, r.source, r.values, r.block, r.used = o, source, 0, 0, 0
	if r.blocks = r.blocks[:min(len(r.blocks), maxBlocks)]; r.interned == nil && len(r.blocks) > 0 {
		r.interned = make(map[string]string)
	}
	root := r.node()
	if o.MaxBytes > 0 && len(source) > o.MaxBytes || len(source) > math.MaxInt32 {
		return root, &Fault{Problem: TooManyBytes}
	}
	if len(bytes.TrimSpace(source)) == 0 {
		return root, &Fault{Problem: Empty}
	}
	r.buffer = *bytes.NewBuffer(source)
	r.decoder.Reset(&r.buffer)
	if fault := r.value(root, 1); fault != nil {
		return root, fault
	}
	if rest := bytes.TrimLeft(source[r.decoder.InputOffset():], " \t\r\n"); len(rest) > 0 {
		fault := &Fault{Problem: TrailingData}
		fault.setPosition(source, len(source)-len(rest))
		return root, fault
	}
	return root, nil
}

// blockSize is the number of nodes allocated at a time, and maxBlocks the number of blocks kept
// for the next document.
const (
	blockSize = 32
	maxBlocks = 64
)

// node returns an empty node.
func (r *Reader[M]) node() *Node[M] {
	if r.block < len(r.blocks) && r.used == len(r.blocks[r.block]) {
		r.block, r.used = r.block+1, 0
	}
	if r.block == len(r.blocks) {
		r.blocks = append(r.blocks, make([]Node[M], blockSize))
	}
	n := &r.blocks[r.block][r.used]
	r.used++
	*n = Node[M]{reader: r}
	return n
}

// value reads the next value into n, which has its name and parent set.
func (r *Reader[M]) value(n *Node[M], depth int) *Fault {
	n.begin = r.offset()
	n.end = n.begin
	if fault := r.count(1); fault != nil {
		return fault
	}
	switch kind := r.decoder.PeekKind(); kind {
	case Object, List:
		if kind == Object && r.options.KeepRaw != nil && r.options.KeepRaw(n) {
			return r.readRaw(n)
		}
		return r.container(n, depth)
	case Text, Number, True, False, Null:
		return r.scalar(n)
	}
	_, err := r.decoder.ReadToken() // no value begins here
	return r.syntax(n, err)
}

// readRaw reads an object without decoding it.
func (r *Reader[M]) readRaw(n *Node[M]) *Fault {
	raw, err := r.decoder.ReadValue()
	if err != nil {
		return r.syntax(n, err)
	}
	n.Kind = Object
	r.setEnd(n, len(raw))
	if r.options.CountRaw {
		return r.count(countValues(raw) - 1)
	}
	return nil
}

func (r *Reader[M]) offset() int32 { return int32(r.decoder.InputOffset()) }

// setEnd sets the position of a node of the given length that ends here.
func (r *Reader[M]) setEnd(n *Node[M], length int) {
	n.end = r.offset()
	n.begin = n.end - int32(length)
}

func (r *Reader[M]) scalar(n *Node[M]) *Fault {
	raw, err := r.decoder.ReadValue()
	if err != nil {
		return r.syntax(n, err)
	}
	n.Kind = raw.Kind()
	r.setEnd(n, len(raw))
	switch n.Kind {
	case Text:
		n.Text = r.unquoted(raw)
	case Number:
		n.Text = r.intern(raw)
		if most := r.options.MaxDigits; most > 0 && !IsCheapNumber(n.Text, most) {
			return &Fault{Problem: NumberTooLong, Path: n.Path(), Pointer: r.decoder.StackPointer()}
		}
	}
	return nil
}

func (r *Reader[M]) container(n *Node[M], depth int) *Fault {
	token, err := r.decoder.ReadToken()
	if err != nil {
		return r.syntax(n, err)
	}
	n.Kind = token.Kind()
	r.setEnd(n, 1)
	if most := r.options.MaxDepth; most > 0 && depth > most {
		return &Fault{Problem: TooDeep, Path: n.Path(), Pointer: r.decoder.StackPointer()}
	}
	if fault := r.children(n, depth+1); fault != nil {
		return fault
	}
	n.end = r.offset()
	return nil
}

// children reads the members or elements of n up to its end.
func (r *Reader[M]) children(n *Node[M], depth int) *Fault {
	next := &n.First
	for index := int32(0); ; index++ {
		kind := r.decoder.PeekKind()
		if kind == '}' || kind == ']' {
			if _, err := r.decoder.ReadToken(); err != nil {
				return r.syntax(n, err)
			}
			return nil
		}
		name := ""
		if n.Kind == Object {
			var fault *Fault
			if name, fault = r.name(n, kind); fault != nil {
				return fault
			}
		}
		child := r.node()
		child.Name, child.Parent, child.index = name, n, index
		*next, next = child, &child.Next
		if fault := r.value(child, depth); fault != nil {
			return fault
		}
	}
}

// name reads the name of the next member of n.
func (r *Reader[M]) name(n *Node[M], kind Kind) (string, *Fault) {
	if kind != Text {
		_, err := r.decoder.ReadToken()
		return "", r.syntax(n, err) // a name is a string
	}
	raw, err := r.decoder.ReadValue()
	if err != nil {
		return "", r.syntax(n, err)
	}
	return r.unquoted(raw), nil
}

// unquoted returns the value of a string that the tokenizer has validated.
func (r *Reader[M]) unquoted(raw []byte) string {
	inside := raw[1 : len(raw)-1]
	if bytes.IndexByte(inside, '\\') < 0 {
		return r.intern(inside)
	}
	plain, _ := jsontext.AppendUnquote(nil, raw)
	return string(plain)
}

// Short texts repeat within a document and in later ones.
const (
	maxInternedBytes = 24    // bytes
	maxInterned      = 2_000 // number of texts
)

// intern returns a text, and from the second document on the same string for equal short texts.
func (r *Reader[M]) intern(text []byte) string {
	if len(text) > maxInternedBytes || r.interned == nil {
		return string(text)
	}
	known, ok := r.interned[string(text)]
	if ok {
		return known
	}
	if len(r.interned) == maxInterned {
		clear(r.interned)
	}
	word := string(text)
	r.interned[word] = word
	return word
}

// count adds to the number of values and checks the limit.
func (r *Reader[M]) count(more int) *Fault {
	if r.values += more; r.options.MaxValues > 0 && r.values > r.options.MaxValues {
		return &Fault{Problem: TooManyValues}
	}
	return nil
}

// countValues returns the number of JSON values in a value, itself included. Names of members
// count too, since they cost as much.
func countValues(raw []byte) int {
	count := 0
	for d := jsontext.NewDecoder(bytes.NewBuffer(raw)); ; {
		token, err := d.ReadToken()
		if err != nil {
			return count
		}
		if kind := token.Kind(); kind != '}' && kind != ']' {
			count++
		}
	}
}

// IsCheapNumber reports whether exact arithmetic with a JSON number is cheap: neither its length in
// bytes nor the absolute value of its exponent exceeds most.
func IsCheapNumber(number string, most int) bool {
	if len(number) > most {
		return false
	}
	e := strings.IndexAny(number, "eE")
	if e < 0 {
		return true
	}
	exponent, err := strconv.Atoi(number[e+1:])
	return err == nil && -most <= exponent && exponent <= most
}
