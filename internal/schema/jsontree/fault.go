package jsontree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Problem is the kind of a Fault.
type Problem int

// The problems that end [Reader.Read].
const (
	Syntax        Problem = iota // not JSON
	UnexpectedEnd                // the document ends within the value
	DuplicateName                // an object contains a name twice
	TrailingData                 // data after the value
	Empty                        // no content
	TooManyBytes                 // more bytes than the limit
	TooManyValues                // more values
	TooDeep                      // more nested containers
	NumberTooLong                // a number with too many digits or a too large exponent
)

// A Fault is the reason and the place at which reading a document stopped.
type Fault struct {
	Problem Problem
	// Path is the path of the wrong value, or of the object with the wrong name.
	Path string
	// Pointer is the same place as a JSON pointer of the tokenizer, including a duplicate name;
	// empty if the tokenizer reported nothing.
	Pointer jsontext.Pointer
	Name    string // the duplicate name
	// Offset is the position in the source in bytes; Line and Column count from 1, columns in
	// bytes.
	Offset, Line, Column int
	// Reason is the tokenizer's message, or empty.
	Reason string
}

// Error returns a message for programmers; callers write their own for users.
func (f *Fault) Error() string {
	return fmt.Sprintf("jsontree: problem %d at %q%s: %s", f.Problem, f.Path, f.Position(), f.Reason)
}

// Position returns the position in parentheses, to append to a sentence.
func (f *Fault) Position() string { return fmt.Sprintf(" (line %d, column %d)", f.Line, f.Column) }

// setPosition sets where the fault is.
func (f *Fault) setPosition(source []byte, offset int) {
	before := source[:min(max(offset, 0), len(source))]
	f.Offset = len(before)
	f.Line = bytes.Count(before, []byte("\n")) + 1
	f.Column = len(before) - bytes.LastIndexByte(before, '\n')
}

// syntax returns the fault for a tokenizer error near n.
func (r *Reader[M]) syntax(n *Node[M], err error) *Fault {
	fault := &Fault{Path: n.Path(), Reason: err.Error()}
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	if ok {
		fault.Pointer = syntactic.JSONPointer
		if syntactic.Err != nil {
			fault.Reason = strings.TrimPrefix(syntactic.Err.Error(), "jsontext: ")
		}
		fault.setPosition(r.source, int(syntactic.ByteOffset))
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && ok:
		fault.Problem, fault.Name = DuplicateName, syntactic.JSONPointer.LastToken()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		fault.Problem, fault.Pointer = UnexpectedEnd, r.decoder.StackPointer()
		fault.setPosition(r.source, len(r.source))
	}
	return fault
}
