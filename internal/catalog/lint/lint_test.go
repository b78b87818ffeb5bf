package lint_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
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

// TestRules checks that each rule finds its problem, at its place.
func TestRules(t *testing.T) {
	tests := []struct {
		name, from, to string
		want           string // the only additional finding, as a line
	}{
		{"no version", `"version": "1.0.0", `, ``, `1:1 warning version : version: missing`},
		{"odd version", `"1.0.0"`, `"1.0"`, `1:38 warning version version: "1.0" is no semantic version`},
		{"vague name", `"add_note"`, `"do_2"`, `hint name tools[0].name: "do_2" does not say what the tool does`},
		{"camel name", `"add_note"`, `"addNote"`, `hint name tools[0].name: "addNote" is not in snake_case`},
		{"short description", `"Adds a note and returns its number."`, `"Adds."`, "hint description tools[0].description: is very short"},
		{"no effect", `"effect": "changes", `, ``, "hint effect tools[0]: does not declare its effect"},
		{"wrong effect", `"effect": "changes", "path"`, `"effect": "reads", "annotations": {"title": "Send"}, "path"`, ""},
		{"no returns", `"returns": {"type": "object", "properties": {"id": {"type": "integer"}}},`, ``, "hint returns tools[0]: does not describe its result"},
		{"no description of a parameter", `, "description": "What the note says."`, ``, "hint description tools[0].parameters.properties.text: has no description"},
		{"required but unknown", `"required": ["text"]`, `"required": ["text", "txt"]`, "hint example tools[0]: the guide can show no example of a call\n7:59 " + `warning parameters tools[0].parameters.required[1]: "txt" is required, but not among the properties`},
		{"an address carries values", `"method": "POST"`, `"method": "DELETE"`, ""},
		{"a body carries objects", `"pinned": {"type": "boolean"`, `"body": {"type": "object"`, ""},
		{"secret", `"Ann"`, `"AKIAABCDEFGHIJKLMNOP"`, "error secret tools[0].parameters.properties.author.examples[0]: has a value in the form of a secret"},
		{"header", `"base_url"`, `"default_headers": {"X-Api-Key": "x"}, "base_url"`, `warning secret execution.default_headers.X-Api-Key: is a header that usually has a secret`},
		{"key in the address", `{"type": "bearer",`, `{"type": "bearer", "token_placement": "query",`, "warning auth auth: the secret goes into the address"},
		{"environment", `{"type": "bearer",`, `{"type": "bearer", "env_var": "GITHUB_TOKEN",`, "warning auth auth: reads the variable GITHUB_TOKEN"},
		{"long", `"Keeps notes for a team."`, `"` + strings.Repeat("Keeps notes. ", 30) + `"`, "warning cut app.description: is of 390 bytes, and cut to 300"},
		{"two sites", `{"type": "bearer",`, `{"type": "bearer", "obtain_url": "https://keys.example.net/",`, "hint hosts auth: logging in goes to another site than the calls: keys.example.net"},
		{"unknown key", `"title"`, `"titel"`, "warning doubtful tools[0].titel: unknown key; it is ignored (did you mean \"title\"?)"},
		{"invalid", `"/notes"`, `"notes"`, `error invalid tools[0].path: is "notes"; expected a path that begins with one "/"`},
		{"syntax", `"/notes",`, `"/notes"`, `6:43 error invalid tools[0]: not JSON: invalid character '"' after object value`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			good := app("", "")
			source := strings.Replace(good, test.from, test.to, 1)
			assert.Assert(t, source != good, "%s is not in the descriptor", test.from)
			got := strings.Join(lines(lint.Check([]byte(source), catalog.Options{})), "\n")
			assert.Assert(t, is.Contains(got, test.want))
			assert.Equal(t, strings.Count(got, "\n"), strings.Count(test.want, "\n"))
		})
	}
}

// TestRulesOfTwoParts checks findings with two causes.
func TestRulesOfTwoParts(t *testing.T) {
	replace := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(app("", "")) }
	for source, want := range map[string]string{
		replace(`"add_note"`, `"delete_note"`, `"effect": "changes"`, `"effect": "reads"`):                  `warning effect tools[0].effect: declares that it reads, but is named "delete_note"`,
		replace(`"POST"`, `"DELETE"`, `"pinned": {"type": "boolean"`, `"body": {"type": "string"`):          "warning query tools[0].parameters.properties.body: goes into the address, since DELETE has no body",
		replace(`"POST"`, `"GET"`, `"pinned": {"type": "boolean"`, `"filter": {"type": "object"`):           "warning query tools[0].parameters.properties.filter: goes into the address, since GET has no body",
		replace(`"POST"`, `"GET"`, `"effect": "changes", `, ``):                                             "",
		replace(`"Adds a note and returns its number."`, `"Adds \u202ea note and returns its number."`):     "warning unseen tools[0].description: has the character U+202E, which does not show",
		replace(`"Keeps notes for a team."`, `"Keeps e`+strings.Repeat("\u0301", 30)+` notes for a team."`): "warning unseen app.description: has more combining marks in a row than any language",
	} {
		got := strings.Join(lines(lint.Check([]byte(source), catalog.Options{})), "\n")
		assert.Assert(t, strings.HasSuffix(got, want), "found\n%s\nwant\n%s", got, want)
		assert.Assert(t, !strings.Contains(got, "\n"), "found\n%s\nwant\n%s", got, want)
		assert.Assert(t, want != "" || got == "", "found\n%s\nwant\n%s", got, want)
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
