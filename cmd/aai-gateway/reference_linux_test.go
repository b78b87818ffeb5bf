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
		cli.ReferenceMarkdown(cli.Config{Version: "1", Desktop: describeDesktop(), Clients: p.clients, RunDemo: nothing, NewDoctor: p.doctor})
}

// toolsReference documents the builtin tools and the desktop's.
func toolsReference(t *testing.T) string {
	d := newDesk(t)
	c, err := d.readFile(t, "{}")
	built, err := (&program{getenv: d.getenv, hostAccess: d.grounds(), err: io.Discard}).build(mustRead(t, c, err))
	assert.NilError(t, err)
	defer func() { _ = built.close() }()
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
	d := newDesk(t)
	c, err := d.readFile(t, "{}")
	built, err := (&program{getenv: d.getenv, hostAccess: d.grounds(), err: io.Discard}).build(mustRead(t, c, err))
	assert.NilError(t, err)
	defer func() { _ = built.close() }()
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
