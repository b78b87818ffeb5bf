package splice

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v4"
)

// A Fault is an error at a position of a text. It contains nothing of the text: the rejected part
// may be an API key.
type Fault struct {
	Line, Column int // from 1; 0: unknown
	// Problem describes the problem and the expected syntax.
	Problem string
}

// Error returns the position and the problem.
func (f *Fault) Error() string {
	if f.Line == 0 {
		return f.Problem
	}
	return fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, f.Problem)
}

// withExpected appends the expected syntax, if known.
func withExpected(what, expected string) string {
	if expected == "" {
		return what
	}
	return what + "; here " + expected
}

// jsonFault converts an error of the JSON parser, without text of the file.
func jsonFault(err error) *Fault {
	f := &Fault{}
	rest := strings.TrimPrefix(err.Error(), "hujson: ")
	if _, scanErr := fmt.Sscanf(rest, "line %d, column %d:", &f.Line, &f.Column); scanErr == nil {
		_, rest, _ = strings.Cut(rest, ": ")
	}
	ends := func(s string) bool { return strings.HasSuffix(rest, s) }
	expected := ""
	switch {
	case strings.HasPrefix(rest, "invalid literal"), ends("at start of value"):
		expected = "a value: a text in double quotation marks, a number, true, false or null"
	case errors.Is(err, io.ErrUnexpectedEOF):
		expected = "more, for the text ends too early"
	case ends("at start of object name"):
		expected = "a key in double quotation marks"
	case ends("after object name"):
		expected = "a colon"
	case ends("after object value (expecting ',' or '}')"):
		expected = "a comma or }"
	case ends("after array value (expecting ',' or ']')"):
		expected = "a comma or ]"
	case ends("after top-level value"):
		expected = "the end of the text"
	}
	f.Problem = withExpected("expected JSON, with or without comments", expected)
	return f
}

// tomlFault converts an error of the TOML parser, without text of the file.
func tomlFault(err error) *Fault {
	f := &Fault{}
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		f.Line, f.Column = e.Position()
	}
	expected, text := "", err.Error()
	switch { // a name that the parser quotes can at worst select one of these words
	case strings.HasSuffix(text, "is already defined"), strings.Contains(text, "already exists"):
		expected = "a name that is not there yet"
	case strings.Contains(text, "unterminated"), strings.Contains(text, "incomplete"):
		expected = "the end of the value in this line"
	case strings.Contains(text, "at start of value"):
		expected = "a value: a text in quotation marks, a number, true or false"
	}
	f.Problem = withExpected("expected TOML", expected)
	return f
}

// yamlFault converts an error of the YAML parser, without text of the file.
func yamlFault(err error) *Fault {
	f := &Fault{Problem: "expected YAML"}
	e, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return f
	}
	f.Line, f.Column = e.Mark.Line, e.Mark.Column
	if f.Line == 0 {
		f.Line, f.Column = e.ContextMark.Line, e.ContextMark.Column
	}
	known := []string{
		"did not find expected ',' or ']'", "did not find expected ',' or '}'", "did not find expected node content",
		"did not find expected key", "did not find expected '-' indicator", "did not find expected <document start>",
		"did not find expected comment or line break", "mapping values are not allowed in this context",
		"block sequence entries are not allowed in this context", "could not find expected ':'",
		"found character that cannot start any token", "found unknown escape character", "found unexpected end of stream",
	}
	switch {
	case slices.Contains(known, e.Message):
		f.Problem = e.Message + "; expected YAML"
	case strings.HasPrefix(e.Message, "unknown anchor"):
		f.Problem = withExpected(f.Problem, "the name of an earlier anchor")
	case strings.HasPrefix(e.Message, "exceeded max depth"):
		f.Problem = fmt.Sprintf("more than %d levels are in each other; expected fewer", maxNesting)
	}
	return f
}
