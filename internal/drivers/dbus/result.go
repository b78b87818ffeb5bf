package dbus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
)

// Values of a recipe's OutputParser; empty means unparsed.
const (
	parseString = "string"
	parseJSON   = "json"
)

// noValueText is the text for a reply without a value. It claims no more than the reply does.
const noValueText = "The app answered without a value."

func checkParser(name string) error {
	switch name {
	case "", parseString, parseJSON:
		return nil
	}
	return invalid("output_parser", `"json", "string" or none`, name)
}

// combineValues combines the values of a reply into one.
func combineValues(values []any, names []string) any {
	switch {
	case len(values) == 0:
		return nil
	case len(values) == 1:
		return values[0]
	case len(names) != len(values):
		return values
	}
	object := make(map[string]any, len(values))
	for i, name := range names {
		object[name] = values[i]
	}
	return object
}

// result converts the app's reply into the tool's result. The app has acted, so a reply that
// contradicts the descriptor remains unparsed: a reply that should be JSON in a string but is no
// string is already data.
func (t *target) result(data any, parser string) (*aai.Result, error) {
	if text, ok := data.(string); ok && parser == parseJSON {
		return parsed(text), nil
	}
	text, err := textOf(data)
	if err != nil {
		return nil, t.unreadable(err)
	}
	if data == nil && parser != parseString {
		text = noValueText
	}
	return &aai.Result{Text: text, Data: data}, nil
}

// textOf returns a string unchanged, and every other value as compact JSON.
func textOf(data any) (string, error) {
	switch data := data.(type) {
	case nil:
		return "", nil
	case string:
		return data, nil
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(data)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// parsed decodes JSON in a string and keeps the spelling of numbers. A text that is not JSON
// becomes text with a warning.
func parsed(text string) *aai.Result {
	var result aai.Result
	var raw json.RawMessage
	err := json.Unmarshal([]byte(text), &raw)
	if err == nil {
		var compact bytes.Buffer
		_ = json.Compact(&compact, raw) // valid JSON
		result.Text = compact.String()
		d := json.NewDecoder(&compact)
		d.UseNumber()
		err = d.Decode(&result.Data)
	}
	if err == nil {
		return &result
	}
	at := int64(len(text))
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = syntax.Offset
	}
	return &aai.Result{
		Text:    text,
		Warning: fmt.Sprintf("the app's answer should be JSON and is not, at byte %d: %v; it is given as text", at, err),
	}
}
