package aai_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// waysIn returns the callers of Gateway.Do, each with the test that shows that its calls are
// gated and recorded.
func waysIn() map[string]string {
	const agents = "TestEveryEntryIsGatedAndRecorded"
	return map[string]string{
		"internal/doors/cli/call.go callOnce":              "TestScripts",
		"internal/doors/web/call.go callApp":               "TestPages",
		"internal/doors/mcp/call.go makeCall":              agents,
		"internal/doors/mcp/receive.go recordUnlistedCall": agents,
		"internal/doors/mcp/resources.go contents":         agents,
		"internal/doctor/doctor.go call":                   "TestDoctor",
		"cmd/aai-gateway/doctor.go Examine":                "TestDoctor",
		"cmd/aai-gateway/startquestion.go askAboutDev":     "TestDevOfAClient",
		"internal/automation/script/calls.go doWaiting":    "TestWhatAScriptAnswers",
		"internal/automation/workflow/admission.go admit":  "TestAskedOnceAboutAll",
		"internal/automation/workflow/rollback.go do":      "TestWhatWasDoneIsTakenBack",
		"internal/automation/workflow/batch.go run":        "TestABatchIsGatedAndRecorded",
		"internal/automation/workflow/batch.go admit":      "TestABatchIsGatedAndRecorded",
	}
}

// TestEveryWayIn: a new place from which calls come, or one that runs a tool past
// the one path, must be put on the list, with its test.
func TestEveryWayIn(t *testing.T) {
	found, tests := make(map[string]string), make(map[string]bool)
	var past []string
	walkGo(t, func(path string, file *ast.File) {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if strings.HasSuffix(path, "_test.go") {
				tests[f.Name.Name] = true
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				callee := types.ExprString(call.Fun)
				switch {
				case isDo(callee) && len(call.Args) == 2, strings.HasSuffix(callee, "ateway.Admit"):
					place := path + " " + f.Name.Name
					found[place] = waysIn()[place]
				case strings.HasSuffix(callee, "ool.Run") || strings.HasSuffix(callee, ".Action"):
					past = append(past, path+" "+f.Name.Name)
				}
				return true
			})
		}
	})
	assert.Check(t, is.DeepEqual(waysIn(), found))
	assert.Check(t, is.DeepEqual([]string{"internal/gateway/gateway.go runAction"}, past))
	for place, test := range waysIn() {
		assert.Check(t, tests[test], "%s: there is no test %s", place, test)
	}
}

// isDo reports whether an expression is the method Do of something that is called
// a gateway.
func isDo(callee string) bool {
	of, ok := strings.CutSuffix(callee, ".Do")
	return ok && (of == "g" || strings.HasSuffix(strings.ToLower(of), "gateway") || strings.HasSuffix(of, "quietly()"))
}

// walkGo parses every Go file of the project.
func walkGo(t *testing.T, f func(path string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir() && (d.Name() == "bench" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			f(filepath.ToSlash(path), file)
		}
		return err
	})
	assert.NilError(t, err)
}

func TestListeners(t *testing.T) {
	var l aai.Listeners
	l.Call() // no listener
	var called []string
	stopA := l.Add(func() { called = append(called, "a") })
	stopB := l.Add(func() { called = append(called, "b") })
	l.Add(func() { called = append(called, "c") })
	l.Call()
	stopB()
	stopB() // twice does no harm
	l.Call()
	stopA()
	l.Call()
	want := []string{"a", "b", "c", "a", "c", "c"}
	assert.Check(t, slices.Equal(called, want), "called %q, want %q", called, want)
}

// TestRemovingWaits: after remove has returned, f does not run.
func TestRemovingWaits(t *testing.T) {
	var l aai.Listeners
	entered, release := make(chan struct{}), make(chan struct{})
	running := false
	remove := l.Add(func() {
		running = true
		close(entered)
		<-release
		running = false
	})
	var calling sync.WaitGroup
	calling.Go(l.Call)
	<-entered
	go close(release)
	remove()
	assert.Check(t, !running, "it runs on")
	calling.Wait()
}

// TestListenerStopsAnother: a listener may remove a later one.
func TestListenerStopsAnother(t *testing.T) {
	var l aai.Listeners
	var stop func()
	l.Add(func() { stop() })
	stop = l.Add(func() { t.Error("called after stop") })
	l.Call()
}

func TestWholeNumber(t *testing.T) {
	for _, value := range []any{5, int64(5), 5.0, json.Number("5"), json.Number("5.0"), json.Number("5e0")} {
		t.Run(fmt.Sprintf("%T %v", value, value), func(t *testing.T) {
			n, ok := aai.WholeNumber(value)
			assert.Check(t, is.Equal(n, 5), "%t", ok)
			assert.Check(t, ok, "got %d, %t; want 5, true", n, ok)
		})
	}
	for _, value := range []any{nil, "5", true, 5.5, 1e300, json.Number("5.5"), json.Number("1e300"), json.Number("x")} {
		t.Run(fmt.Sprintf("%T %v", value, value), func(t *testing.T) {
			n, ok := aai.WholeNumber(value)
			assert.Check(t, !ok, "got %d; want none", n)
		})
	}
}

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
