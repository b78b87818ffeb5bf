package jsontree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Problem is in which way a document is not what may be read.
type Problem int

// The problems.
const (
	Syntax        Problem = iota // no JSON
	UnexpectedEnd                // the document ends within the value
	DuplicateName                // an object has a name twice
	TrailingData                 // something comes after the value
	Empty                        // there is nothing
	TooManyBytes                 // more bytes than the limit
	TooManyValues                // more values
	TooDeep                      // more containers in each other
	NumberTooLong                // a number whose digits or exponent are more
)

// A Fault is why a document could not be read to its end, and where.
type Fault struct {
	Problem Problem
	// Path is that of the value that is wrong or, of a name that is, of its object.
	Path string
	// Pointer is the same as the tokenizer has it, with the name that is given twice;
	// empty where the tokenizer had nothing to say.
	Pointer jsontext.Pointer
	Name    string // what is given twice
	// Offset is where in the source it is, Line and Column say it as editors count: from
	// 1, columns in bytes.
	Offset, Line, Column int
	// Reason is what the tokenizer says of it, or empty.
	Reason string
}

// Error says it for programmers; rooms say it for people.
func (f *Fault) Error() string {
	return fmt.Sprintf("jsontree: problem %d at %q%s: %s", f.Problem, f.Path, f.Position(), f.Reason)
}

// Position says in brackets where the fault is, to be put behind a sentence.
func (f *Fault) Position() string { return fmt.Sprintf(" (line %d, column %d)", f.Line, f.Column) }

// setPosition sets where the fault is.
func (f *Fault) setPosition(source []byte, offset int) {
	before := source[:min(max(offset, 0), len(source))]
	f.Offset = len(before)
	f.Line = bytes.Count(before, []byte("\n")) + 1
	f.Column = len(before) - bytes.LastIndexByte(before, '\n')
}

// syntax is the fault of what the tokenizer refused near n.
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
