package form_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aai"
	"aai/internal/doors/web/form"
	"aai/internal/schema"
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

// drawn is a schema of an object, and the names of its parameters.
func drawn(t *rapid.T) []byte {
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
	return []byte(asJSON(t, source))
}

// TestEveryTyping: whatever is typed gives arguments that the tool's check takes, or a fault
// that says where; and those arguments put into a form come out of it again.
func TestEveryTyping(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := drawn(t)
		check, err := schema.Parse(source)
		if err != nil {
			t.Skip(err)
		}
		f := form.New(source)
		sent := url.Values{form.Of: {f.Digest}}
		for _, field := range f.Fields {
			sent.Set(field.Control, rapid.OneOf(rapid.SampledFrom([]string{
				"", "a", "aa", "2026-01-01", "1", "0.5", "-7", "true", "false", "0", "4", "a\r\nb", "[1, 2]", `{"x": true}`, "null", `"a"`, " ", "\n",
			}), rapid.String()).Draw(t, "typed"))
		}
		args, ok := f.Read(sent)
		if !ok {
			if !strings.Contains(faultsOf(f), "fault") {
				t.Fatalf("%v of %s is refused, and nothing says why", sent, source)
			}
			return
		}
		if _, err := check.Check(args); err != nil {
			f.Blame(aai.AsError(err).Message)
			if !strings.Contains(faultsOf(f), "fault") {
				t.Fatalf("%v of %s: %v stands nowhere", sent, source, err)
			}
			return
		}
		again := form.New(source)
		again.Fill(args)
		back, ok := form.New(source).Read(browser(again))
		if !ok || asJSON(t, back) != asJSON(t, args) {
			t.Fatalf("%s came back as %s, %v, of %s", asJSON(t, args), asJSON(t, back), ok, source)
		}
	})
}

func faultsOf(f *form.Form) string {
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

// TestEveryArgument: whatever arguments a form is filled with, it gives them back.
func TestEveryArgument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := drawn(t)
		if _, err := schema.Parse(source); err != nil {
			t.Skip(err)
		}
		f := form.New(source)
		args := make(map[string]any)
		for _, field := range f.Fields {
			if field.Secret || rapid.Bool().Draw(t, "left out") {
				continue
			}
			var value any
			text := rapid.SampledFrom([]string{`"a"`, `"a\r\nb"`, `"\u202e"`, `""`, `1`, `-0.50`, `1e2`, `true`, `null`, `[]`, `["a"]`, `["", ""]`, `["a\nb"]`, `[1]`, `{}`, `{"x": "\u200b"}`}).Draw(t, "value")
			d := json.NewDecoder(strings.NewReader(text))
			d.UseNumber()
			if err := d.Decode(&value); err != nil {
				t.Fatal(err)
			}
			args[nameOf(t, source, field.Control)] = value
		}
		f.Fill(args)
		for _, sent := range browser(f) {
			if strings.ContainsAny(sent[0], "\u202e\u200b") {
				t.Fatalf("not all shows of %q", sent[0])
			}
		}
		back, ok := form.New(source).Read(browser(f))
		if len(args) == 0 && f.JSON == "" {
			return
		}
		if !ok || asJSON(t, back) != asJSON(t, args) {
			t.Fatalf("%s came back as %s, %v, of %s by %+v", asJSON(t, args), asJSON(t, back), ok, source, f)
		}
	})
}

// nameOf is the parameter that a field sends.
func nameOf(t *rapid.T, source []byte, control string) string {
	check, err := schema.Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	var i int
	if _, err := fmt.Sscanf(control, "p%d", &i); err != nil {
		t.Fatal(err)
	}
	return check.Order[i]
}
