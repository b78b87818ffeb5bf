package aai_test

import (
	"go/ast"
	"go/token"
	"os"
	"testing"

	"gotest.tools/v3/assert"
)

// maxJoinedShare is the largest share of assertions, in percent, that may join conditions by "||": such a failure does not say which
// one does not hold.
const maxJoinedShare = 5

func TestAssertionsHaveOneCondition(t *testing.T) {
	folders, _ := sources(os.DirFS("."))
	all, joined := 0, 0
	for _, files := range folders {
		for _, s := range files {
			if s.test {
				ast.Inspect(s.file, func(n ast.Node) bool {
					is, isJoined := assertion(n)
					all, joined = all+is, joined+isJoined
					return true
				})
			}
		}
	}
	assert.Assert(t, all > 1000)
	assert.Assert(t, joined*100 <= all*maxJoinedShare, "%d of %d assertions join conditions", joined, all)
}

// assertion counts a node that is an assertion, and one with several conditions.
func assertion(n ast.Node) (is, isJoined int) {
	switch n := n.(type) {
	case *ast.CallExpr:
		if calls(n, "assert") {
			return 1, 0
		}
	case *ast.IfStmt:
		if len(n.Body.List) != 1 || n.Else != nil {
			break
		}
		if s, ok := n.Body.List[0].(*ast.ExprStmt); ok {
			if call, ok := s.X.(*ast.CallExpr); ok && calls(call, "Fatal", "Fatalf", "Error", "Errorf") {
				if b, ok := n.Cond.(*ast.BinaryExpr); ok && b.Op == token.LOR {
					return 1, 1
				}
				return 1, 0
			}
		}
	}
	return 0, 0
}

// calls reports whether the call is of a method or function with one of the names, or of the package "assert".
func calls(call *ast.CallExpr, names ...string) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	for _, name := range names {
		if id, ok := sel.X.(*ast.Ident); ok && id.Name == name || sel.Sel.Name == name {
			return true
		}
	}
	return false
}
