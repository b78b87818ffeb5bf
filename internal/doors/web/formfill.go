package web

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Fill fills arguments into the form, such as those of an earlier call, without secrets. If the
// fields cannot express the arguments exactly, or would not show all of them, Fill sets f.JSON.
func (f *ToolForm) Fill(args map[string]any) {
	f.reset()
	known := 0
	rest := maps.Clone(args)
	exact := true
	for i := range f.Fields {
		field := &f.Fields[i]
		value, given := args[field.name]
		switch {
		case !given:
			exact = exact && !field.Required
			continue
		case field.Secret:
			delete(rest, field.name)
			known++
			continue
		}
		known++
		text, can := field.text(value)
		exact = exact && can
		field.Value = text
	}
	if exact && known == len(args) {
		return
	}
	f.reset()
	f.JSON = escapedValue(rest)
}

// text returns the input of the field for a value, if there is one.
func (f *FormField) text(value any) (string, bool) {
	if f.Kind == KindChoice {
		for _, o := range f.Options {
			if v, err := decodeValue(string(o.json)); err == nil && escapedValue(v) == escapedValue(value) {
				return o.Value, true
			}
		}
		return "", false
	}
	if f.Kind == KindJSON {
		return escapedValue(value), true
	}
	text := ""
	switch v := value.(type) {
	case string:
		text = v
	case []any:
		for i, item := range v {
			s, is := item.(string)
			if !is || strings.Contains(s, "\n") {
				return "", false
			}
			if i > 0 {
				text += "\n"
			}
			text += s
		}
		if strings.HasSuffix(text, "\n") || text == "" {
			text += "\n"
		}
	case bool, json.Number, float64, int, int64:
		text = escapedValue(v)
	default:
		return "", false
	}
	if f.isBlank(text) || strings.Contains(text, "\r") || f.Kind == KindLine && strings.Contains(text, "\n") || aai.CleanText(text, len(text)+1) != text {
		return "", false
	}
	back, code := f.parse(text)
	return text, code == "" && escapedValue(back) == escapedValue(value)
}

// escapedValue returns a value as JSON with invisible characters escaped.
func escapedValue(value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(value) != nil {
		return ""
	}
	return sanitize.EscapeInvisible(strings.TrimSuffix(b.String(), "\n"))
}
