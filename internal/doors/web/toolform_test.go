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

const allKindsSchema = `{"type": "object", "required": ["to", "loud", "count"], "definitions": {"day": {"type": "string", "format": "date", "description": "A day"}},
	"properties": {
	"to": {"type": "string", "description": "Who <b>gets</b> it\u202e", "maxLength": 40},
	"text": {"type": "string"},
	"count": {"type": "integer", "minimum": 1, "maximum": 10, "default": 2},
	"loud": {"type": "boolean"},
	"colour": {"enum": ["red", "green", 3, null, "3"], "default": "red"},
	"tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
	"sizes": {"type": "array", "items": {"type": "number"}},
	"when": {"$ref": "#/definitions/day"},
	"options": {"type": "object", "properties": {"depth": {"type": "integer"}}},
	"maybe": {"type": ["integer", "null"]},
	"password": {"type": "string", "default": "hunter2"}}}`

func TestNewToolForm(t *testing.T) {
	f := web.NewToolForm(json.RawMessage(allKindsSchema))
	var got []string
	for _, field := range f.Fields {
		got = append(got, fmt.Sprintf("%s %s %s %q %v %v %q %s", field.Control, field.Name, field.Kind, field.Type, field.Required, field.Secret, field.Standard, field.About))
	}
	want := []string{
		`p0 to line "string" true false "" Who <b>gets</b> it`,
		`p1 text text "string" false false "" `,
		`p2 count number "integer" true false "2" `,
		`p3 loud bool "boolean" true false "" `,
		`p4 colour choice "" false false "red" `,
		`p5 tags lines "list of string" false false "" `,
		`p6 sizes  "list of number" false false "" `,
		`p7 when line "string" false false "" A day`,
		`p8 options  "object" false false "" `,
		`p9 maybe number "integer or null" false false "" `,
		`p10 password line "string" false true "" `,
	}
	assert.Check(t, is.DeepEqual(want, got))
	var shown []string
	for _, o := range f.Fields[4].Options {
		shown = append(shown, o.Value+"="+o.Shown)
	}
	assert.Check(t, is.DeepEqual([]string{"0=red", "1=green", "2=3", "3=null", `4="3"`}, shown))
	assert.Check(t, is.DeepEqual([]web.FieldLimit{{Key: "minimum", Value: "1"}, {Key: "maximum", Value: "10"}}, f.Fields[2].Limits))
}

// submit returns a browser's form data for these texts.
func submit(f *web.ToolForm, texts map[string]string) url.Values {
	sent := url.Values{web.DigestField: {f.Digest}}
	for name, text := range texts {
		if name == web.JSONField {
			sent.Set(name, text)
		}
		for _, field := range f.Fields {
			if field.Name == name {
				sent.Set(field.Control, text)
			}
		}
	}
	return sent
}

func formJSON(t interface{ Fatal(...any) }, value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReadToolForm(t *testing.T) {
	for _, c := range []struct {
		name   string
		texts  map[string]string
		want   string
		faults string
	}{
		{"all kinds", map[string]string{
			"to": "a \"b\"", "text": "one\r\ntwo", "count": " 3 ", "loud": "false", "colour": "2", "tags": "x\r\n\r\ny\r\n",
			"sizes": "[1.50, 2]", "when": "2026-01-01", "options": `{"depth": 12345678901234567890}`, "password": "p",
		}, `{"colour":3,"count":3,"loud":false,"options":{"depth":12345678901234567890},"password":"p","sizes":[1.50,2],"tags":["x","","y"],"text":"one\ntwo","to":"a \"b\"","when":"2026-01-01"}`, ""},
		{"only what is needed", map[string]string{"to": "a", "count": "1", "loud": "true", "text": "", "sizes": " "}, `{"count":1,"loud":true,"to":"a"}`, ""},
		{"missing", map[string]string{"to": "a"}, "", "count:missing loud:missing"},
		{"wrong", map[string]string{"to": "a", "count": "01", "loud": "yes", "colour": "9", "sizes": "[1", "options": "{} {}"}, "",
			"count:number loud:choice colour:choice sizes:json options:json"},
		{"no number", map[string]string{"to": "a", "loud": "true", "count": `"5"`}, "", "count:number"},
		{"in the place of the fields", map[string]string{web.JSONField: ` {"to": "", "new": null} `, "count": "x"}, `{"new":null,"to":""}`, ""},
		{"no object", map[string]string{web.JSONField: `[1]`}, "", "JSON:object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := web.NewToolForm(json.RawMessage(allKindsSchema))
			args, ok := f.Read(submit(f, c.texts))
			var faults []string
			for _, field := range f.Fields {
				if field.Fault.Is() {
					faults = append(faults, field.Name+":"+field.Fault.Code)
				}
				assert.Check(t, !field.Secret || field.Value == "", "%s is given back: %q", field.Name, field.Value)
			}
			if f.JSONFault.Is() {
				faults = append(faults, "JSON:"+f.JSONFault.Code)
			}
			got := strings.Join(faults, " ")
			assert.Check(t, is.Equal(got, c.faults))
			assert.Check(t, is.Equal(ok, (c.faults == "")))
			got = formJSON(t, args)
			assert.Check(t, !ok || got == c.want, "%s %s", got, c.want)
		})
	}
}

