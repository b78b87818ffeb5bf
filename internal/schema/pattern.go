package schema

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/gybob/aai-gateway"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A pattern is a regular expression in RE2 syntax with known cost. A match takes time in
// proportion to size times the length of the text.
type pattern struct {
	*regexp.Regexp
	size int // instructions of the compiled program
}

// compilePattern checks and compiles an expression.
func compilePattern(expression string) (*pattern, error) {
	size, err := checkPattern(expression)
	if err != nil {
		return nil, err
	}
	compiled, err := regexp.Compile(expression)
	if err != nil {
		return nil, unsupported(expression, err)
	}
	return &pattern{Regexp: compiled, size: size}, nil
}

// checkPattern returns the size of an expression's program. It rejects features that RE2 lacks,
// such as look-ahead, rather than skip the check. Both lengths are limited, since counted
// repetition makes a large program of a short expression ("x{1000}").
func checkPattern(expression string) (int, error) {
	if len(expression) > maxPattern {
		return 0, fmt.Errorf("the pattern has %d bytes, at most %d are allowed", len(expression), maxPattern)
	}
	size, err := programSize(expression)
	if err != nil {
		return 0, unsupported(expression, err)
	}
	if size > maxProgram {
		return 0, fmt.Errorf("the pattern %s repeats too much", quote(expression))
	}
	return size, nil
}

func unsupported(expression string, err error) error {
	return fmt.Errorf("the pattern %s is not supported: %s", quote(expression), syntaxReason(err))
}

func programSize(expression string) (int, error) {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return 0, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, err
	}
	return len(program.Inst), nil
}

// syntaxReason describes the construct that RE2 does not support.
func syntaxReason(err error) string {
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		if e.Code == syntax.ErrInvalidPerlOp {
			return fmt.Sprintf("RE2 has no %s (look-around and the like)", quote(e.Expr))
		}
		return fmt.Sprintf("%s %s", e.Code, quote(e.Expr))
	}
	return aai.CleanLabel(err.Error(), maxLabel)
}

// patternEngine provides our patterns to the library, also for format "regex".
func patternEngine(expression string) (jsonschema.Regexp, error) {
	p, err := compilePattern(expression)
	if err != nil {
		return nil, err
	}
	return p, nil
}
