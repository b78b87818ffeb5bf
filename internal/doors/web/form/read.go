package form

import (
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strings"

	"aai/internal/jsontree"
)

// Read makes the arguments of what a browser sent, and says whether they may be tried: if
// not, the faults stand at the fields. What was typed stands in the fields either way, but
// for secrets. It takes what is empty for not given.
func (f *Form) Read(sent url.Values) (args map[string]any, ok bool) {
	f.clear()
	if got := sent[Of]; len(got) != 1 || got[0] != f.Digest {
		f.Faults = append(f.Faults, Fault{Code: Outdated})
		return nil, false
	}
	if f.JSON = lineBreaks(sent.Get(Whole)); strings.TrimSpace(f.JSON) != "" {
		args, f.JSONFault = object(f.JSON)
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

// clear takes out what an earlier reading left.
func (f *Form) clear() {
	f.JSON, f.JSONFault, f.Faults = "", Fault{}, nil
	for i := range f.Fields {
		f.Fields[i].Value, f.Fields[i].Fault = "", Fault{}
	}
}

// read is the value of what was sent for the field.
func (f *Field) read(sent []string) (value any, given bool) {
	if len(sent) > 1 {
		f.Fault = Fault{Code: TooMany}
		return nil, false
	}
	raw := ""
	if len(sent) == 1 {
		raw = lineBreaks(sent[0])
	}
	if !f.Secret {
		f.Value = raw
	}
	if f.empty(raw) {
		if f.Required {
			f.Fault = Fault{Code: Missing}
		}
		return nil, false
	}
	value, code := f.value(raw)
	if code != "" {
		f.Fault = Fault{Code: code}
		return nil, false
	}
	return value, true
}

// empty reports whether what was typed is nothing: white space is something in a text alone.
func (f *Field) empty(typed string) bool {
	switch f.Kind {
	case Line, Text, Lines:
		return typed == ""
	}
	return strings.TrimSpace(typed) == ""
}

// value is what a text stands for, or the code of what is wrong with it.
func (f *Field) value(raw string) (value any, code string) {
	switch f.Kind {
	case Line, Text:
		return raw, ""
	case Lines:
		return lines(raw), ""
	case Number:
		raw = strings.TrimSpace(raw)
		if c := raw[0]; c != '-' && (c < '0' || c > '9') || !json.Valid([]byte(raw)) {
			return nil, NoNumber
		}
		return json.Number(raw), ""
	case Bool:
		if raw != "true" && raw != "false" {
			return nil, NoOption
		}
		return raw == "true", ""
	case Choice:
		for _, o := range f.Options {
			if o.Value == raw {
				value, err := decode(string(o.json))
				if err != nil {
					return nil, NoOption
				}
				return value, ""
			}
		}
		return nil, NoOption
	case JSON:
	}
	value, err := decode(raw)
	if err != nil {
		return nil, NoJSON
	}
	return value, ""
}

// lines are the items of a list that was typed one a line: a line break at the end begins
// no other one.
func lines(raw string) []any {
	var items []any
	for line := range strings.SplitSeq(strings.TrimSuffix(raw, "\n"), "\n") {
		items = append(items, line)
	}
	return items
}

// lineBreaks are those that a browser sends as they were typed.
func lineBreaks(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func object(text string) (map[string]any, Fault) {
	value, err := decode(text)
	if err != nil {
		return nil, Fault{Code: NoJSON}
	}
	args, ok := value.(map[string]any)
	if !ok {
		return nil, Fault{Code: NoObject}
	}
	return args, Fault{}
}

// decode reads one JSON value; numbers keep their digits.
func decode(text string) (value any, err error) {
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

// Blame puts what a tool's check said of the arguments to the fields that it names, or to
// the text that stands in their place.
func (f *Form) Blame(message string) {
	if f.JSON != "" {
		f.JSONFault = Fault{Says: message}
		return
	}
	var at *Fault
	for part := range strings.SplitSeq(message, "; ") {
		if field := f.named(part); field != nil {
			at = &field.Fault
		} else if at == nil {
			f.Faults = append(f.Faults, Fault{})
			at = &f.Faults[len(f.Faults)-1]
		}
		if at.Says != "" {
			part = at.Says + "; " + part
		}
		*at = Fault{Says: part}
	}
}

// named is the field whose place a message begins with.
func (f *Form) named(message string) *Field {
	for i := range f.Fields {
		rest, is := strings.CutPrefix(message, jsontree.Step("", f.Fields[i].name, -1))
		if is && (strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "[")) {
			return &f.Fields[i]
		}
	}
	return nil
}
