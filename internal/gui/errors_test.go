package gui_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// hints returns all hint texts in the source of the packages.
func hints(t *testing.T, rooms ...string) []string {
	t.Helper()
	var found []string
	add := func(e ast.Expr) {
		ast.Inspect(e, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && len(strings.Fields(text)) > 1 {
					found = append(found, strings.TrimSpace(text))
				}
			}
			return true
		})
	}
	isHint := func(name string) bool { return strings.HasSuffix(strings.ToLower(name), "hint") }
	for _, room := range rooms {
		files, err := filepath.Glob(filepath.Join("..", room, "*.go"))
		assert.NilError(t, err, room)
		assert.Assert(t, len(files) != 0, room)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			assert.NilError(t, err)
			ast.Inspect(tree, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for i, left := range n.Lhs {
						if s, ok := left.(*ast.SelectorExpr); ok && s.Sel.Name == "Hint" && i < len(n.Rhs) {
							add(n.Rhs[i])
						}
					}
				case *ast.KeyValueExpr:
					if key, ok := n.Key.(*ast.Ident); ok && (key.Name == "Hint" || key.Name == "Suggestion") {
						add(n.Value)
					}
				case *ast.ValueSpec:
					for i, name := range n.Names {
						if isHint(name.Name) && i < len(n.Values) {
							add(n.Values[i])
						}
					}
				}
				return true
			})
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// TestHintsNameWhatThereIs: each tool, argument and mode in a hint exists, and no hint contradicts
// another or asks for something that no tool does.
func TestHintsNameWhatThereIs(t *testing.T) {
	params := make(map[string][]string)
	for _, tool := range tools() {
		params[tool.Name] = tool.Params.Order
	}
	found := hints(t, "gui", "gui/*", "desktop", "desktop/query", "desktop/refs", "desktop/render", "platform/linux/x11", "platform/linux/atspi", "platform/linux/session")
	assert.Assert(t, len(found) >= 40, "only %d hints were found", len(found))
	toolWord, underscored := regexp.MustCompile(`\bax_[a-z_]+`), regexp.MustCompile(`\b[a-z]+(?:_[a-z]+)+\b`)
	byName := regexp.MustCompile(`\b(?:with|without|by|in|more|out) (launch|app|query|nth|root|more|value|mode|after|to_view|budget|budget_tokens)\b`)
	for _, hint := range found {
		var named []string
		for _, tool := range toolWord.FindAllString(hint, -1) {
			if _, is := params[tool]; !is {
				t.Errorf("%q names the tool %s, which there is not", hint, tool)
			}
			named = append(named, tool)
		}
		args := underscored.FindAllString(hint, -1)
		for _, m := range byName.FindAllStringSubmatch(hint, -1) {
			args = append(args, m[1])
		}
		for _, arg := range args {
			if strings.HasPrefix(arg, "ax_") {
				continue
			}
			has := func(tool string) bool { return slices.Contains(params[tool], arg) }
			any := slices.Collect(func(yield func(string) bool) {
				for tool := range params {
					if has(tool) && !yield(tool) {
						return
					}
				}
			})
			if len(any) == 0 {
				t.Errorf("%q names the argument %s, which no tool has", hint, arg)
			} else if len(named) == 1 && !has(named[0]) && arg != "app" && arg != "query" {
				t.Errorf("%q names the argument %s, which %s does not have", hint, arg, named[0])
			}
		}
		for _, never := range []string{"0x", "ctivate the window", "pen the menu", "mode \"background\""} {
			assert.Check(t, !strings.Contains(hint, never), "%q says %q", hint, never)
		}
		if mode := regexp.MustCompile(`mode "(\w+)"`).FindStringSubmatch(hint); mode != nil && mode[1] != "focus" {
			t.Errorf("%q names the mode %s", hint, mode[1])
		}
	}
	golden := strings.Join(found, "\n") + "\n"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		assert.NilError(t, os.WriteFile("testdata/hints.txt", []byte(golden), 0o600))
	}
	want, err := os.ReadFile("testdata/hints.txt")
	assert.NilError(t, err)
	assert.Equal(t, string(want), golden)
}

