package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// golden compares with a file of testdata. UPDATE_GOLDEN=1 go test -run Golden rewrites the
// files.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		write(t, path, got)
	}
	assert.Check(t, is.DeepEqual(read(t, path), got), "%s", name)
}

func TestGoldenGuides(t *testing.T) {
	for _, name := range []string{"mail", "web", "rich"} {
		t.Run(name, func(t *testing.T) {
			d := mustParse(t, read(t, "testdata/"+name+".json"), Options{HostPlatform: "linux", Drivers: drivers(&recorder{}, "dbus", "http")})
			golden(t, name+".guide.md", Guide(d.App))
			data, err := json.MarshalIndent(GuideData(d.App), "", "  ")
			assert.NilError(t, err)
			golden(t, name+".guide.json", string(data)+"\n")
			checkExamples(t, d.App)
		})
	}
}

// checkExamples validates every example of a guide with the tool's own schema, as an agent would
// send it.
func checkExamples(t *testing.T, app *aai.App) {
	t.Helper()
	examples := 0
	for line := range strings.Lines(Guide(app)) {
		call, ok := strings.CutPrefix(strings.TrimSpace(line), "Example: aai_exec(")
		if !ok {
			continue
		}
		var sent struct {
			App, Tool string
			Args      map[string]any
		}
		assert.NilError(t, json.Unmarshal([]byte(strings.TrimSuffix(call, ")")), &sent), line)
		tool := app.Tool(sent.Tool)
		assert.Assert(t, tool != nil, "%s: no such tool", line)
		assert.Equal(t, sent.App, app.ID, line)
		if tool.Params.Check == nil {
			assert.Check(t, is.Len(sent.Args, 0), "%s: the tool takes no parameters", line)
		} else if _, err := tool.Params.Check(sent.Args); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		examples++
	}
	assert.Check(t, is.Equal(examples, len(app.Tools)), "%d examples for %d tools", examples, len(app.Tools))
}

// TestExamples checks that examples are valid for any schema, or absent.
func TestExamples(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type": "integer", "minimum": 5}`:                             `5`,
		`{"type": "number", "exclusiveMinimum": 2.5}`:                   `3.5`,
		`{"type": "integer", "maximum": -3}`:                            `-3`,
		`{"type": "integer", "multipleOf": 7, "minimum": 10}`:           `14`,
		`{"type": "integer", "exclusiveMaximum": 0}`:                    `-1`,
		`{"type": "boolean"}`:                                           `true`,
		`{"type": "null"}`:                                              `null`,
		`{"type": "string"}`:                                            `"x"`,
		`{"type": "string", "minLength": 4}`:                            `"xxxx"`,
		`{"type": "string", "pattern": "^[0-9]{4}$"}`:                   `"1234"`,
		`{"type": "string", "pattern": "^never-[0-9]{7}$"}`:             ``,
		`{"type": "string", "format": "uuid"}`:                          `"123e4567-e89b-12d3-a456-426614174000"`,
		`{"const": {"a": [1, 2.50]}}`:                                   `{"a":[1,2.50]}`,
		`{"enum": [null, 1]}`:                                           `null`,
		`{"default": "d"}`:                                              `"d"`,
		`{"default": "d\u202e"}`:                                        "\"d\u202e\"",
		`{"examples": ["e", "f"]}`:                                      `"e"`,
		`{"type": "array", "items": {"type": "string"}, "minItems": 2}`: `["x","x"]`,
		`{"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": true}`: ``,
		`{"type": "array"}`: `[]`,
		`{"anyOf": [{"type": "integer"}, {"type": "string"}]}`:                      `1`,
		`{"type": ["integer", "null"]}`:                                             `1`,
		`{"properties": {"y": {"type": "string"}, "z": {}}, "required": ["y"]}`:     `{"y":"y"}`,
		`{"type": "object", "properties": {"y": {"const": 1}}, "minProperties": 1}`: `{"y":1}`,
		`{"const": "` + strings.Repeat("l", 700) + `"}`:                             ``,
	} {
		source := strings.Replace(linuxTool(`"method": "M"`), `"a": {"type": "string"}, "b": {"type": "string"}}`, `"x": `+schema+`}, "required": ["x"]`, 1)
		tool := mustParse(t, source, Options{}).App.Tools[0]
		got := string(example(tool, readSchema(tool.Params.Source, sanitize.Quote)))
		if want != "" {
			want = `{"x": ` + want + `}`
		}
		assert.Check(t, is.Equal(got, want), schema)
	}
}

func TestGuideOfOwnAndUnsupportedApps(t *testing.T) {
	own := &aai.App{ID: "aai", Name: "AAI", Tools: []*aai.Tool{{
		Name: "apps", Effect: aai.Reads,
		Run: func(context.Context, *aai.Call) (*aai.Result, error) { return nil, nil },
	}}}
	want := "# AAI\n\n## App Info\n\n- id: aai\n\n## Available Operations\n\n### apps\n\nEffect: reads only.\n" +
		"Example: aai_exec({\"app\": \"aai\", \"tool\": \"apps\", \"args\": {}})\n\nUse the aai_exec tool to run these operations.\n"
	assert.Check(t, is.DeepEqual(want, Guide(own)))
	other := mustParse(t, linuxApp("a.b", "N", ""), Options{HostPlatform: "macos"}).App
	assert.Check(t, is.Contains(Guide(other), "- NOT SUPPORTED HERE: no operation of this app can run on this computer.\n"))
}

// TestGuideIsBounded checks the guide's length for a schema with very many parameters.
func TestGuideIsBounded(t *testing.T) {
	var properties []string
	for i := range 300 {
		properties = append(properties, fmt.Sprintf(`"p%d": {"type": "string", "description": %q}`, i, strings.Repeat("d", 500)))
	}
	source := strings.Replace(linuxTool(`"method": "M"`), `"a": {"type": "string"}, "b": {"type": "string"}`, strings.Join(properties, ","), 1)
	guide := Guide(mustParse(t, source, Options{}).App)
	if len(guide) > 30_000 || !strings.Contains(guide, "- … and 200 more; see the schema\n") {
		t.Errorf("%d bytes: %s", len(guide), guide[len(guide)-300:])
	}
}
