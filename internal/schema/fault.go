package schema

import (
	"errors"
	"strconv"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// A Fault is what is wrong with a schema, and where. Errors of [Parse] and
// [Compile] wrap one, so that a caller who knows where the schema itself stands
// can join the two paths.
type Fault struct {
	Path    string // inside the schema, such as "properties.to.type"; empty for the whole
	Message string // what was expected and what was found
}

// Error returns the path and the message.
func (f *Fault) Error() string {
	if f.Path == "" {
		return f.Message
	}
	return f.Path + ": " + f.Message
}

// maxLabel is how many bytes of foreign text a message may quote.
const maxLabel = 60

// callError makes a Fault the caller's error.
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

// quote shows foreign text, harmless and short, in quotation marks.
func quote(s string) string { return strconv.Quote(aai.CleanLabel(s, maxLabel)) }

// A path is a place in a JSON document: member names (strings) and indexes (ints).
type path []any

// String writes the path as people do: opts.colours[2]["odd name"].
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
