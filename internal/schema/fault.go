package schema

import (
	"errors"
	"strconv"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// A Fault is an error in a schema and its place. Errors of [Parse] and [Compile] wrap one, so
// that a caller can join its path with that of the schema itself.
type Fault struct {
	Path    string // inside the schema, such as "properties.to.type"; empty for the root
	Message string // the expected and the actual content
}

// Error returns the path and the message.
func (f *Fault) Error() string {
	if f.Path == "" {
		return f.Message
	}
	return f.Path + ": " + f.Message
}

// maxLabel is the limit in bytes for third-party text quoted in a message.
const maxLabel = 60

// callError converts a Fault to the caller's error.
func callError(err error) *aai.Error {
	e := &aai.Error{
		Code:    aai.DescriptorInvalid,
		Message: err.Error(),
		Hint:    "Correct the JSON Schema (draft-07) in the descriptor.",
	}
	if fault, ok := errors.AsType[*Fault](err); ok {
		e.Err = fault
	}
	return e
}

// quote returns third-party text, cleaned and shortened, in quotation marks.
func quote(s string) string { return strconv.Quote(aai.CleanLabel(s, maxLabel)) }

// A path is a place in a JSON document: member names (strings) and indexes (ints).
type path []any

// String returns the path in dot notation: opts.colours[2]["odd name"].
func (p path) String() string {
	written := ""
	for _, step := range p {
		switch step := step.(type) {
		case int:
			written = jsontree.JoinPath(written, "", step)
		case string:
			written = jsontree.JoinPath(written, step, -1)
		}
	}
	return written
}
