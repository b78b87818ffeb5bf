package aai_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// The size limits.
const (
	maxFileLines      = 400
	maxFunctionLines  = 60 // between its first line and its last
	maxMethods        = 5
	maxAgentsLines    = 60
	maxMakefileLines  = 40
	maxComplaintsShow = 50
)

// A source is one Go file of this module, for any system.
type source struct {
	path string
	test bool
	text []byte
	file *ast.File
	set  *token.FileSet
}

// TestCodeStyle reads every file itself, so the cache of go test knows that the tests of this
// package depend on all of them.
func TestCodeStyle(t *testing.T) {
	complaints := inspect(os.DirFS("."))
	for _, c := range complaints[:min(len(complaints), maxComplaintsShow)] {
		t.Error(c)
	}
	rooms := make(map[string]bool)
	for _, r := range importRules() {
		rooms[r.name] = true
	}
	folders, _ := sources(os.DirFS("."))
	assert.Assert(t, len(folders) >= 5, "the tests saw only %d folders", len(folders))
	for folder := range folders {
		assert.Check(t, folder == "." || rooms[folder], "%s is not on the map of arch_test.go", folder)
	}
}

// sources returns the Go files by folder, and errors of reading.
func sources(house fs.FS) (folders map[string][]source, complaints []string) {
	folders = make(map[string][]source)
	err := fs.WalkDir(house, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		s := source{path: name, test: strings.HasSuffix(name, "_test.go"), set: token.NewFileSet()}
		if s.text, err = fs.ReadFile(house, name); err != nil {
			return err
		}
		if s.file, err = parser.ParseFile(s.set, name, s.text, parser.ParseComments); err != nil {
			complaints = append(complaints, err.Error())
			return nil
		}
		folders[path.Dir(name)] = append(folders[path.Dir(name)], s)
		return nil
	})
	if err != nil {
		complaints = append(complaints, err.Error())
	}
	return folders, complaints
}

// inspect returns the violations in the module.
func inspect(house fs.FS) []string {
	folders, complaints := sources(house)
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		complaints = append(complaints, inspectFolder(folder, folders[folder])...)
		for _, s := range folders[folder] {
			complaints = append(complaints, inspectFile(s)...)
		}
	}
	for name, most := range map[string]int{"AGENTS.md": maxAgentsLines, "Makefile": maxMakefileLines} {
		text, err := fs.ReadFile(house, name)
		if n := lines(text); err == nil && n > most {
			complaints = append(complaints, fmt.Sprintf("%s has %d lines; at most %d", name, n, most))
		}
	}
	return complaints
}

func lines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

func inspectFolder(folder string, files []source) (complaints []string) {
	if base := path.Base(folder); base == "doors" || base == "drivers" {
		complaints = append(complaints, fmt.Sprintf("%s: holds rooms, and no Go files of its own", folder))
	}
	nameless := []string{"utils", "util", "common", "helpers", "helper", "types", "core", "pkg", "misc", "shared", "base"}
	code, documented := false, false
	for _, s := range files {
		if slices.Contains(nameless, s.file.Name.Name) || slices.Contains(nameless, path.Base(folder)) {
			complaints = append(complaints, fmt.Sprintf("%s: a name that says nothing", s.path))
		}
		if !s.test {
			code = true
			documented = documented || s.file.Doc.Text() != ""
		}
	}
	if code && !documented {
		complaints = append(complaints, fmt.Sprintf("%s: the package has no doc comment", folder))
	}
	return append(complaints, inspectWords(folder, files)...)
}

// inspectWords reports a package whose comments often have a subject without a noun: per 1,000 words
// at most 2.5 "what" and 1.2 "who", "whoever", "whom", "nobody" and "whose", or two of each.
func inspectWords(folder string, files []source) (complaints []string) {
	all, what, who := 0, 0, 0
	for _, s := range files {
		if s.test {
			continue
		}
		for _, group := range s.file.Comments {
			for _, word := range strings.FieldsFunc(strings.ToLower(group.Text()), func(r rune) bool { return r != '\'' && (r < 'a' || r > 'z') }) {
				all++
				switch word {
				case "what":
					what++
				case "who", "whoever", "whom", "nobody", "whose":
					who++
				}
			}
		}
	}
	if float64(what) > max(2, float64(all)*2.5/1000) {
		complaints = append(complaints, fmt.Sprintf("%s: %d times \"what\" in %d words of comment; name the subject", folder, what, all))
	}
	if float64(who) > max(2, float64(all)*1.2/1000) {
		complaints = append(complaints, fmt.Sprintf("%s: %d times \"who\", \"whom\", \"whose\" or \"nobody\" in %d words of comment; name the subject", folder, who, all))
	}
	return complaints
}

func inspectFile(s source) (complaints []string) {
	complain := func(at ast.Node, format string, args ...any) {
		complaints = append(complaints, fmt.Sprintf("%s: %s", s.set.Position(at.Pos()), fmt.Sprintf(format, args...)))
	}
	if n := lines(s.text); n > maxFileLines {
		complain(s.file.Name, "the file has %d lines; at most %d", n, maxFileLines)
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				complain(d, "an init function")
			}
			if n := s.set.Position(d.End()).Line - s.set.Position(d.Pos()).Line - 1; n > maxFunctionLines && !s.test {
				complain(d, "%s has %d lines; at most %d", d.Name.Name, n, maxFunctionLines)
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR && !s.test {
				for _, spec := range d.Specs {
					if name := mutable(s.file.Name.Name, spec.(*ast.ValueSpec)); name != "" {
						complain(spec, "the variable %s may change", name)
					}
				}
			}
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if i, ok := n.(*ast.InterfaceType); ok && methods(i) > maxMethods {
			complain(i, "an interface of %d methods; at most %d", methods(i), maxMethods)
		}
		return true
	})
	return complaints
}

func methods(i *ast.InterfaceType) int {
	n := 0
	for _, field := range i.Methods.List {
		n += max(1, len(field.Names)) // one that is embedded counts as one
	}
	return n
}

// mutable returns the name of a package-level variable unless it is an error, a regular
// expression, embedded files, an interface assertion, or the version that the linker sets.
func mutable(pkg string, v *ast.ValueSpec) string {
	for i, name := range v.Names {
		switch {
		case name.Name == "_" && v.Type != nil:
		case isSelector(v.Type, "embed", "FS"):
		case i < len(v.Values) && (isCall(v.Values[i], "errors", "New") || isCall(v.Values[i], "regexp", "MustCompile")):
		case pkg == "main" && name.Name == "version" && i < len(v.Values) && isString(v.Values[i]):
		default:
			return name.Name
		}
	}
	return ""
}

func isString(e ast.Expr) bool {
	literal, ok := e.(*ast.BasicLit)
	return ok && literal.Kind == token.STRING
}

func isCall(e ast.Expr, pkg, name string) bool {
	call, ok := e.(*ast.CallExpr)
	return ok && isSelector(call.Fun, pkg, name)
}

func isSelector(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg
}
