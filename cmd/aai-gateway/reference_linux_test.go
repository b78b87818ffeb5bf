package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/cli"
)

// TestReference compares the pages of docs/reference with the code. UPDATE_GOLDEN=1 writes them.
func TestReference(t *testing.T) {
	for name, made := range map[string]string{
		"settings": settingsReference(t), "commands": commandsReference(), "tools": toolsReference(t),
		"errors": errorsReference(t), "descriptor": descriptorReference(t),
	} {
		path := filepath.Join("..", "..", "docs", "reference", name+".md")
		if os.Getenv("UPDATE_GOLDEN") != "" {
			assert.NilError(t, os.WriteFile(path, []byte(made), 0o600))
		}
		kept, err := os.ReadFile(path)
		assert.NilError(t, err, path)
		assert.Equal(t, string(kept), made, path)
	}
}

const fromCode = "<!-- Made from the code by TestReference of cmd/aai-gateway; not written by hand. -->\n"

func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", `\<`, "\n", " ").Replace(text)
}

func settingsReference(t *testing.T) string {
	d := newDesk(t)
	c, err := d.readFile(t, "{}")
	cfg := mustRead(t, c, err)
	var b strings.Builder
	b.WriteString("# Settings\n\n" + fromCode + "\nWhat is marked with * holds only once you confirmed it, as the note says. `aai-gateway settings` shows what they are on your computer, and\n" +
		"`aai-gateway settings set KEY VALUE` changes one. How the layers go together: [guide](../guide.md#configuration).\n\n" +
		"| setting | kind | standard | environment | meaning |\n| --- | --- | --- | --- | --- |\n")
	for _, s := range cfg.Describe() {
		standard, err := json.Marshal(s.Default)
		assert.NilError(t, err)
		kind, mark, note := s.Kind, "", ""
		if len(s.Choices) > 0 {
			kind = "`" + strings.Join(s.Choices, "`, `") + "`"
		}
		if s.Widens != "" {
			mark, note = " *", ". * "+s.Widens
		}
		fmt.Fprintf(&b, "| `%s`%s | %s | `%s` | %s | %s |\n", s.Key, mark, kind, cell(strings.ReplaceAll(string(standard), d.home, "~")), strings.Join(s.Env, " "), cell(s.Summary+note))
	}
	return b.String()
}

func commandsReference() string {
	nothing := func(context.Context, cli.Flags, io.Writer) error { return nil }
	p := &program{}
	return "# Commands\n\n" + fromCode + "\nThe flags of the first command are for all of them. Exit codes: [errors](errors.md).\n" +
		cli.ReferenceMarkdown(cli.Config{Version: "1", Desktop: describeDesktop(), Clients: p.clients, RunDemo: nothing, RunSession: p.sessions(), NewDoctor: p.doctor})
}

// toolsReference documents the builtin tools and the desktop's.
func toolsReference(t *testing.T) string {
	built := newDesk(t).build(t, "{}")
	own, err := built.gateway.Catalog.Find(t.Context(), aai.BuiltinApp)
	assert.NilError(t, err)
	var b strings.Builder
	b.WriteString("# Tools of the gateway\n\n" + fromCode + "\nRun one with `aai-gateway exec APP TOOL --arg name=value`; agents use `aai_exec`. Agents have the tools marked with +;\n" +
		"the others are for the person, and what changes anything is asked about.\n")
	for _, app := range []*aai.App{own, describeDesktop()} {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", app.ID, app.Description)
		for _, tool := range app.Tools {
			mark := ""
			if app.ID != aai.BuiltinApp || slices.Contains(agentTools(), tool.Name) {
				mark = " +"
			}
			fmt.Fprintf(&b, "\n### %s%s\n\n%s. It %s.\n", tool.Name, mark, strings.TrimSuffix(cell(tool.Description), "."), tool.Effect)
			paramsReference(t, &b, tool)
		}
	}
	return b.String()
}

