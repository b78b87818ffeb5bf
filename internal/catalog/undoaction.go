package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
)

// withUndo wraps an Action: its result includes how to undo it.
func withUndo(run aai.Action, b *UndoTemplate, app *aai.App) aai.Action {
	return func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		result, err := run(ctx, call)
		if err != nil || result == nil {
			return result, err
		}
		with := *result
		with.Undo = b.undoFor(app, call, result)
		return &with, nil
	}
}

// undoFor returns how to undo an action, or nil if a value of the template is missing.
func (b *UndoTemplate) undoFor(app *aai.App, call *aai.Call, result *aai.Result) *aai.Undo {
	answer := result.Data
	if answer == nil {
		answer = result.Text
	}
	f := templateFiller{args: call.Args, result: answer}
	u := &aai.Undo{Step: aai.Step{App: app.ID, Tool: b.Tool, Args: f.object(b.Args)}}
	u.Description = b.Tool + " undoes " + call.Tool
	if b.Description != "" {
		if words, ok := f.text(b.Description).(string); ok {
			u.Description = aai.CleanLabel(words, maxText)
		}
	}
	if b.Check != nil {
		u.StateStep = &aai.Step{App: app.ID, Tool: b.Check.Tool, Args: f.object(b.Check.Args)}
		u.ExpectedState = f.raw(b.Check.Expected)
		u.ExpectedShape, _ = decodeNumbers(b.Check.Expected) // listed members of an object; an argument is a whole value
	}
	if f.missing {
		return nil
	}
	return u
}

// A templateFiller replaces the placeholders in templates by values. Values are data:
// placeholders in them are not replaced.
type templateFiller struct {
	args    map[string]any
	result  any
	isJSON  bool // result is in the types of decoded JSON
	missing bool // a required value is absent
}

// missingArg is the value of an absent argument. A member that consists of nothing else is
// omitted.
type missingArg struct{}

func (f *templateFiller) object(raw json.RawMessage) map[string]any {
	if raw == nil {
		return nil
	}
	object, _ := f.raw(raw).(map[string]any)
	return object
}

func (f *templateFiller) raw(raw json.RawMessage) any {
	template, err := decodeNumbers(raw)
	f.missing = f.missing || err != nil
	value := f.fill(template)
	if value == (missingArg{}) {
		f.missing = true
		return nil
	}
	return value
}

// fill returns a template with the values in place.
func (f *templateFiller) fill(template any) any {
	switch template := template.(type) {
	case string:
		return f.text(template)
	case []any:
		list := make([]any, len(template))
		for i, item := range template {
			if list[i] = f.fill(item); list[i] == (missingArg{}) {
				f.missing = true
			}
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(template))
		for name, item := range template {
			if value := f.fill(item); value != (missingArg{}) {
				object[name] = value
			}
		}
		return object
	}
	return template
}

// text returns a text with the values in place, or a single value if the text is one placeholder.
func (f *templateFiller) text(template string) any {
	var words strings.Builder
	for rest := template; ; {
		before, after, found := strings.Cut(rest, placeholderOpen)
		words.WriteString(before)
		if !found {
			return words.String()
		}
		name, tail, _ := strings.Cut(after, "}")
		value := f.value(name)
		if before == "" && tail == "" && words.Len() == 0 {
			return value
		}
		f.write(&words, value)
		rest = tail
	}
}

// write writes a value within a longer text.
func (f *templateFiller) write(words *strings.Builder, value any) {
	switch value := value.(type) {
	case string:
		words.WriteString(value)
	case nil, missingArg, []any, map[string]any:
		f.missing = true
	default:
		b, err := json.Marshal(value)
		f.missing = f.missing || err != nil
		words.Write(b)
	}
}

// value returns the argument, or the part of the result, that a placeholder names.
func (f *templateFiller) value(name string) any {
	path := strings.Split(name, ".")
	if path[0] == "args" && len(path) > 1 {
		value, given := f.args[path[1]]
		if !given {
			return missingArg{}
		}
		return f.within(value, path[2:])
	}
	if !f.isJSON {
		b, err := json.Marshal(f.result)
		if err == nil {
			f.result, err = decodeNumbers(b)
		}
		f.isJSON, f.missing = true, f.missing || err != nil
	}
	return f.within(f.result, path[1:])
}

// within returns a part of a value. An absent part sets missing.
func (f *templateFiller) within(value any, path []string) any {
	for _, name := range path {
		switch of := value.(type) {
		case map[string]any:
			inner, ok := of[name]
			f.missing = f.missing || !ok
			value = inner
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(of) {
				f.missing = true
				return nil
			}
			value = of[i]
		default:
			f.missing = true
			return nil
		}
	}
	return value
}

// decodeNumbers decodes JSON and keeps numbers as json.Number.
func decodeNumbers(raw []byte) (v any, err error) {
	if raw == nil {
		return nil, errors.New("it is missing")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}
