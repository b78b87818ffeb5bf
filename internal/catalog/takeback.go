package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"aai"
)

// withBack is the Action which also says how what it did is taken back.
func withBack(run aai.Action, b *Back, app *aai.App) aai.Action {
	return func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		result, err := run(ctx, call)
		if err != nil || result == nil {
			return result, err
		}
		with := *result
		with.Undo = b.of(app, call, result)
		return &with, nil
	}
}

// of is how the act is taken back; nil where what it takes is not there.
func (b *Back) of(app *aai.App, call *aai.Call, result *aai.Result) *aai.Undo {
	answer := result.Data
	if answer == nil {
		answer = result.Text
	}
	f := filler{args: call.Args, result: answer}
	u := &aai.Undo{Step: aai.Step{App: app.ID, Tool: b.Tool, Args: f.object(b.Args)}}
	u.Says = b.Tool + " takes back " + call.Tool
	if b.Says != "" {
		if words, ok := f.text(b.Says).(string); ok {
			u.Says = aai.CleanLabel(words, maxText)
		}
	}
	if b.Look != nil {
		u.Look = &aai.Step{App: app.ID, Tool: b.Look.Tool, Args: f.object(b.Look.Args)}
		u.Left = f.raw(b.Look.Left)
		u.Form, _ = numbered(b.Look.Left) // its author lists members of an object; an argument is a whole value
	}
	if f.lacks {
		return nil
	}
	return u
}

// A filler puts the values of a call into templates. Values are data: what looks like a
// template in them is none.
type filler struct {
	args   map[string]any
	result any
	plain  bool // result is as JSON has it
	lacks  bool // something is not there that cannot be left out
}

// absent is what an argument is that was not given. A member that is nothing else is left
// out.
type absent struct{}

func (f *filler) object(raw json.RawMessage) map[string]any {
	if raw == nil {
		return nil
	}
	object, _ := f.raw(raw).(map[string]any)
	return object
}

func (f *filler) raw(raw json.RawMessage) any {
	template, err := numbered(raw)
	f.lacks = f.lacks || err != nil
	value := f.fill(template)
	if value == (absent{}) {
		f.lacks = true
		return nil
	}
	return value
}

// fill is a template with the values in their places.
func (f *filler) fill(template any) any {
	switch template := template.(type) {
	case string:
		return f.text(template)
	case []any:
		list := make([]any, len(template))
		for i, item := range template {
			if list[i] = f.fill(item); list[i] == (absent{}) {
				f.lacks = true
			}
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(template))
		for name, item := range template {
			if value := f.fill(item); value != (absent{}) {
				object[name] = value
			}
		}
		return object
	}
	return template
}

// text is a text with the values in their places, or the one value where it is nothing else.
func (f *filler) text(template string) any {
	var words strings.Builder
	for rest := template; ; {
		before, after, found := strings.Cut(rest, opening)
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
func (f *filler) write(words *strings.Builder, value any) {
	switch value := value.(type) {
	case string:
		words.WriteString(value)
	case nil, absent, []any, map[string]any:
		f.lacks = true
	default:
		b, err := json.Marshal(value)
		f.lacks = f.lacks || err != nil
		words.Write(b)
	}
}

// value is what a name stands for.
func (f *filler) value(name string) any {
	path := strings.Split(name, ".")
	if path[0] == "args" && len(path) > 1 {
		value, given := f.args[path[1]]
		if !given {
			return absent{}
		}
		return f.within(value, path[2:])
	}
	if !f.plain {
		b, err := json.Marshal(f.result)
		if err == nil {
			f.result, err = numbered(b)
		}
		f.plain, f.lacks = true, f.lacks || err != nil
	}
	return f.within(f.result, path[1:])
}

// within is a part of a value. One that is not there is lacking.
func (f *filler) within(value any, path []string) any {
	for _, name := range path {
		switch of := value.(type) {
		case map[string]any:
			inner, ok := of[name]
			f.lacks = f.lacks || !ok
			value = inner
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(of) {
				f.lacks = true
				return nil
			}
			value = of[i]
		default:
			f.lacks = true
			return nil
		}
	}
	return value
}

// numbered reads JSON whose numbers keep all their digits.
func numbered(raw []byte) (v any, err error) {
	if raw == nil {
		return nil, errors.New("there is nothing")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}
