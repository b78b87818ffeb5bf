package cli_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// withPrograms runs a command line under the name with a desktop on which the programs of the JSON
// objects run. Its ax_find answers with the arguments.
func withPrograms(t *testing.T, name string, programs []any, line string) (out, said string, code int) {
	t.Helper()
	open := aai.Schema{Check: func(v any) (any, error) { return v, nil }, Source: []byte(`{"properties": {"app": {"type": "string"}, "query": {"type": "string"}}}`)}
	desktop := &aai.App{ID: aai.DesktopApp, Name: "Desktop", Tools: []*aai.Tool{
		{Name: "ax_list_apps", Effect: aai.Reads, Params: open, Run: func(context.Context, *aai.Call) (*aai.Result, error) {
			return &aai.Result{Data: map[string]any{"apps": programs}}, nil
		}},
		{Name: "ax_find", Effect: aai.Reads, Params: open, Run: func(_ context.Context, call *aai.Call) (*aai.Result, error) {
			return &aai.Result{Data: call.Args}, nil
		}},
	}}
	w := newWorld()
	var stdout, stderr bytes.Buffer
	cfg := w.config(nil, &stdout, &stderr)
	cfg.Name, cfg.Desktop = name, desktop
	cfg.OpenGateway = func(cli.Flags) (*gateway.Gateway, func() error, error) {
		return &gateway.Gateway{Catalog: catalog{w, []*aai.App{desktop}}, Gates: []aai.Gate{askingGate{w}}, Journal: w}, func() error { return nil }, nil
	}
	code = cli.Run(t.Context(), cfg, strings.Fields(line))
	return strings.TrimSpace(stdout.String()), stderr.String(), code
}

// TestNoProgramRuns checks that people get a sentence and programs the empty list if no program runs.
func TestNoProgramRuns(t *testing.T) {
	for format, want := range map[string][2]string{"text": {"", "No program with a window runs.\n"}, "json": {`{"result":{"apps":[]}}`, ""}} {
		out, said, code := withPrograms(t, "", []any{}, "apps --running --format "+format)
		assert.Check(t, is.Equal(code, 0), "%s: exit code %d", format, code)
		assert.Check(t, is.Equal(out, want[0]), format)
		assert.Check(t, is.Equal(said, want[1]), format)
	}
}

// TestOnlyProgram checks that a command for windows without a program operates the only one that
// runs, besides the terminal, and otherwise names the choice.
func TestOnlyProgram(t *testing.T) {
	editor, paint := map[string]any{"name": "Editor", "pid": 7}, map[string]any{"name": "Paint", "pid": 8}
	terminal := map[string]any{"name": "Terminal", "pid": 9, "host": true}
	for _, c := range []struct {
		programs  []any
		out, said string
		code      int
	}{
		{[]any{terminal, editor}, `{"result":{"app":"7","query":"Save"}}`, "", 0},
		{[]any{editor, paint}, "", "2 programs run: give one of them by --app: Editor, Paint", 2},
		{[]any{terminal}, "", "no program with a window runs", 2},
	} {
		out, said, code := withPrograms(t, "", c.programs, "find Save --format json")
		assert.Check(t, is.Equal(code, c.code), "%v: exit code %d", c.programs, code)
		assert.Check(t, is.Contains(out, c.out), c.programs)
		assert.Check(t, is.Contains(out+said, c.said), "%v %q %q", c.programs, out, said)
	}
}

// TestHelpUnderTheCalledName checks that the help has no other name than the one by which the program was called.
func TestHelpUnderTheCalledName(t *testing.T) {
	for _, line := range []string{"--help", "find --help"} {
		out, _, _ := withPrograms(t, "axterminator", nil, line)
		assert.Assert(t, !strings.Contains(out, "aai-gateway"), "%s %s", line, out)
		assert.Assert(t, is.Contains(out, "axterminator"), line)
	}
}

// TestDataItself checks the JSON under the name axterminator.
func TestDataItself(t *testing.T) {
	editor := map[string]any{"name": "Editor", "pid": 7, "accessible": true}
	for line, want := range map[string]string{
		"apps --format json":                   `[{"accessible":true,"name":"Editor","pid":7}]`,
		"find Save --app Editor --format json": `{"app":"Editor","query":"Save"}`,
	} {
		out, said, _ := withPrograms(t, "axterminator", []any{editor}, line)
		assert.Check(t, is.Equal(out, want), "%s %q", line, said)
	}
}
