package lint_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/descriptors"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/lint"
)

// lines returns findings as one line each.
func lines(r *answer.LintReport) []string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, fmt.Sprintf("%d:%d %s %s %s: %s", f.Line, f.Column, f.Severity, f.Rule, f.Path, f.Problem))
	}
	return all
}

// TestRules checks that each rule of testdata/rules.txt finds its problem, at its place.
func TestRules(t *testing.T) {
	text, err := os.ReadFile("testdata/rules.txt")
	assert.NilError(t, err)
	blocks := append(strings.Split(string(text), "\n\n")[1:],
		`"Keeps notes for a team." ⇒ "`+strings.Repeat("Keeps notes. ", 30)+"\"\n\twarning cut app.description: is of 390 bytes, and cut to 300",
		`"Keeps notes for a team." ⇒ "Keeps e`+strings.Repeat("\u0301", 30)+" notes for a team.\"\n\twarning unseen app.description: has more combining marks in a row than any language")
	for _, block := range blocks {
		changes, want, _ := strings.Cut(strings.TrimSuffix(block, "\n"), "\n\t")
		t.Run(changes, func(t *testing.T) {
			source := app("", "")
			for change := range strings.Lines(changes) {
				from, to, _ := strings.Cut(strings.TrimSuffix(change, "\n"), " ⇒ ")
				changed := strings.Replace(source, from, to, 1)
				assert.Assert(t, source != changed, "%s is not in the descriptor", from)
				source = changed
			}
			got := lines(lint.Check([]byte(source), catalog.Options{}))
			want := slices.DeleteFunc(strings.Split(want, "\n\t"), func(line string) bool { return line == "" })
			assert.Assert(t, is.Len(got, len(want)))
			for i, line := range want {
				assert.Check(t, is.Contains(got[i], line))
			}
		})
	}
}

// TestUnusedParameters checks unused parameters of scripts, COM tools and intents; a D-Bus method
// uses all of its parameters.
func TestUnusedParameters(t *testing.T) {
	source := `{"schema_version": "1.0", "version": "1.0.0", "appId": "org.example.App", "name": "App", "description": "An app for tests.", "platforms": {
  "macos": {"automation": "applescript", "tools": [{"name": "say_it", "description": "Says something.", "effect": "changes", "returns": {},
    "script": "say ${a}", "parameters": {"properties": {"a": {"description": "A."}, "b": {"description": "B."}}}}]},
  "windows": {"automation": "com", "tools": [{"name": "say_it", "description": "Says something.", "effect": "changes", "returns": {},
    "script": [{"action": "return", "value": {"x": "${b}"}}], "parameters": {"properties": {"a": {"description": "A."}, "b": {"description": "B."}}}}]},
  "linux": {"automation": "dbus", "service": "a.b", "object": "/", "interface": "a.b", "tools": [{"name": "say_it", "description": "Says something.", "effect": "changes", "returns": {},
    "method": "M", "parameters": {"properties": {"a": {"description": "A."}}}}]}}}`
	want := []string{
		`3:90 warning unused-parameter platforms.macos.tools[0].parameters.properties.b: is never used: no template has ${b}`,
		`5:98 warning unused-parameter platforms.windows.tools[0].parameters.properties.a: is never used: no template has ${a}`,
	}
	r := lint.Check([]byte(source), catalog.Options{})
	diff := cmp.Diff(want, lines(r))
	assert.Check(t, is.Equal(diff, ""))
	assert.Check(t, is.Equal(r.Tools, 3))
}

// TestPublished checks the faults that a file would have at its site.
func TestPublished(t *testing.T) {
	source := app("", "") + strings.Repeat(" ", 256<<10)
	r := lint.Check([]byte(source), catalog.Options{})
	got := lines(r)
	assert.Assert(t, is.Len(got, 1))
	assert.Equal(t, got[0], "1:1 warning published : longer than 262144 bytes")
	r = lint.Check([]byte(source), catalog.Options{Origin: "https://example.com"})
	if !r.HasSeverity(answer.SeverityError) {
		t.Errorf("of a site: %q", lines(r))
	}
}

