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

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/gateway"
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
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	if out != "Failed: 1 issue.\n" {
		t.Errorf("output %q", out)
	}
	if got, _ := json.Marshal(asked); string(got) != `{"app":"mail","standards":["wcag_aa","section508"]}` {
		t.Errorf("the call has %s", got)
	}
	if data, err := os.ReadFile(picture); string(data) != "picture" {
		t.Errorf("the picture is %q, %v", data, err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"version":"2.1.0"`, `"ruleId":"control-name"`, `"level":"error"`, `"fullyQualifiedName":"window \"Mail\" > button[1]"`,
		`"helpUri":"https://www.w3.org/WAI/WCAG22/Understanding/name-role-value"`, `"message":{"text":"button: it has no name"}`,
	} {
		if !strings.Contains(string(data), part) {
			t.Errorf("%s is not in\n%s", part, data)
		}
	}
}

// TestChecksAsJUnit: the reports of an audit and a comparison as JUnit have a failed case.
func TestChecksAsJUnit(t *testing.T) {
	for _, c := range []struct{ line, class, name, message string }{
		{"audit-app mail --format junit", "control-name", `window "Mail" > button[1]`, "it has no name"},
		{"visual-diff mail start --format junit", "mail", "start", "the window differs from the baseline"},
	} {
		out, _, code := auditCommand(t, strings.Fields(c.line)...)
		if code != 1 {
			t.Errorf("%s: exit code %d", c.line, code)
		}
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
		if err := xml.Unmarshal([]byte(out), &suite); err != nil || suite.Failures != 1 || len(suite.Cases) != 1 {
			t.Fatalf("%s: %v\n%s", c.line, err, out)
		}
		got := suite.Cases[0]
		if got.Class != c.class {
			t.Errorf("%s: the class is %q", c.line, got.Class)
		}
		if got.Name != c.name {
			t.Errorf("%s: the name is %q", c.line, got.Name)
		}
		if got.Failure.Message != c.message {
			t.Errorf("%s: the message is %q", c.line, got.Failure.Message)
		}
	}
}

// TestClickVisual: the command clicks the ref of the words that a window draws, and fails if it draws none of them.
func TestClickVisual(t *testing.T) {
	_, asked, code := auditCommand(t, "click", "game", "Start", "--visual")
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got, _ := json.Marshal(asked); string(got) != `{"app":"game","query":"w4"}` {
		t.Errorf("the click has %s", got)
	}
	_, asked, code = auditCommand(t, "click", "game", "nothing", "--visual")
	if code != 3 {
		t.Errorf("exit code %d without such words", code)
	}
	if asked["query"] != nil {
		t.Errorf("it clicked %v", asked)
	}
}
