package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// auditCommand runs a command line with a desktop whose window has one issue, and differs from its baseline.
func auditCommand(t *testing.T, args ...string) (out string, asked map[string]any, code int) {
	t.Helper()
	schema := func(parameters string) aai.Schema {
		return aai.Schema{Check: func(v any) (any, error) { return v, nil }, Source: []byte(`{"properties": {"app": {"type": "string"}, ` + parameters + `}}`)}
	}
	answers := func(data any, text string) aai.Action {
		return func(_ context.Context, call *aai.Call) (*aai.Result, error) {
			asked = call.Args
			return &aai.Result{Data: data, Text: text, Images: []aai.Image{{MIME: "image/png", Data: []byte("picture")}}}, nil
		}
	}
	issue := map[string]any{
		"severity": "critical", "rule": "control-name", "criterion": "4.1.2 Name, Role, Value", "element": "button", "element_ref": "e3",
		"path": `window "Mail" > button[1]`, "description": "it has no name", "suggestion": "Give it a name.",
	}
	desktop := &aai.App{ID: aai.DesktopApp, Name: "Desktop", Tools: []*aai.Tool{
		{Name: "ax_a11y_audit", Effect: aai.Reads, Params: schema(`"standards": {"type": "array"}`), Run: answers(map[string]any{"passed": false, "summary": "Failed: 1 issue.", "issues": []any{issue}}, "Failed: 1 issue.")},
		{Name: "ax_visual_diff", Effect: aai.Reads, Params: schema(`"baseline": {"type": "string"}, "ignore": {"type": "array"}`), Run: answers(map[string]any{"passed": false}, "Failed: 7%")},
	}}
	drawn := map[string]any{"found": true, "element_ref": "w4"}
	if slices.Contains(args, "nothing") {
		drawn = map[string]any{"found": false}
	}
	desktop.Tools = append(desktop.Tools,
		&aai.Tool{Name: "ax_find_visual", Effect: aai.Reads, Params: schema(`"description": {"type": "string"}`), Run: answers(drawn, "No text in the picture matches. The texts are:\nStart")},
		&aai.Tool{Name: "ax_click", Effect: aai.Reads, Params: schema(`"query": {"type": "string"}`), Run: answers(nil, "Clicked")})
	w := newWorld()
	var stdout, stderr bytes.Buffer
	cfg := w.config(nil, &stdout, &stderr)
	cfg.Desktop = desktop
	cfg.OpenGateway = func(cli.Flags) (*gateway.Gateway, func() error, error) {
		return &gateway.Gateway{Catalog: catalog{w, []*aai.App{desktop}}, Gates: []aai.Gate{askingGate{w}}, Journal: w}, func() error { return nil }, nil
	}
	code = cli.Run(t.Context(), cfg, args)
	return stdout.String(), asked, code
}

// TestAuditSARIF: the report of an audit as SARIF names rule, level, criterion and element, and the exit code is 1.
func TestAuditSARIF(t *testing.T) {
	file, picture := filepath.Join(t.TempDir(), "a.sarif"), filepath.Join(t.TempDir(), "a.png")
	out, asked, code := auditCommand(t, "audit-app", "mail", "--standards", "AA", "--standards", "508", "--format", "sarif", "--output", file, "--picture", picture)
	assert.Check(t, is.Equal(code, 1), "exit code %d", code)
	assert.Check(t, is.Equal(out, "Failed: 1 issue.\n"))
	got, _ := json.Marshal(asked)
	assert.Check(t, is.Equal(string(got), `{"app":"mail","standards":["wcag_aa","section508"]}`), got)
	if data, err := os.ReadFile(picture); string(data) != "picture" {
		t.Errorf("the picture is %q, %v", data, err)
	}
	data, err := os.ReadFile(file)
	assert.NilError(t, err)
	for _, part := range []string{
		`"version":"2.1.0"`, `"ruleId":"control-name"`, `"level":"error"`, `"fullyQualifiedName":"window \"Mail\" > button[1]"`,
		`"helpUri":"https://www.w3.org/WAI/WCAG22/Understanding/name-role-value"`, `"message":{"text":"button: it has no name"}`,
	} {
		assert.Check(t, is.Contains(string(data), part), data)
	}
}

// TestChecksAsJUnit: the reports of an audit and a comparison as JUnit have a failed case.
func TestChecksAsJUnit(t *testing.T) {
	for _, c := range []struct{ line, class, name, message string }{
		{"audit-app mail --format junit", "control-name", `window "Mail" > button[1]`, "it has no name"},
		{"visual-diff mail start --format junit", "mail", "start", "the window differs from the baseline"},
	} {
		out, _, code := auditCommand(t, strings.Fields(c.line)...)
		assert.Check(t, is.Equal(code, 1), "%s: exit code %d", c.line, code)
		var suite struct {
			Failures int `xml:"failures,attr"`
			Cases    []struct {
				Class   string `xml:"classname,attr"`
				Name    string `xml:"name,attr"`
				Failure struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		}
		err := xml.Unmarshal([]byte(out), &suite)
		assert.NilError(t, err, "%s %s", c.line, out)
		assert.Equal(t, suite.Failures, 1, "%s %s", c.line, out)
		assert.Assert(t, is.Len(suite.Cases, 1), "%s %s", c.line, out)
		got := suite.Cases[0]
		assert.Check(t, is.Equal(got.Class, c.class), c.line)
		assert.Check(t, is.Equal(got.Name, c.name), c.line)
		assert.Check(t, is.Equal(got.Failure.Message, c.message), c.line)
	}
}

// TestClickVisual: the command clicks the ref of the words that a window draws, and fails if it draws none of them.
func TestClickVisual(t *testing.T) {
	t.Chdir(t.TempDir()) // where the command writes its picture
	testkit.Need(t, "tesseract")
	_, asked, code := auditCommand(t, "click", "game", "Start", "--visual")
	assert.Check(t, is.Equal(code, 0), "exit code %d", code)
	got, _ := json.Marshal(asked)
	assert.Check(t, is.Equal(string(got), `{"app":"game","query":"w4"}`), got)
	_, asked, code = auditCommand(t, "click", "game", "nothing", "--visual")
	assert.Check(t, is.Equal(code, 3), "exit code %d without such words", code)
	assert.Check(t, asked["query"] == nil, "it clicked %v", asked)
}

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
