package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// field is a member that the catalog's code reads from an aai.json.
type field struct {
	also  []string // its other spellings
	types []string // its types, by the reading method; empty: testdata/fields.txt has them
	needs bool     // it is required everywhere
}

// descriptorReference documents the fields that the catalog reads: names and types from its code,
// meaning and order from testdata/fields.txt. Each field must be in both.
func descriptorReference(t *testing.T) string {
	kept, err := os.ReadFile(filepath.Join("testdata", "fields.txt"))
	assert.NilError(t, err)
	var b strings.Builder
	b.WriteString("# Fields of an aai.json\n\n" + fromCode + "\nEach field that is read. An example of each kind is in [descriptors](../descriptors.md). snake_case may be written in camelCase too.\n" +
		"A field that nobody reads is warned of by `aai-gateway lint`.\n")
	asked, file := map[string]*field{}, ""
	for n, line := range strings.Split(strings.TrimSuffix(string(kept), "\n"), "\n") {
		if name, about, ok := strings.Cut(strings.TrimPrefix(line, "# "), ": "); ok && strings.HasPrefix(line, "# ") {
			undocumented(t, file, asked)
			file = name
			asked = fieldsIn(t, filepath.Join("..", "..", "internal", "catalog", file))
			title, under, _ := strings.Cut(about, ". ")
			fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| field | takes | meaning |\n| --- | --- | --- |\n", title, under)
			continue
		}
		parts := strings.SplitN(line, " | ", 3)
		assert.Assert(t, is.Len(parts, 3), "fields.txt:%d: expected \"name | type | meaning\", or \"# file: title. Words.\": %s", n+1, line)
		f := asked[parts[0]]
		delete(asked, parts[0])
		if f == nil {
			t.Errorf("fields.txt:%d: %s asks for no %q", n+1, file, parts[0])
			continue
		}
		if (parts[1] == "-") == (len(f.types) == 0) {
			t.Errorf("fields.txt:%d: %s: the type is %q, and the code says %q; one of them says it, the other \"-\"", n+1, parts[0], parts[1], f.types)
		}
		b.WriteString(f.row(parts[0], parts[1], parts[2]))
	}
	undocumented(t, file, asked)
	everyFile(t, string(kept))
	return b.String()
}

func (f *field) row(name, kind, meaning string) string {
	if kind == "-" {
		kind = strings.Join(f.types, ", or ")
	}
	if f.needs {
		kind += "; needed"
	}
	spelled := "`" + name + "`"
	if len(f.also) > 0 {
		spelled += ", also `" + strings.Join(f.also, "`, `") + "`"
	}
	return fmt.Sprintf("| %s | %s | %s |\n", spelled, cell(kind), cell(meaning))
}

// undocumented lists fields without description.
func undocumented(t *testing.T, file string, asked map[string]*field) {
	for name := range asked {
		t.Errorf("fields.txt: %s: no words about %q", file, name)
	}
}

// everyFile fails if a file that reads fields is not covered.
func everyFile(t *testing.T, kept string) {
	files, err := filepath.Glob(filepath.Join("..", "..", "internal", "catalog", "*.go"))
	assert.NilError(t, err)
	for _, path := range files {
		name := filepath.Base(path)
		assert.Check(t, name == "members.go" || strings.HasSuffix(name, "_test.go") || strings.Contains(kept, "# "+name+": ") || len(fieldsIn(t, path)) <= 0, "fields.txt: no words about the fields of %s", name)
	}
}

// fieldCall describes a method of the catalog that reads fields: the first argument with a name,
// the type, and whether it is required. See the methods of members.
type fieldCall struct {
	names int
	takes string
	needs bool
}

func fieldCalls() map[string]fieldCall {
	return map[string]fieldCall{
		"take": {}, "text": {takes: "a string"}, "must": {1, "a string", true}, "need": {0, "a string", false}, "strings": {takes: "an object of strings"},
		"word": {takes: "a word"}, "flag": {takes: "true or false"}, "texts": {takes: "a list of strings"}, "dbusName": {names: 3, takes: "a string"},
		"endpoint": {names: 2, takes: "an https address"}, "prefix": {1, "a string", false}, "placement": {1, "`header` or `query`", false},
		"identity": {1, "a string", true}, "headers": {1, "an object of strings", false}, "timeout": {takes: "a number"},
	}
}

// fieldsIn returns the fields that a file's functions read, by name.
func fieldsIn(t *testing.T, path string) map[string]*field {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	assert.NilError(t, err)
	fields, known := map[string]*field{}, fieldCalls()
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		var method string
		switch f := call.Fun.(type) {
		case *ast.SelectorExpr:
			method = f.Sel.Name
		case *ast.Ident:
			method = f.Name
		}
		as, ok := known[method]
		if !ok {
			return true
		}
		words := literals(call.Args)
		names := words[min(as.names, len(words)):]
		switch method {
		case "endpoint":
			as.needs = words[min(1, len(words)-1)] != ""
		case "timeout":
			names = []string{"timeout"}
		case "word":
			if names = words[:1]; len(words) > 1 && !slices.Contains(words, "") {
				as.takes = "`" + strings.Join(words[1:], "`, `") + "`"
			}
		case "strings", "flag", "texts":
			names = words[:1]
		}
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" || strings.ContainsAny(name, " |") })
		if len(names) > 0 {
			add(fields, names, as)
		}
		return true
	})
	return fields
}

// literals returns the string literals among the arguments, and "" for others.
func literals(args []ast.Expr) []string {
	words := make([]string, len(args), len(args)+1)
	for i, arg := range args {
		if literal, ok := arg.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			words[i], _ = strconv.Unquote(literal.Value)
		} else if name, ok := arg.(*ast.Ident); ok && name.Name == "needed" {
			words[i] = name.Name
		}
	}
	if len(words) == 0 {
		words = append(words, "")
	}
	return words
}

func add(fields map[string]*field, names []string, as fieldCall) {
	f := fields[names[0]]
	if f == nil {
		f = &field{needs: as.needs}
		fields[names[0]] = f
	}
	f.needs = f.needs && as.needs
	for _, name := range names[1:] {
		if !slices.Contains(f.also, name) {
			f.also = append(f.also, name)
		}
	}
	if as.takes != "" && !slices.Contains(f.types, as.takes) {
		f.types = append(f.types, as.takes)
	}
}