// TestLargeGuides checks the findings about long guides.
func TestLargeGuides(t *testing.T) {
	var tools []string
	for i := range 90 {
		var properties []string
		for p := range 10 {
			properties = append(properties, fmt.Sprintf(`"p%d": {"type": "string", "description": "Parameter number %d of tool %d, of which nothing more is known."}`, p, p, i))
		}
		tools = append(tools, fmt.Sprintf(`{"name": "tool_number_%d", "description": "Does the thing of number %d.", "effect": "reads", "path": "/t", "method": "GET", "returns": {},
			"parameters": {"properties": {%s}}}`, i, i, strings.Join(properties, ",")))
	}
	good := app("", "")
	begin, _, _ := strings.Cut(good, `"tools": [`)
	r := lint.Check([]byte(begin+`"tools": [`+strings.Join(tools, ",")+`]}`), catalog.Options{})
	got := strings.Join(lines(r), "\n")
	if r.GuideTokens < 2000 || !strings.Contains(got, "warning large-guide : the guide takes about ") || !strings.Contains(got, "hint many-tools tools: 90 tools; models choose best among few") {
		t.Errorf("%d tokens: %s", r.GuideTokens, got)
	}
}

// TestOurOwnDescriptors checks that shipped descriptors have no errors, and only reviewed warnings.
func TestOurOwnDescriptors(t *testing.T) {
	reviewed := map[string]string{}
	for _, id := range descriptors.IDs() {
		source, err := fs.ReadFile(descriptors.FS(), id+"/aai.json")
		assert.NilError(t, err)
		for _, f := range lint.Check(source, catalog.Options{HostPlatform: "linux"}).Findings {
			assert.Check(t, f.Severity == answer.SeverityHint || reviewed[id] == f.Rule, "%s %d %d %s %s %s %s", id, f.Line, f.Column, f.Severity, f.Rule, f.Path, f.Problem)
		}
	}
}

// TestGolden compares the whole report of a descriptor with many faults, as JSON.
func TestGolden(t *testing.T) {
	for _, name := range []string{"rough", "broken"} {
		source, err := os.ReadFile("testdata/" + name + ".json")
		assert.NilError(t, err)
		got, err := json.MarshalIndent(lint.Check(source, catalog.Options{HostPlatform: "linux"}), "", "  ")
		assert.NilError(t, err)
		golden := "testdata/" + name + ".report.json"
		if os.Getenv("UPDATE_GOLDEN") != "" {
			assert.NilError(t, os.WriteFile(golden, append(got, '\n'), 0o600))
		}
		want, err := os.ReadFile(golden)
		assert.NilError(t, err)
		assert.Check(t, is.DeepEqual(string(want), string(got)+"\n"), "%s", golden)
	}
}

func TestStepsOfCOM(t *testing.T) {
	tool := func(effect, variable string) string {
		return `{"schema_version": "1.0", "version": "1.0.0", "appId": "a.b", "name": "N", "description": "An app for the test.", "platforms": {"windows": {"automation": "com", "progid": "A.B", "tools": [
			{"name": "name_it", "description": "Gives the app a new name.", "effect": "` + effect + `", "parameters": {"type": "object", "properties": {"to": {"type": "string", "description": "The new name."}}},
			"script": [{"action": "create", "var": "` + variable + `", "progid": "A.B"}, {"action": "set", "object": "` + variable + `", "property": "Name", "value": "${to}"}]}]}}}`
	}
	problems := func(text string) (found []string) {
		for _, f := range lint.Check([]byte(text), catalog.Options{HostPlatform: "windows"}).Findings {
			if f.Rule == "effect" || f.Rule == "variable" {
				found = append(found, f.Path+": "+f.Problem)
			}
		}
		return found
	}
	assert.Check(t, is.Len(problems(tool("changes", "app")), 0))
	assert.Check(t, is.DeepEqual(problems(tool("reads", "to")), []string{
		`platforms.windows.tools[0].script[0]: has a variable "to", but "${to}" is the parameter of this name`,
		`platforms.windows.tools[0].script[1]: sets Name, but the tool declares that it reads`,
	}))
}
