package settings

import (
	"encoding/json"
	"strconv"
	"strings"

	"aai"
	"aai/internal/config"
)

// typed is a value of the setting's kind. A text is taken as people write such a value, at a
// terminal or in a form: whether the setting takes it, the configuration says.
func typed(d config.Description, value any) (any, error) {
	text, isText := value.(string)
	if !isText {
		return value, nil
	}
	trimmed := strings.TrimSpace(text)
	switch d.Kind {
	case config.KindTruth:
		b, err := strconv.ParseBool(trimmed)
		if err != nil {
			return nil, wrong(d, "true or false")
		}
		return b, nil
	case config.KindWhole, config.KindNumber:
		n, err := strconv.ParseFloat(trimmed, 64)
		if err != nil {
			return nil, wrong(d, "a number")
		}
		return n, nil
	case config.KindList:
		return list(d, trimmed)
	case config.KindMixed:
		if b, err := strconv.ParseBool(trimmed); err == nil {
			return b, nil
		}
		return list(d, trimmed)
	case config.KindObject:
		var object map[string]any
		if err := json.Unmarshal([]byte(trimmed), &object); err != nil || object == nil {
			return nil, wrong(d, "an object of JSON")
		}
		return object, nil
	}
	return text, nil
}

// list reads a list: of JSON, or a line for each.
func list(d config.Description, text string) (any, error) {
	items := []any{}
	if strings.HasPrefix(text, "[") {
		if err := json.Unmarshal([]byte(text), &items); err != nil {
			return nil, wrong(d, "a list of JSON")
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

func wrong(d config.Description, expected string) *aai.Error {
	e := invalid("%s: expected %s", d.Key, expected)
	e.Delivery, e.Hint = aai.NotDelivered, d.Key+": "+d.About+"."
	return e
}
