package dbus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"aai"
)

// The values of a recipe's OutputParser; empty means as it is.
const (
	parseString = "string"
	parseJSON   = "json"
)

// nothing is the text for a reply without a value. It claims no more than the
// reply does.
const nothing = "The app answered without a value."

func checkParser(name string) error {
	switch name {
	case "", parseString, parseJSON:
		return nil
	}
	return invalid("output_parser", `"json", "string" or none`, name)
}

// shape makes one value of those of a reply.
func shape(values []any, names []string) any {
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

// result makes the tool's result of the app's answer.
func (t *target) result(data any, parser string) (*aai.Result, error) {
	if parser == parseJSON {
		text, ok := data.(string)
		if !ok {
			return nil, t.unreadable(fmt.Errorf("the descriptor promises one string that holds JSON, got %s", describe(data)))
		}
		return t.parsed(text)
	}
	text, err := textOf(data)
	if err != nil {
		return nil, t.unreadable(err)
	}
	if data == nil && parser != parseString {
		text = nothing
	}
	return &aai.Result{Text: text, Data: data}, nil
}

// textOf is a string as it is, and everything else as compact JSON.
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

// parsed reads a reply that is JSON in a string. Numbers stay as they are written.
func (t *target) parsed(text string) (*aai.Result, error) {
	var raw json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		at := int64(len(text))
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = syntax.Offset
		}
		return nil, t.unreadable(fmt.Errorf("it is not JSON, at byte %d: %w", at, err))
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, t.unreadable(err)
	}
	result := &aai.Result{Text: compact.String()}
	d := json.NewDecoder(&compact)
	d.UseNumber()
	if err := d.Decode(&result.Data); err != nil {
		return nil, t.unreadable(err)
	}
	return result, nil
}
