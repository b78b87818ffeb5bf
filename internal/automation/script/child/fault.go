package child

import (
	"errors"
	"regexp"
	"strconv"

	"github.com/dop251/goja"
)

// maxWords is how many bytes of what a script has thrown are told.
const maxWords = 2000

// failureOf says what ended the script.
func (m *machine) failureOf(err error, f wrapper) *Failure {
	if over, ok := errors.AsType[*goja.StackOverflowError](err); ok {
		return m.withPosition(&Failure{Message: "its functions call each other too deep"}, over.Stack(), f)
	}
	if ex, ok := errors.AsType[*goja.Exception](err); ok {
		return m.thrownFailure(ex.Value(), ex.Stack(), f)
	}
	return &Failure{Message: truncate(err.Error())}
}

// thrownFailure says what the script has thrown. To look at it may run the script's own code.
func (m *machine) thrownFailure(value goja.Value, stack []goja.StackFrame, f wrapper) *Failure {
	failure := &Failure{}
	written := regexp.MustCompile(`\b` + name + `:(\d+):(\d+)`) // in the stack that an Error carries
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
		failure.Message = "it threw what does not say what it is"
	}
	return m.withPosition(failure, stack, f)
}

// withPosition says where in the script it was: the innermost place that has a line.
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
