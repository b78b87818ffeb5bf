package lint_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/lint"
)

// anyApp draws a valid descriptor of either dialect, with any texts.
func anyApp(t *rapid.T) map[string]any {
	words := rapid.StringMatching(`[A-Za-z<>"\\ .#\x{202e}\x{200b}é日]{1,40}`)
	name := rapid.StringMatching(`[a-z][a-z0-9_]{0,20}`)
	kinds := rapid.SampledFrom([]string{"string", "integer", "number", "boolean", "array", "object"})
	methods := rapid.SampledFrom([]string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"})
	web := rapid.Bool().Draw(t, "web")
	var tools []any
	for i := range rapid.IntRange(0, 5).Draw(t, "tools") {
		properties := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "params") {
			properties[name.Draw(t, "param")] = map[string]any{"type": kinds.Draw(t, "type"), "description": words.Draw(t, "param words")}
		}
		tool := map[string]any{"name": fmt.Sprintf("%s_%d", name.Draw(t, "tool"), i), "parameters": map[string]any{"type": "object", "properties": properties}}
		if rapid.Bool().Draw(t, "described") {
			tool["description"] = words.Draw(t, "words")
		}
		if rapid.Bool().Draw(t, "says its effect") {
			tool["effect"] = rapid.SampledFrom([]string{"reads", "changes", "destroys"}).Draw(t, "effect")
		}
		if web {
			tool["path"], tool["method"] = "/"+name.Draw(t, "path"), methods.Draw(t, "method")
		} else {
			tool["method"] = "Method" + fmt.Sprint(i)
		}
		tools = append(tools, tool)
	}
	version := fmt.Sprintf("%d.%d.%d", rapid.IntRange(0, 3).Draw(t, "major"), rapid.IntRange(0, 9).Draw(t, "minor"), rapid.IntRange(0, 9).Draw(t, "patch"))
	about := map[string]any{"name": "N" + words.Draw(t, "name"), "description": words.Draw(t, "description")}
	if web {
		about["id"] = "com.example." + name.Draw(t, "id")
		return map[string]any{
			"schema_version": "1.0", "version": version, "platform": "web", "app": about,
			"execution": map[string]any{"type": "http", "base_url": "https://api.example.com"}, "tools": append([]any{}, tools...),
		}
	}
	about["schema_version"], about["version"], about["appId"] = "1.0", version, "com.example."+name.Draw(t, "id")
	about["platforms"] = map[string]any{"linux": map[string]any{
		"automation": "dbus", "service": "a.b", "object": "/", "interface": "a.b", "tools": append([]any{}, tools...),
	}}
	return about
}

// TestNoErrorsInValidDescriptors checks that a valid descriptor has no errors; that each finding
// is at a value of the document and has a text; and that the descriptor equals itself in a
// comparison.
func TestNoErrorsInValidDescriptors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source, err := json.Marshal(anyApp(t))
		assert.NilError(t, err)
		_, err = catalog.Parse(source, catalog.Options{})
		assert.NilError(t, err, "the generator is wrong: %v\n%s", err, source)
		r := lint.CheckAgainst(source, source, catalog.Options{})
		assert.Assert(t, !r.HasSeverity(answer.SeverityError), "%+v %s", r.Findings, source)
		checkReport(t, source, r)
		c := r.Comparison
		assert.Assert(t, c.IsSufficient, "it differs from itself: %+v", c)
		assert.Equal(t, c.RequiredBump, answer.NoBump, "%+v", c)
		assert.Equal(t, c.ActualBump, answer.NoBump, "%+v", c)
		assert.Assert(t, is.Len(c.Changes, 0), "%+v", c)
	})
}

// checkReport checks properties of any report.
func checkReport(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, source []byte, r *answer.LintReport,
) {
	t.Helper()
	var decoded any
	whole := jsontext.Value(source).IsValid() && json.Unmarshal(source, &decoded) == nil
	paths := make(map[string][]any)
	collect(paths, "", decoded)
	for _, f := range r.Findings {
		if f.Problem == "" || f.Rule == "" || f.Severity != answer.SeverityError && f.Severity != answer.SeverityWarning && f.Severity != answer.SeverityHint {
			t.Fatalf("finding %+v", f)
		}
		lines := strings.Split(string(source), "\n")
		if f.Line < 1 || f.Line > len(lines) || f.Column < 1 || f.Column > len(lines[f.Line-1])+1 {
			t.Fatalf("the place is not in the document: %+v", f)
		}
		if whole && len(paths[f.Path]) == 0 {
			t.Fatalf("the path is not in the document: %+v", f)
		}
		if !whole || len(paths[f.Path]) > 1 || f.Path == "" {
			continue
		}
		begin := len(strings.Join(lines[:f.Line-1], "\n")) + min(f.Line-1, 1) + f.Column - 1
		var there any
		if err := json.NewDecoder(bytes.NewReader(source[begin:])).Decode(&there); err != nil || !cmp.Equal(there, paths[f.Path][0]) {
			t.Fatalf("at %d:%d is %v and not the value of the path: %+v", f.Line, f.Column, there, f)
		}
	}
}

// collect gathers the paths and values of a document with another parser.
func collect(paths map[string][]any, path string, v any) {
	paths[path] = append(paths[path], v)
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			collect(paths, catalog.JoinPath(path, name, -1), item)
		}
	case []any:
		for i, item := range v {
			collect(paths, catalog.JoinPath(path, "", i), item)
		}
	}
}

// FuzzCheck checks that any bytes give a report quickly, with every position in the bytes, and
// that a rejected text has an error.
func FuzzCheck(f *testing.F) {
	for _, name := range []string{"testdata/rough.json", "testdata/broken.json", "../testdata/web.json", "../testdata/mail.json"} {
		source, err := os.ReadFile(name)
		assert.NilError(f, err)
		f.Add(source, source)
	}
	f.Add([]byte(app("", "")), []byte(app("tool", "Other words.")))
	f.Add([]byte("\xef\xbb\xbf{\"a\": \"\\\\\\\"\"}"), []byte(strings.Repeat("[", 20_000)))
	f.Add([]byte(`{"a.b": {"c": [1, "\\"]}, "a": {"b]": "x"}} 1`), []byte(""))
	f.Fuzz(func(t *testing.T, source, earlier []byte) {
		r := lint.CheckAgainst(source, earlier, catalog.Options{})
		checkReport(t, source, r)
		_, err := catalog.Parse(source, catalog.Options{})
		assert.Assert(t, err == nil || r.HasSeverity(answer.SeverityError), err)
	})
}

func encoded(t *rapid.T, v any) []byte {
	source, err := json.Marshal(v)
	assert.NilError(t, err)
	return source
}
