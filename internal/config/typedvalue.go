package config

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
)

// parseTyped converts text, as typed at a terminal or in a form, to a value of the setting's
// kind. The setting itself validates the value.
func parseTyped(d Description, value any) (any, error) {
	text, isText := value.(string)
	if !isText {
		return value, nil
	}
	trimmed := strings.TrimSpace(text)
	switch d.Kind {
	case KindBool:
		b, err := strconv.ParseBool(trimmed)
		if err != nil {
			return nil, wrongKindError(d, "true or false")
		}
		return b, nil
	case KindInteger, KindNumber:
		n, err := strconv.ParseFloat(trimmed, 64)
		if err != nil {
			return nil, wrongKindError(d, "a number")
		}
		return n, nil
	case KindList:
		return parseList(d, trimmed)
	case KindMixed:
		if b, err := strconv.ParseBool(trimmed); err == nil {
			return b, nil
		}
		return parseList(d, trimmed)
	case KindObject:
		var object map[string]any
		if err := json.Unmarshal([]byte(trimmed), &object); err != nil || object == nil {
			return nil, wrongKindError(d, "an object of JSON")
		}
		return object, nil
	}
	return text, nil
}

// parseList reads a JSON list, or one item per line.
func parseList(d Description, text string) (any, error) {
	items := []any{}
	if strings.HasPrefix(text, "[") {
		if err := json.Unmarshal([]byte(text), &items); err != nil {
			return nil, wrongKindError(d, "a list of JSON")
		}
		return items, nil
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			items = append(items, line)
		}
	}
	return items, nil
}

func wrongKindError(d Description, expected string) *aai.Error {
	e := invalidParams("%s: expected %s", d.Key, expected)
	e.Delivery, e.Hint = aai.NotDelivered, d.Key+": "+d.Summary+"."
	return e
}
