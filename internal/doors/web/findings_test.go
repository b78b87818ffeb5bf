package web_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// hole is what a sentence of the doctor leaves open, in its source and in the table.
var hole = regexp.MustCompile(`%[a-z]|\{\d\}`)

// TestFindingsAreTranslated: whatever the doctor says of its own is in the table of every
// other language, with the same places, and the table has nothing that it does not say.
func TestFindingsAreTranslated(t *testing.T) {
	b, err := os.ReadFile("words/findings.zh.json")
	if err != nil {
		t.Fatal(err)
	}
	var table map[string]string
	if err := json.Unmarshal(b, &table); err != nil {
		t.Fatal(err)
	}
	places := func(text string) []string { return slices.Sorted(slices.Values(hole.FindAllString(text, -1))) }
	for english, other := range table {
		if !slices.Equal(places(english), places(other)) && !strings.HasPrefix(english, "1 ") {
			t.Errorf("%q and %q have not the same places", english, other)
		}
	}
	said := doctorSays(t)
	if len(said) < 100 {
		t.Fatalf("only %d sentences were found in the source", len(said))
	}
	unsaid := make(map[string]bool)
	for english := range table {
		unsaid[english] = true
	}
	for text, at := range said {
		parts := hole.Split(text, -1)
		known := false
		for english := range table {
			if slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(english, part) }) {
				continue
			}
			known = true
			delete(unsaid, english)
		}
		if !known {
			t.Errorf("%s: nobody knows in Chinese: %q", at, text)
		}
	}
	if len(unsaid) > 0 {
		t.Errorf("the doctor does not say %q", slices.Sorted(maps.Keys(unsaid)))
	}
}

// doctorSays are the literal texts of findings in the doctor's source, with where they stand.
func doctorSays(t *testing.T) saidAt {
	t.Helper()
	files, err := filepath.Glob("../../doctor/*.go")
	if err != nil {
		t.Fatal(err)
	}
	said, set := make(saidAt), token.NewFileSet()
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool { said.look(n, set); return true })
	}
	return said
}

// saidAt are texts, with where they stand.
type saidAt map[string]string

// look takes what a part of the source says of findings.
func (s saidAt) look(n ast.Node, set *token.FileSet) {
	switch of := n.(type) {
	case *ast.CallExpr:
		for name, most := range map[string]int{"well": 1, "skip": 1, "fails": 1, "note": 2, "broken": 2, "wrongClock": 2, "wrongFile": 2, "unrecorded": 2} {
			if called(of, name) {
				for _, argument := range of.Args[:min(most, len(of.Args))] {
					s.take(argument, set)
				}
			}
		}
	case *ast.AssignStmt:
		for i, to := range of.Lhs {
			if i < len(of.Rhs) && slices.Contains([]string{"Did", "Advice", "Saw", "saw", "advice", "whom", "Details", "lines"}, nameOf(to)) {
				s.take(of.Rhs[i], set)
			}
		}
	case *ast.ValueSpec:
		if slices.Contains([]string{"look", "needsClock"}, of.Names[0].Name) && len(of.Values) == 1 {
			s.take(of.Values[0], set)
		}
	case *ast.KeyValueExpr:
		if slices.Contains([]string{"Saw", "Advice"}, nameOf(of.Key)) {
			s.take(of.Value, set)
		}
	case *ast.CompositeLit: // an examination
		file := set.Position(of.Pos()).Filename
		if len(of.Elts) == 3 && (nameOf(of.Type) == "examination" || of.Type == nil && (strings.Contains(file, "desktop_linux") || strings.Contains(file, "checked"))) {
			s.take(of.Elts[1], set)
		}
	}
}

// take takes the literal texts of an expression that are no paths and no commands.
func (s saidAt) take(e ast.Expr, set *token.FileSet) {
	ast.Inspect(e, func(n ast.Node) bool {
		if of, is := n.(*ast.CallExpr); is && !called(of, "Sprintf", "count", "append", "TrimPrefix") {
			return false
		}
		literal, is := n.(*ast.BasicLit)
		if !is || literal.Kind != token.STRING {
			return true
		}
		if text, err := strconv.Unquote(literal.Value); err == nil && strings.ContainsFunc(hole.ReplaceAllString(text, ""), unicode.IsLetter) {
			s[text] = set.Position(literal.Pos()).String()
		}
		return true
	})
}

func nameOf(e ast.Expr) string {
	switch of := e.(type) {
	case *ast.Ident:
		return of.Name
	case *ast.SelectorExpr:
		return of.Sel.Name
	}
	return ""
}

func called(of *ast.CallExpr, names ...string) bool { return slices.Contains(names, nameOf(of.Fun)) }

// TestTheDoctorSpeaksChinese: to who reads Chinese what the doctor found is said in Chinese,
// and what is not known in it is marked as English.
func TestTheDoctorSpeaksChinese(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	w.post(t, "/doctor/run", w.form(t, "/doctor"))
	got := w.in(t, "zh", "/doctor")
	for got.status == http.StatusOK && !strings.Contains(got.body, "<table") {
		got = w.in(t, "zh", "/doctor")
	}
	has(t, got, ">配置<", ">时钟<", "可能是正确的", "网关无法启动，见“配置”", `<span lang="en"><bdi class="theirs">it is a test</bdi></span>`, "!clock", "!can be right", "!the gateway does not start",
		`读取了 <bdi class="theirs">~/.aai/config.json</bdi>。`)
	has(t, w.in(t, "en", "/doctor"), "can be right", ">clock<")
}
