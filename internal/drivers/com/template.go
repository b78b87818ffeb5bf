package com

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
)

// A scope knows the names that a template may use: parameters, and variables of earlier steps.
type scope struct{ params, vars []string }

// isVar reports whether a name stands for a variable. Parameters hide variables.
func (s scope) isVar(name string) bool {
	return slices.Contains(s.vars, name) && !slices.Contains(s.params, name)
}

// template reads a value of a descriptor. A variable may only be the whole value, unless inText permits more.
func (s scope) template(field string, raw json.RawMessage, inText bool) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, invalid(field, "a JSON value", string(raw))
	}
	if name, alone := onlyName(value); alone && s.isVar(name) {
		return value, nil
	}
	var bad error
	eachName(value, func(name string, closed bool) {
		switch {
		case !closed || !slices.Contains(s.params, name) && !slices.Contains(s.vars, name):
			bad = invalid(field, `"${name}" with the name of a parameter or of an earlier step's variable`, "${"+name)
		case s.isVar(name) && !inText:
			bad = invalid(field, "the variable alone, as the whole value", "${"+name+"}")
		}
	})
	return value, bad
}

// onlyName returns the name if a value is one placeholder and nothing else.
func onlyName(value any) (string, bool) {
	text, _ := value.(string)
	name, found := strings.CutPrefix(text, "${")
	name, closed := strings.CutSuffix(name, "}")
	return name, found && closed && !strings.Contains(name, "}")
}

// eachName calls f for each placeholder in the strings of a value.
func eachName(value any, f func(name string, closed bool)) {
	switch value := value.(type) {
	case string:
		for rest := value; ; {
			_, after, found := strings.Cut(rest, "${")
			if !found {
				return
			}
			name, tail, closed := strings.Cut(after, "}")
			f(name, closed)
			rest = tail
		}
	case []any:
		for _, item := range value {
			eachName(item, f)
		}
	case map[string]any:
		for _, item := range value {
			eachName(item, f)
		}
	}
}

// resolve puts values into a template. A string that is only a placeholder becomes the value; a longer one contains it as text.
// Values are data: resolve does not expand placeholders in them.
func resolve(template any, values map[string]any) (any, error) {
	switch template := template.(type) {
	case string:
		return resolveText(template, values)
	case []any:
		list := make([]any, len(template))
		for i, item := range template {
			v, err := resolve(item, values)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	case map[string]any:
		object := make(map[string]any, len(template))
		for name, item := range template {
			v, err := resolve(item, values)
			if err != nil {
				return nil, err
			}
			object[name] = v
		}
		return object, nil
	}
	return template, nil
}

func resolveText(template string, values map[string]any) (any, error) {
	if name, alone := onlyName(template); alone {
		if value, given := values[name]; given {
			return value, nil
		}
	}
	var text strings.Builder
	for rest := template; ; {
		before, after, found := strings.Cut(rest, "${")
		text.WriteString(before)
		if !found {
			return text.String(), nil
		}
		name, tail, _ := strings.Cut(after, "}")
		value, given := values[name]
		if !given {
			return nil, aai.Errorf(aai.InvalidParams, "%s: expected a value", aai.CleanLabel(name, 60))
		}
		words, err := textOf(value)
		if err != nil {
			return nil, aai.Errorf(aai.InvalidParams, "%s: expected a text, a number, true or false", aai.CleanLabel(name, 60))
		}
		text.WriteString(words)
		rest = tail
	}
}

// textOf returns a value as text: a string as it is, other values as JSON.
func textOf(value any) (string, error) {
	if text, ok := value.(string); ok {
		return text, nil
	}
	if text, ok := numberText(value); ok {
		return text, nil
	}
	text, err := json.Marshal(value)
	return string(text), err
}

func invalid(field, expected, got string) *aai.Error {
	return aai.Errorf(aai.DescriptorInvalid, "%s: expected %s, got %q", field, expected, aai.CleanLabel(got, 100))
}

func stepField(i int, member string) string { return "script[" + strconv.Itoa(i) + "]." + member }
