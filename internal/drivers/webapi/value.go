package webapi

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/gybob/aai-gateway"
)

// scalarText returns the text of a string, a number or a boolean for a URL. Numbers are exact, as
// in JSON.
func scalarText(value any) (text string, ok bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		return v.String(), true
	case nil, []any, map[string]any:
		return "", false
	}
	spelled, err := json.Marshal(value)
	return string(spelled), err == nil
}

// describe returns the type of a value, but never the text of a string, which may be a secret.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case []any:
		return fmt.Sprintf("an array of %d", len(v))
	case map[string]any:
		return "an object"
	}
	return aai.CleanLabel(fmt.Sprint(v), 40)
}
