package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/web"
	"github.com/gybob/aai-gateway/internal/schema"
)

// anySchema draws the schema of a parameter.
func anySchema(t *rapid.T) map[string]any {
	s := rapid.SampledFrom([]map[string]any{
		{"type": "string"}, {"type": "string", "minLength": 2, "maxLength": 5}, {"type": "string", "pattern": "^a+$"}, {"type": "string", "format": "date"},
		{"type": "integer", "minimum": -2, "maximum": 5}, {"type": "number", "multipleOf": 0.5}, {"type": []string{"number", "null"}}, {"type": "boolean"},
		{"enum": []any{"a", 1, nil, true, "1"}}, {"const": 7}, {"type": "array", "items": map[string]any{"type": "string", "minLength": 1}, "minItems": 2},
		{"type": "array", "items": map[string]any{"type": "integer"}}, {"type": "object", "properties": map[string]any{"x": map[string]any{"type": "boolean"}}, "required": []string{"x"}},
		{}, {"anyOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "integer"}}},
	}).Draw(t, "schema")
	return s
}

// drawnSchema draws the schema of an object with parameters.
func drawnSchema(t *rapid.T) []byte {
	properties, required := make(map[string]any), []string{}
	names := rapid.SliceOfNDistinct(rapid.OneOf(rapid.SampledFrom([]string{"a", "csrf", "p0", "of", "json", `x"y`, "a.b", "a; b: c", ""}), rapid.String()), 0, 6, rapid.ID[string]).Draw(t, "names")
	for _, name := range names {
		properties[strings.ToValidUTF8(name, "")] = anySchema(t)
		if rapid.Bool().Draw(t, "required") {
			required = append(required, strings.ToValidUTF8(name, ""))
		}
	}
	source := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		source["required"] = required
	}
	return []byte(formJSON(t, source))
}

// TestAnyTypedValue checks that any input results in arguments that pass the tool's check, or in a
// fault with its place, and that those arguments survive a form unchanged.
func TestAnyTypedValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := drawnSchema(t)
		check, err := schema.Parse(source)
		if err != nil {
			t.Skip(err)
		}
		f := web.NewToolForm(source)
		sent := url.Values{web.DigestField: {f.Digest}}
		for _, field := range f.Fields {
			sent.Set(field.Control, rapid.OneOf(rapid.SampledFrom([]string{
				"", "a", "aa", "2026-01-01", "1", "0.5", "-7", "true", "false", "0", "4", "a\r\nb", "[1, 2]", `{"x": true}`, "null", `"a"`, " ", "\n",
			}), rapid.String()).Draw(t, "typed"))
		}
		args, ok := f.Read(sent)
		if !ok {
			assert.Assert(t, is.Contains(formFaults(f), "fault"), "%v of %s is refused, and nothing says why", sent, source)
			return
		}
		if _, err := check.Check(args); err != nil {
			f.AssignFaults(aai.AsError(err).Message)
			assert.Assert(t, is.Contains(formFaults(f), "fault"), "%v of %s: %v stands nowhere", sent, source, err)
			return
		}
		again := web.NewToolForm(source)
		again.Fill(args)
		back, ok := web.NewToolForm(source).Read(unchangedSubmission(again))
		if !ok || formJSON(t, back) != formJSON(t, args) {
			t.Fatalf("%s came back as %s, %v, of %s", formJSON(t, args), formJSON(t, back), ok, source)
		}
	})
}

func formFaults(f *web.ToolForm) string {
	var b bytes.Buffer
	for _, field := range f.Fields {
		if field.Fault.Is() {
			fmt.Fprintf(&b, "fault at %s\n", field.Name)
		}
	}
	if f.JSONFault.Is() || len(f.Faults) > 0 {
		b.WriteString("fault at all\n")
	}
	return b.String()
}

// TestEveryArgument checks that a form returns the arguments that it was filled with.
func TestEveryArgument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := drawnSchema(t)
		if _, err := schema.Parse(source); err != nil {
			t.Skip(err)
		}
		f := web.NewToolForm(source)
		args := make(map[string]any)
		for _, field := range f.Fields {
			if field.Secret || rapid.Bool().Draw(t, "left out") {
				continue
			}
			var value any
			text := rapid.SampledFrom([]string{`"a"`, `"a\r\nb"`, `"\u202e"`, `""`, `1`, `-0.50`, `1e2`, `true`, `null`, `[]`, `["a"]`, `["", ""]`, `["a\nb"]`, `[1]`, `{}`, `{"x": "\u200b"}`}).Draw(t, "value")
			d := json.NewDecoder(strings.NewReader(text))
			d.UseNumber()
			assert.NilError(t, d.Decode(&value))
			args[controlParameter(t, source, field.Control)] = value
		}
		f.Fill(args)
		for _, sent := range unchangedSubmission(f) {
			assert.Assert(t, !strings.ContainsAny(sent[0], "\u202e\u200b"), "not all shows of %q", sent[0])
		}
		back, ok := web.NewToolForm(source).Read(unchangedSubmission(f))
		if len(args) == 0 && f.JSON == "" {
			return
		}
		if !ok || formJSON(t, back) != formJSON(t, args) {
			t.Fatalf("%s came back as %s, %v, of %s by %+v", formJSON(t, args), formJSON(t, back), ok, source, f)
		}
	})
}

// controlParameter returns the parameter of a control.
func controlParameter(t *rapid.T, source []byte, control string) string {
	check, err := schema.Parse(source)
	assert.NilError(t, err)
	var i int
	_, err = fmt.Sscanf(control, "p%d", &i)
	assert.NilError(t, err)
	return check.Order[i]
}
