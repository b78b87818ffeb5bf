package web

import (
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// Read converts a browser's form data to arguments. If ok is false, the form holds the faults. It
// keeps the input either way, except for secrets. Parameters with empty input are not in args.
func (f *ToolForm) Read(sent url.Values) (args map[string]any, ok bool) {
	f.reset()
	if got := sent[DigestField]; len(got) != 1 || got[0] != f.Digest {
		f.Faults = append(f.Faults, FieldFault{Code: FaultOutdated})
		return nil, false
	}
	if f.JSON = normalizeLineBreaks(sent.Get(JSONField)); strings.TrimSpace(f.JSON) != "" {
		args, f.JSONFault = parseObject(f.JSON)
		return args, !f.JSONFault.Is()
	}
	args, ok = make(map[string]any), true
	for i := range f.Fields {
		field := &f.Fields[i]
		value, given := field.read(sent[field.Control])
		if given {
			args[field.name] = value
		}
		ok = ok && !field.Fault.Is()
	}
	return args, ok
}

// reset clears the state of an earlier Read.
func (f *ToolForm) reset() {
	f.JSON, f.JSONFault, f.Faults = "", FieldFault{}, nil
	for i := range f.Fields {
		f.Fields[i].Value, f.Fields[i].Fault = "", FieldFault{}
	}
}

// read returns the value of the field's form data.
func (f *FormField) read(sent []string) (value any, given bool) {
	if len(sent) > 1 {
		f.Fault = FieldFault{Code: FaultRepeated}
		return nil, false
	}
	raw := ""
	if len(sent) == 1 {
		raw = normalizeLineBreaks(sent[0])
	}
	if !f.Secret {
		f.Value = raw
	}
	if f.isBlank(raw) {
		if f.Required {
			f.Fault = FieldFault{Code: FaultMissing}
		}
		return nil, false
	}
	value, code := f.parse(raw)
	if code != "" {
		f.Fault = FieldFault{Code: code}
		return nil, false
	}
	return value, true
}

// isBlank reports whether the input is empty: white space counts only in texts.
func (f *FormField) isBlank(typed string) bool {
	switch f.Kind {
	case KindLine, KindText, KindLines:
		return typed == ""
	}
	return strings.TrimSpace(typed) == ""
}

// parse returns the value of the input, or the code of its fault.
func (f *FormField) parse(raw string) (value any, code string) {
	switch f.Kind {
	case KindLine, KindText:
		return raw, ""
	case KindLines:
		return splitLines(raw), ""
	case KindNumber:
		raw = strings.TrimSpace(raw)
		if c := raw[0]; c != '-' && (c < '0' || c > '9') || !json.Valid([]byte(raw)) {
			return nil, FaultNotNumber
		}
		return json.Number(raw), ""
	case KindBool:
		if raw != "true" && raw != "false" {
			return nil, FaultNotOption
		}
		return raw == "true", ""
	case KindChoice:
		for _, o := range f.Options {
			if o.Value == raw {
				value, err := decodeValue(string(o.json))
				if err != nil {
					return nil, FaultNotOption
				}
				return value, ""
			}
		}
		return nil, FaultNotOption
	case KindJSON:
	}
	value, err := decodeValue(raw)
	if err != nil {
		return nil, FaultNotJSON
	}
	return value, ""
}

// splitLines returns the items of a list with one item per line: a line break at the end
// adds no item.
func splitLines(raw string) []any {
	var items []any
	for line := range strings.SplitSeq(strings.TrimSuffix(raw, "\n"), "\n") {
		items = append(items, line)
	}
	return items
}

// normalizeLineBreaks replaces the line breaks of form data by "\n".
func normalizeLineBreaks(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func parseObject(text string) (map[string]any, FieldFault) {
	value, err := decodeValue(text)
	if err != nil {
		return nil, FieldFault{Code: FaultNotJSON}
	}
	args, ok := value.(map[string]any)
	if !ok {
		return nil, FieldFault{Code: FaultNotObject}
	}
	return args, FieldFault{}
}

// decodeValue parses one JSON value; numbers keep their digits.
func decodeValue(text string) (value any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one value")
	}
	return value, nil
}

// AssignFaults splits a validation message at "; " and assigns each part to the field that it names.
// A part without a field name continues the part before it, or else starts one in f.Faults. If
// f.JSON is set, the whole message becomes f.JSONFault.
func (f *ToolForm) AssignFaults(message string) {
	if f.JSON != "" {
		f.JSONFault = FieldFault{Says: message}
		return
	}
	var at *FieldFault
	for part := range strings.SplitSeq(message, "; ") {
		if field := f.fieldNamedIn(part); field != nil {
			at = &field.Fault
		} else if at == nil {
			f.Faults = append(f.Faults, FieldFault{})
			at = &f.Faults[len(f.Faults)-1]
		}
		if at.Says != "" {
			part = at.Says + "; " + part
		}
		*at = FieldFault{Says: part}
	}
}

// fieldNamedIn returns the field with the path at the start of a message.
func (f *ToolForm) fieldNamedIn(message string) *FormField {
	for i := range f.Fields {
		rest, is := strings.CutPrefix(message, jsontree.JoinPath("", f.Fields[i].name, -1))
		if is && (strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "[")) {
			return &f.Fields[i]
		}
	}
	return nil
}
