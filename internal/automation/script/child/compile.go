package child

import (
	"errors"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

// name is what the script is called in the places of errors.
const name = "script"

// A form is a way to read a script.
type wrapper struct{ before, after string }

// wrappers are tried one after the other: as it stands, its value being that of its last
// statement; as the body of a function, for who writes return; as that of one that awaits.
func wrappers() []wrapper {
	return []wrapper{{}, {"(function(){", "\n})()"}, {"(async function(){", "\n})()"}}
}

// compile makes a program of the script, or says where it is none.
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

// matchesForm reports whether the script may be meant in the form of that index, by what it says
// and by the error in the first.
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
		if at := lastExpression(tree); at > 0 { // its value is the script's, as without the function
			whole := f.before + source + f.after
			if again, err := parser.ParseFile(nil, name, whole[:at]+"return "+whole[at:], 0, options); err == nil {
				tree = again
			}
		}
	}
	return goja.CompileAST(tree, false)
}

// lastExpression is where the last statement in the function around the script begins, if
// that is an expression; otherwise 0.
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

// syntax says where a text is no script.
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
	if lines := strings.Split(source, "\n"); failure.Line > len(lines) { // in what stands behind it
		failure.Line, failure.Column, failure.Message = len(lines), len(lines[len(lines)-1])+1, "Unexpected end of input"
	}
	return failure
}

// column is a column of the form in the script itself.
func (f wrapper) column(line, column int) int {
	if line == 1 && column > len(f.before) {
		return column - len(f.before)
	}
	return column
}
