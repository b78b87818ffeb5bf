package dbus

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
)

// placeholderOpen begins the name of a parameter in a template; "}" ends it.
const placeholderOpen = "${"

// slotsOf returns the arguments in wire order, without types: the fixed ones of the recipe,
// otherwise the parameters. Its error names the descriptor's field.
func slotsOf(fixed []json.RawMessage, params []string) ([]slot, error) {
	if fixed == nil {
		slots := make([]slot, len(params))
		for i, name := range params {
			slots[i].param = name
		}
		return slots, nil
	}
	slots := make([]slot, len(fixed))
	var used []string
	for i, raw := range fixed {
		field := "args[" + strconv.Itoa(i) + "]"
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var value any
		if err := d.Decode(&value); err != nil {
			return nil, invalid(field, "a JSON value", string(raw))
		}
		names, err := namesIn(field, value, params)
		if err != nil {
			return nil, err
		}
		used = append(used, names...)
		if text, ok := value.(string); ok && len(names) == 1 && text == placeholderOpen+names[0]+"}" {
			slots[i].param = names[0]
			continue
		}
		slots[i] = slot{param: field, template: value, fixed: true}
	}
	for _, name := range params {
		if !slices.Contains(used, name) {
			return nil, invalid("args", `"${`+name+`}" for the parameter, or no such parameter`, "neither")
		}
	}
	return slots, nil
}

// namesIn returns the parameters that a template names.
func namesIn(field string, value any, params []string) ([]string, error) {
	var names []string
	var bad error
	eachText(value, func(text string) {
		for rest := text; ; {
			_, after, found := strings.Cut(rest, placeholderOpen)
			if !found {
				return
			}
			name, tail, closed := strings.Cut(after, "}")
			if !closed || !slices.Contains(params, name) {
				bad = invalid(field, `"${param}" with the name of a parameter`, text)
				return
			}
			names, rest = append(names, name), tail
		}
	})
	return names, bad
}

// eachText calls f with every string of a JSON value.
func eachText(value any, f func(string)) {
	switch value := value.(type) {
	case string:
		f(value)
	case []any:
		for _, item := range value {
			eachText(item, f)
		}
	case map[string]any:
		for _, item := range value {
			eachText(item, f)
		}
	}
}

// resolveTemplate replaces the parameters of a template. A string that is only a placeholder becomes
// the value itself; a longer string contains the value as text. Values are data: resolveTemplate
// does not expand placeholders in them.
func resolveTemplate(template any, args map[string]any) (any, error) {
	switch template := template.(type) {
	case string:
		return resolveTemplateText(template, args)
	case []any:
		list := make([]any, len(template))
		for i, item := range template {
			v, err := resolveTemplate(item, args)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	case map[string]any:
		object := make(map[string]any, len(template))
		for name, item := range template {
			v, err := resolveTemplate(item, args)
			if err != nil {
				return nil, err
			}
			object[name] = v
		}
		return object, nil
	}
	return template, nil
}

func resolveTemplateText(template string, args map[string]any) (any, error) {
	var text strings.Builder
	for rest := template; ; {
		before, after, found := strings.Cut(rest, placeholderOpen)
		text.WriteString(before)
		if !found {
			return text.String(), nil
		}
		name, tail, _ := strings.Cut(after, "}")
		value, given := args[name]
		if !given {
			return nil, aai.Errorf(aai.InvalidParams, "%s: expected a value", aai.CleanLabel(name, 60))
		}
		if before == "" && tail == "" && text.Len() == 0 {
			return value, nil
		}
		switch value.(type) {
		case nil, []any, map[string]any:
			return nil, mismatch(parameter(name), "a text, a number, true or false", value)
		}
		words, err := textOf(value)
		if err != nil {
			return nil, mismatch(parameter(name), "a text, a number, true or false", value)
		}
		text.WriteString(words)
		rest = tail
	}
}
