package child

import (
	"errors"
	"regexp"
	"strconv"

	"github.com/dop251/goja"
)

// maxWords limits the text of a thrown value, in bytes.
const maxWords = 2000

// failureOf converts the error that ended the script.
func (m *machine) failureOf(err error, f wrapper) *Failure {
	if over, ok := errors.AsType[*goja.StackOverflowError](err); ok {
		return m.withPosition(&Failure{Message: "its functions call each other too deeply"}, over.Stack(), f)
	}
	if ex, ok := errors.AsType[*goja.Exception](err); ok {
		return m.thrownFailure(ex.Value(), ex.Stack(), f)
	}
	return &Failure{Message: truncate(err.Error())}
}

// thrownFailure describes the value that the script threw. Reading it may run the script's code.
func (m *machine) thrownFailure(value goja.Value, stack []goja.StackFrame, f wrapper) *Failure {
	failure := &Failure{}
	written := regexp.MustCompile(`\b` + name + `:(\d+):(\d+)`) // position in the stack of an Error
	if ex := m.vm.Try(func() {
		failure.Message = truncate(value.String())
		e, isObject := value.(*goja.Object)
		if !isObject {
			return
		}
		text := func(name string) string {
			if v := e.Get(name); v != nil && isText(v) {
				return truncate(v.String())
			}
			return ""
		}
		if at := written.FindStringSubmatch(text("stack")); stack == nil && at != nil {
			failure.Line, _ = strconv.Atoi(at[1])
			failure.Column, _ = strconv.Atoi(at[2])
			failure.Column = f.column(failure.Line, failure.Column)
		}
		if failure.Code = text("code"); failure.Code != "" {
			failure.Message = text("message")
		}
		failure.Hint = text("hint")
	}); ex != nil || failure.Message == "" {
		failure.Message = "it threw a value without a message"
	}
	return m.withPosition(failure, stack, f)
}

// withPosition adds the innermost position in the script that has a line.
func (m *machine) withPosition(failure *Failure, stack []goja.StackFrame, f wrapper) *Failure {
	for _, frame := range stack {
		if at := frame.Position(); at.Filename == name && at.Line > 0 {
			failure.Line, failure.Column = at.Line, f.column(at.Line, at.Column)
			break
		}
	}
	return failure
}

func truncate(s string) string {
	if len(s) > maxWords {
		return s[:maxWords] + "…"
	}
	return s
}
