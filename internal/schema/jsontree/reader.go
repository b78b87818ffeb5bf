package jsontree

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Options say how much of a document is read. What is zero is not limited.
type Options[M any] struct {
	MaxBytes  int // of the document
	MaxValues int // nodes
	MaxDepth  int // containers in each other
	MaxDigits int // bytes of a number, and of its exponent's value either way
	// KeepRaw says of an object, whose name and parents are known, that it is only to be
	// checked for syntax and kept as written, because somebody else reads it.
	KeepRaw func(*Node[M]) bool
	// CountRaw makes the values and the names in what is kept count too.
	CountRaw bool
}

// A Reader reads documents, one after the other. For the next it uses again what it
// made for the last: nodes are good until then, and what their Text and Raw gave for ever. The
// zero Reader is ready for use, by one goroutine at a time.
type Reader[M any] struct {
	options Options[M]
	source  []byte
	buffer  bytes.Buffer
	decoder jsontext.Decoder
	values  int

	blocks   [][]Node[M] // of nodes
	block    int         // the one that is in use
	used     int         // of its nodes
	interned map[string]string
}

// Read reads one document. With a fault the root is what could be read until there;
// it is never nil.
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

// blockSize is how many nodes are made at a time, and maxBlocks how many such blocks
// are kept for the next document.
const (
	blockSize = 32
	maxBlocks = 64
)

// node returns a fresh node.
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

// value reads the next value into n, whose name and parent are set.
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

// readRaw reads an object as it is written.
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

// setEnd sets where a node of that length is, which ends here.
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

// unquoted is what a string says, which the tokenizer found to be right.
func (r *Reader[M]) unquoted(raw []byte) string {
	inside := raw[1 : len(raw)-1]
	if bytes.IndexByte(inside, '\\') < 0 {
		return r.intern(inside)
	}
	plain, _ := jsontext.AppendUnquote(nil, raw)
	return string(plain)
}

// Short texts come again and again in a document, and in the next one.
const (
	maxInternedBytes = 24    // bytes
	maxInterned      = 2_000 // of them
)

// intern returns a text, and from the second document on the same string for the same
// short text.
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

// count adds values to those that were read, up to the limit.
func (r *Reader[M]) count(more int) *Fault {
	if r.values += more; r.options.MaxValues > 0 && r.values > r.options.MaxValues {
		return &Fault{Problem: TooManyValues}
	}
	return nil
}

// countValues is how many JSON values a value is made of, itself included. The names
// of members count as well, since they cost as much.
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

// IsCheapNumber reports whether exact arithmetic with a JSON number costs little: it has
// at most so many bytes, and an exponent of at most that value, either way.
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