// TestReadNeedsTheSameSchema checks that input for one schema is not read by another, and that the
// digest is required.
func TestReadNeedsTheSameSchema(t *testing.T) {
	shown := web.NewToolForm(json.RawMessage(`{"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}`))
	sent := submit(shown, map[string]string{"a": "to keep", "b": "to delete"})
	now := web.NewToolForm(json.RawMessage(`{"properties": {"b": {"type": "string"}, "a": {"type": "string"}}}`))
	for _, values := range []url.Values{sent, {"p0": {"x"}}, {web.DigestField: {now.Digest, shown.Digest}}, {web.DigestField: {""}}} {
		args, ok := now.Read(values)
		assert.Assert(t, !ok, "%v %v %v", values, args, ok)
		assert.Assert(t, args == nil, "%v %v %v", values, args, ok)
		assert.Assert(t, is.Len(now.Faults, 1), "%v %v %v", values, args, ok)
		assert.Equal(t, now.Faults[0].Code, web.FaultOutdated, "%v %v %v", values, args, ok)
	}
}

func TestFieldSentTwice(t *testing.T) {
	f := web.NewToolForm(json.RawMessage(allKindsSchema))
	sent := submit(f, map[string]string{"to": "a", "count": "1", "loud": "true"})
	sent.Add("p0", "b")
	if args, ok := f.Read(sent); ok || f.Fields[0].Fault.Code != web.FaultRepeated {
		t.Errorf("%v %v %+v", args, ok, f.Fields[0])
	}
}

// TestHostileToolForm checks that hostile schemas result in no form, or in a limited one without invisible text.
func TestHostileToolForm(t *testing.T) {
	var many []string
	for i := range 900 {
		many = append(many, fmt.Sprintf(`"p%d": {"type": "string"}`, i))
	}
	wide := web.NewToolForm(json.RawMessage(`{"properties": {` + strings.Join(many, ",") + `}, "required": ["p899"]}`))
	if len(wide.Fields) != 100 || wide.Omitted != 800 || wide.Fields[99].Name != "p899" {
		t.Errorf("%d fields, %d omitted, the last %q", len(wide.Fields), wide.Omitted, wide.Fields[len(wide.Fields)-1].Name)
	}
	for i := range 10_000 {
		many = append(many, fmt.Sprintf(`"q%d": {"type": "string"}`, i))
	}
	for _, source := range []string{
		`{"properties": {` + strings.Join(many, ",") + `}}`, // above the limit
		`{"$ref": "#"}`,
		`{"properties": {"a": {"$ref": "#/properties/b"}, "b": {"$ref": "#/properties/a"}}}`,
		`{"properties": {"a": {"properties": {"a": {"$ref": "#"}}}}}`,
		`{"properties": [1]}`, `[`, `"x"`, ``, `null`, `{"properties": {"a": 5}}`,
		strings.Repeat(`{"properties": {"a": `, 500) + `{}` + strings.Repeat(`}}`, 500),
	} {
		if f := web.NewToolForm(json.RawMessage(source)); len(f.Fields) > 0 {
			t.Errorf("%.60s: %d fields", source, len(f.Fields))
		} else if args, ok := f.Read(url.Values{web.DigestField: {f.Digest}, web.JSONField: {`{"a": 1}`}}); !ok || formJSON(t, args) != `{"a":1}` {
			t.Errorf("%.60s: %v, %v", source, args, ok)
		}
	}
	strange := web.NewToolForm(json.RawMessage(`{"properties": {
		"csrf": {"type": "string"}, "of": {"type": "string"}, "json": {"type": "string"}, "\"><script>": {"type": "string"},
		"to\u202egpj": {"type": "string", "description": "a\u200bb"}, "": {"type": "string"},
		"e": {"enum": ["a\u200b", "a"]}}}`))
	var names []string
	for i, field := range strange.Fields {
		assert.Check(t, is.Equal(field.Control, fmt.Sprintf("p%d", i)), "%s is sent as %q", field.Name, field.Control)
		names = append(names, field.Name)
	}
	want := []string{"csrf", "of", "json", `"><script>`, `"to\u202egpj"`, `""`, "e"}
	assert.Check(t, is.DeepEqual(want, names))
	got := strange.Fields[6].Options
	assert.Check(t, is.Equal(got[0].Shown, `"a\u200b"`), "%+v", got)
	assert.Check(t, is.Equal(got[1].Shown, "a"), "%+v", got)
	assert.Check(t, is.Equal(strange.Fields[4].About, "ab"), "%+v", got)
}