func paramsReference(t *testing.T, b *strings.Builder, tool *aai.Tool) {
	var params struct {
		Properties map[string]struct {
			Type        any    `json:"type"`
			Description string `json:"description"`
			Enum        []any  `json:"enum"`
			Default     any    `json:"default"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if len(tool.Params.Source) > 0 {
		assert.NilError(t, json.Unmarshal(tool.Params.Source, &params), tool.Name)
	}
	var names []string
	for name := range params.Properties {
		names = append(names, name)
	}
	if slices.Sort(names); len(names) == 0 {
		return
	}
	b.WriteString("\n| parameter | type | meaning |\n| --- | --- | --- |\n")
	for _, name := range names {
		p := params.Properties[name]
		words := p.Description
		for _, value := range p.Enum {
			words += fmt.Sprintf(" `%v`", value)
		}
		if p.Default != nil {
			words += fmt.Sprintf(" (standard: `%v`)", p.Default)
		}
		kind := ""
		if p.Type != nil {
			kind = fmt.Sprint(p.Type)
		}
		if slices.Contains(params.Required, name) {
			kind += ", needed"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, strings.TrimPrefix(kind, ", "), cell(strings.TrimSpace(words)))
	}
}

// errorsReference documents the codes, from their declarations in error.go.
func errorsReference(t *testing.T) string {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "error.go"), nil, parser.ParseComments)
	assert.NilError(t, err)
	var b strings.Builder
	b.WriteString("# Errors\n\n" + fromCode + "\nAn error says what went wrong, and a hint what to do next. An error of a tool that acts says in `delivery` whether the app got\n" +
		"the request: `not_delivered`, `delivered` or `unknown`. The number is the AAI protocol's.\n\n| code | number | also | exit code | meaning | what to do next |\n| --- | --- | --- | --- | --- | --- |\n")
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		kind, named := spec.Type.(*ast.Ident)
		if !ok || !named || kind.Name != "Code" {
			return true
		}
		word, err := strconv.Unquote(literal.Value)
		assert.NilError(t, err)
		code := aai.Code(word)
		meaning, next, ok := strings.Cut(strings.Join(strings.Fields(spec.Doc.Text()), " "), " Next: ")
		if !ok || meaning == "" || next == "" {
			t.Errorf("error.go: %s: expected a comment that says what it means and, after \"Next:\", what to do", code)
		}
		fmt.Fprintf(&b, "| `%s` | %d | %s | %d | %s | %s |\n", code, code.Number(), code.Alias(), cli.ExitOf(code), cell(meaning), cell(strings.ToUpper(next[:1])+next[1:]))
		return true
	})
	return b.String()
}

// TestCommandsFitTheirTools checks that the operands and flags of commands name parameters of their tools.
func TestCommandsFitTheirTools(t *testing.T) {
	built := newDesk(t).build(t, "{}")
	seen, commands := 0, cli.CommandTree(cli.Config{Desktop: describeDesktop(), Clients: (&program{}).clients}).Commands()
	for len(commands) > 0 {
		cmd := commands[0]
		commands = append(commands[1:], cmd.Commands()...)
		name, callsTool := cmd.Annotations["tool"]
		if !callsTool {
			continue
		}
		seen++
		app, err := built.gateway.Catalog.Find(t.Context(), cmp.Or(cmd.Annotations["app"], aai.BuiltinApp))
		if err != nil || app.Tool(name) == nil {
			t.Errorf("%s: there is no tool %q (%v)", cmd.CommandPath(), name, err)
			continue
		}
		var params struct{ Properties map[string]any }
		assert.NilError(t, json.Unmarshal(app.Tool(name).Params.Source, &params), name)
		for _, parameter := range strings.Fields(cmd.Annotations["parameters"]) {
			if _, ok := params.Properties[parameter]; !ok {
				t.Errorf("%s: %s has no parameter %q", cmd.CommandPath(), name, parameter)
			}
		}
	}
	assert.Check(t, seen >= 30, "only %d commands call a tool", seen)
}

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
