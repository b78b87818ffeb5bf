package aai_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
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