// TestFillAndReadRoundTrip checks that filled arguments are read unchanged, and are visible.
func TestFillAndReadRoundTrip(t *testing.T) {
	f := web.NewToolForm(json.RawMessage(allKindsSchema))
	for args, inJSON := range map[string]bool{
		`{"to":"a","count":1,"loud":true,"tags":["x",""],"colour":null}`: false,
		`{"to":"a","count":1,"loud":true,"tags":[""]}`:                   false,
		`{"to":"a","count":1,"loud":true,"tags":[]}`:                     true,
		`{"to":"a","count":1,"loud":true,"tags":["x\ny"]}`:               true,
		`{"to":"","count":1,"loud":true}`:                                true,
		`{"to":"a\u202eb","count":1,"loud":true}`:                        true,
		`{"to":"a\nb","count":1,"loud":true}`:                            true,
		`{"to":"a","count":1,"loud":true,"maybe":null}`:                  true,
		`{"to":"a","count":1,"loud":true,"other":1}`:                     true,
		`{"to":"a","count":"1","loud":true}`:                             true,
		`{"to":"a"}`:                                                     true,
	} {
		var value map[string]any
		d := json.NewDecoder(strings.NewReader(args))
		d.UseNumber()
		assert.NilError(t, d.Decode(&value))
		f.Fill(value)
		assert.Check(t, is.Equal((f.JSON != ""), inJSON), "%s %q", args, f.JSON)
		assert.Check(t, !strings.ContainsRune(f.JSON, '\u202e'), "%s: in the place of the fields stands %q", args, f.JSON)
		again := web.NewToolForm(json.RawMessage(allKindsSchema))
		if back, ok := again.Read(unchangedSubmission(f)); !ok || formJSON(t, back) != formJSON(t, value) {
			t.Errorf("%s came back as %s, %v", args, formJSON(t, back), ok)
		}
	}
	f.Fill(map[string]any{"to": "a", "count": 1, "loud": true, "password": "hunter3", "text": "\u200b"})
	assert.Assert(t, !strings.Contains(fmt.Sprintf("%+v", f), "hunter3"), "the form shows a secret: %+v", f)
	assert.Assert(t, f.JSON != "", "the form shows a secret: %+v", f)
}

// unchangedSubmission returns the form data of an unchanged form.
func unchangedSubmission(f *web.ToolForm) url.Values {
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	sent := url.Values{web.DigestField: {f.Digest}, web.JSONField: {crlf(f.JSON)}}
	for _, field := range f.Fields {
		sent.Set(field.Control, crlf(field.Value))
	}
	return sent
}

func TestAssignFaults(t *testing.T) {
	f := web.NewToolForm(json.RawMessage(allKindsSchema))
	args, ok := f.Read(submit(f, map[string]string{"to": "a", "count": "99", "loud": "true", "options": `{"depth": "x"}`, "when": "never"}))
	assert.Assert(t, ok, args)
	check, err := schema.Parse([]byte(allKindsSchema))
	assert.NilError(t, err)
	_, err = check.Check(args)
	f.AssignFaults(aai.AsError(err).Message)
	for i, want := range map[int]string{
		2: "count: expected an integer from 1 to 10, got 99", 7: `when: expected a date such as 2006-01-31, got "never"`,
		8: `options.depth: expected an integer, got "x"`, 0: "",
	} {
		assert.Check(t, is.Equal(f.Fields[i].Fault.Says, want), f.Fields[i].Name)
	}
	f.AssignFaults("the arguments have more than 5 KiB; at most")
	assert.Assert(t, is.Len(f.Faults, 1))
	assert.Equal(t, f.Faults[0].Says, "the arguments have more than 5 KiB; at most")
}

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
