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
	"testing/fstest"

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

// TestCodeStyleFindsFaults builds small modules that break one rule each.
func TestCodeStyleFindsFaults(t *testing.T) {
	const doc = "// Package mail sends.\npackage mail\n"
	methods := func(n int) string { return "interface{ " + strings.Repeat("A();", n) + " }\n" }
	for _, c := range []struct{ name, path, text, want string }{
		{"fine", "mail/mail.go", doc + "import \"errors\"\nvar errA = errors.New(\"a\")\nfunc f() {}\ntype i " + methods(5), ""},
		{"no doc", "mail/mail.go", "package mail\n", "mail: the package has no doc comment"},
		{"doc in a test only", "mail/a_test.go", "package mail\n", ""},
		{"long file", "mail/mail.go", doc + strings.Repeat("\n", maxFileLines-1), "the file has 401 lines; at most 400"},
		{"just so long", "mail/mail.go", doc + strings.Repeat("\n", maxFileLines-2), ""},
		{"long test", "mail/a_test.go", "package mail\n" + strings.Repeat("\n", maxFileLines), "the file has 401 lines; at most 400"},
		{"long function", "mail/mail.go", doc + "func f() {\n" + strings.Repeat("\n", 61) + "}\n", "f has 61 lines; at most 60"},
		{"just so long function", "mail/mail.go", doc + "func f() {\n" + strings.Repeat("\n", 60) + "}\n", ""},
		{"long method", "mail/mail.go", doc + "type x int\nfunc (x) f() {\n" + strings.Repeat("\n", 61) + "}\n", "f has 61 lines; at most 60"},
		{"wide interface", "mail/mail.go", doc + "type i " + methods(6), "an interface of 6 methods; at most 5"},
		{"wide nameless interface", "mail/mail.go", doc + "func f(" + strings.TrimSpace(methods(6)) + ") {}\n", "an interface of 6 methods; at most 5"},
		{"init", "mail/mail.go", doc + "func init() {}\n", "an init function"},
		{"init of a test", "mail/a_test.go", "package mail\nfunc init() {}\n", "an init function"},
		{"method named init", "mail/mail.go", doc + "type x int\nfunc (x) init() {}\n", ""},
		{"variable", "mail/mail.go", doc + "var count int\n", "the variable count may change"},
		{"map", "mail/mail.go", doc + "var m = map[string]int{}\n", "the variable m may change"},
		{"second of two", "mail/mail.go", doc + "var errA, n = errors.New(\"a\"), 1\n", "the variable n may change"},
		{"in a group", "mail/mail.go", doc + "var (\n\terrA = errors.New(\"a\")\n\tn int\n)\n", "the variable n may change"},
		{"work at start", "mail/mail.go", doc + "var _ = register()\n", "the variable _ may change"},
		{"assertion", "mail/mail.go", doc + "var _ error = (*x)(nil)\n", ""},
		{"embedded", "mail/mail.go", doc + "import \"embed\"\nvar files embed.FS\n", ""},
		{"expression", "mail/mail.go", doc + "var r = regexp.MustCompile(`a`)\n", ""},
		{"version of a room", "mail/mail.go", doc + "var version = \"1\"\n", "the variable version may change"},
		{"version of the program", "cmd/x/main.go", "// Command x.\npackage main\nvar version = \"1\"\n", ""},
		{"in a test", "mail/a_test.go", "package mail\nvar update = true\n", ""},
		{"what", "mail/mail.go", doc + "// f does what it is told what to do, and what not.\nfunc f() {}\n", "mail: 3 times \"what\" in"},
		{"who", "mail/mail.go", doc + "// f tells whoever asks who sent it, and whose it is.\nfunc f() {}\n", "mail: 3 times \"who\", \"whom\""},
		{"what twice", "mail/mail.go", doc + "// f does what it is told, and what not.\nfunc f() {}\n", ""},
		{"nameless package", "mail/mail.go", "// Package utils is.\npackage utils\n", "a name that says nothing"},
		{"nameless folder", "internal/helpers/mail.go", doc, "a name that says nothing"},
		{"in the doors", "internal/doors/a.go", "// Package doors is.\npackage doors\n", "holds rooms, and no Go files of its own"},
		{"in the drivers", "internal/drivers/a_test.go", "package drivers\n", "holds rooms, and no Go files of its own"},
		{"not Go", "mail/mail.go", "// Package mail.\npackage mail\nfunc {\n", "expected"},
		{"agents", "AGENTS.md", strings.Repeat("x\n", 61), "AGENTS.md has 61 lines; at most 60"},
		{"makefile", "Makefile", strings.Repeat("x\n", 40) + "x", "Makefile has 41 lines; at most 40"},
		{"makefile fits", "Makefile", strings.Repeat("x\n", 40), ""},
		{"data of tests", "mail/testdata/utils/a.go", "package utils\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := inspect(fstest.MapFS{c.path: {Data: []byte(c.text)}})
			switch {
			case c.want == "" && len(found) > 0:
				t.Errorf("found %q", found)
			case c.want != "" && (len(found) != 1 || !strings.Contains(found[0], c.want)):
				t.Errorf("found %q, want %q", found, c.want)
			}
		})
	}
}