// TestErrorsSayWhatTheToolHas: an error refers only to features of the tool that it names, and has
// a delivery only if the tool can deliver. If nothing was done, the call may be repeated.
func TestErrorsSayWhatTheToolHas(t *testing.T) {
	failing := 0
	for _, hide := range []bool{false, true} {
		inWorld(t, func(w *world) {
			f := form(w)
			f.RaiseOnFocus()
			if hide {
				f.Main.Minimize()
			}
			f.PauseWhenCovered()
			calls := everyCall()
			for _, query := range []string{"Nowhere", "Twin", "Disabled", "Quit-not", "role:menu File", "e999", "//button[", "Status: ready", "Colour", "Canvas"} {
				for _, tool := range tools() {
					if slices.Contains(tool.Params.Order, "query") {
						args := map[string]any{"app": "Form", "query": query}
						for name, value := range map[string]any{"value": "x", "text": "x", "click_type": "double", "assertions": map[string]any{"enabled": false}} {
							if slices.Contains(tool.Params.Order, name) {
								args[name] = value
							}
						}
						raw, _ := json.Marshal(args)
						calls = append(calls, toolCall{tool.Name, string(raw)})
					}
				}
			}
			for _, call := range calls {
				since := w.mutations()
				_, err := w.do(call.tool, call.args)
				if err == nil {
					continue
				}
				failing++
				tool := toolNamed(call.tool)
				if done := since(); tool.Effect != aai.Reads && len(done) == 0 && !err.RetrySafe() {
					w.Errorf("%s %s: %v; delivery %q, and nothing was done", call.tool, call.args, err, err.Delivery)
				}
				if tool.Effect == aai.Reads && err.Delivery != "" {
					w.Errorf("%s %s: delivery %q, and nothing could be delivered", call.tool, call.args, err.Delivery)
				}
				for sentence := range strings.SplitSeq(err.Hint, ". ") {
					if strings.Contains(sentence, `mode "focus"`) && !slices.Contains(tool.Params.Order, "mode") && !strings.Contains(sentence, "ax_") {
						w.Errorf("%s %s: %q, and the tool has no mode", call.tool, call.args, err.Hint)
					}
				}
			}
		})
	}
	assert.Check(t, failing >= 50, "only %d calls failed", failing)
}

// TestProgramsOfOneNameAreToldApart: window titles distinguish such programs in lists, questions
// and errors, in errors only for a caller that has seen the list.
func TestProgramsOfOneNameAreToldApart(t *testing.T) {
	inWorld(t, func(w *world) {
		one, other := w.d.Program("Editor"), w.d.Program("Editor")
		one.Window("letter.txt")
		other.Window("list.txt")
		w.d.Program("Alone").Window("secret plan")
		e := w.failure(aai.AmbiguousTarget, "ax_get_tree", `{"app": "Editor"}`)
		if text := fmt.Sprint(e.Candidates); strings.Contains(text, "letter.txt") || e.Delivery != "" {
			w.Errorf("before: %s, delivery %q", text, e.Delivery)
		}
		choices := fmt.Sprint(e.Questions[0].Choices)
		w.has(choices, fmt.Sprintf(`Editor (process %d) with "letter.txt"`, one.PID()), fmt.Sprintf(`Editor (process %d) with "list.txt"`, other.PID()))
		a := w.ok("ax_list_apps", `{}`)
		w.has(a.Text, fmt.Sprintf(`process %d) with "letter.txt"`, one.PID()), fmt.Sprintf(`process %d) with "list.txt"`, other.PID()))
		assert.Check(w, !strings.Contains(a.Text, "secret plan"), "one that is alone is told by its windows: %s", a.Text)
		e = w.failure(aai.AmbiguousTarget, "ax_get_tree", `{"app": "Editor"}`)
		w.has(fmt.Sprint(e.Candidates), fmt.Sprintf(`%d Editor with "letter.txt"`, one.PID()), "list.txt")
	})
}
