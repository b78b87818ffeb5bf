package child

import (
	"errors"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

// name is the script's name in error positions.
const name = "script"

// wrapper is the text around a script that makes it compile.
type wrapper struct{ before, after string }

// wrappers returns the wrappers in order: none, with the last statement's value as the result; a
// function body, for scripts with return; an async function body, for scripts with await.
func wrappers() []wrapper {
	return []wrapper{{}, {"(function(){", "\n})()"}, {"(async function(){", "\n})()"}}
}

// compile compiles the script in the first wrapper that suits it, or returns its syntax error.
func compile(source string) (*goja.Program, wrapper, *Failure) {
	var first error
	var last *Failure
	for i, f := range wrappers() {
		program, err := f.compile(source)
		if err == nil {
			return program, f, nil
		}
		if i == 0 {
			first = err
		}
		last = syntax(err, f, source)
		if !matchesForm(source, i+1, first) {
			break
		}
	}
	return nil, wrapper{}, last
}

// matchesForm reports whether the wrapper with that index may suit the script, judging by its text
// and by the first error.
func matchesForm(source string, i int, err error) bool {
	switch i {
	case 1:
		return strings.Contains(err.Error(), "return") || strings.Contains(source, "await")
	case 2:
		return strings.Contains(source, "await")
	}
	return false
}

func (f wrapper) compile(source string) (*goja.Program, error) {
	options := parser.WithDisableSourceMaps // it would read the file that a comment names
	tree, err := parser.ParseFile(nil, name, f.before+source+f.after, 0, options)
	if err != nil {
		return nil, err
	}
	if f.before != "" {
		if at := lastExpression(tree); at > 0 { // its value becomes the result, as without the wrapper
			whole := f.before + source + f.after
			if again, err := parser.ParseFile(nil, name, whole[:at]+"return "+whole[at:], 0, options); err == nil {
				tree = again
			}
		}
	}
	return goja.CompileAST(tree, false)
}

// lastExpression returns the position of the wrapped script's last statement if that is an
// expression, otherwise 0.
func lastExpression(tree *ast.Program) int {
	if len(tree.Body) != 1 {
		return 0
	}
	outer, _ := tree.Body[0].(*ast.ExpressionStatement)
	if outer == nil {
		return 0
	}
	called, _ := outer.Expression.(*ast.CallExpression)
	if called == nil {
		return 0
	}
	body, _ := called.Callee.(*ast.FunctionLiteral)
	if body == nil || len(body.Body.List) == 0 {
		return 0
	}
	last, _ := body.Body.List[len(body.Body.List)-1].(*ast.ExpressionStatement)
	if last == nil {
		return 0
	}
	return int(last.Idx0()) - 1
}

// syntax returns the position and message of a syntax error.
func syntax(err error, f wrapper, source string) *Failure {
	failure := &Failure{Syntax: true, Message: err.Error()}
	if list, ok := errors.AsType[parser.ErrorList](err); ok && len(list) > 0 {
		failure.Message, failure.Line, failure.Column = list[0].Message, list[0].Position.Line, list[0].Position.Column
	}
	if wrong, ok := errors.AsType[*goja.CompilerSyntaxError](err); ok {
		failure.Message = wrong.Message
		if wrong.File != nil {
			at := wrong.File.Position(wrong.Offset)
			failure.Line, failure.Column = at.Line, at.Column
		}
	}
	failure.Column = f.column(failure.Line, failure.Column)
	if lines := strings.Split(source, "\n"); failure.Line > len(lines) { // within the wrapper's end
		failure.Line, failure.Column, failure.Message = len(lines), len(lines[len(lines)-1])+1, "Unexpected end of input"
	}
	return failure
}

// column converts a column of the wrapped text to one of the script.
func (f wrapper) column(line, column int) int {
	if line == 1 && column > len(f.before) {
		return column - len(f.before)
	}
	return column
}
