package schema_test

import (
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// A value that is not known yet fits whatever is wanted of it; all that is known must fit.
func TestPlaceholders(t *testing.T) {
	s := schema.MustParse(`{"type": "object", "additionalProperties": false, "required": ["name", "kind"], "properties": {
		"name": {"type": "string", "minLength": 3, "pattern": "^[a-z]+$"}, "kind": {"enum": ["a", "b"]}, "n": {"type": "integer", "default": 4},
		"list": {"type": "array", "items": {"type": "string"}, "uniqueItems": true, "contains": {"const": "x"}},
		"either": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"x": {"type": "integer"}}}]},
		"one": {"oneOf": [{"type": "string"}, {"type": "integer"}]}, "fixed": {"const": {"x": 1}}}}`)
	hole := aai.Placeholder{Label: "‹step 1›"}
	for name, c := range map[string]struct {
		value map[string]any
		wrong string
	}{
		"all":              {map[string]any{"name": hole, "kind": hole, "n": hole, "list": hole, "either": hole, "one": hole, "fixed": hole}, ""},
		"within":           {map[string]any{"name": "abc", "kind": "a", "list": []any{hole, "x", hole}, "either": map[string]any{"x": hole}, "fixed": map[string]any{"x": hole}}, ""},
		"another is wrong": {map[string]any{"name": hole, "kind": "c"}, "kind"},
		"missing":          {map[string]any{"name": hole}, "kind: missing"},
		"unknown":          {map[string]any{"name": hole, "kind": hole, "more": hole}, "more"},
		"beside it":        {map[string]any{"name": "abc", "kind": "a", "list": []any{hole, 3}}, "list"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := s.Check(c.value)
			switch {
			case c.wrong == "" && err != nil:
				t.Error(err)
			case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
				t.Errorf("%v, expected a word of %s", err, c.wrong)
			case err == nil && got.(map[string]any)["name"] != c.value["name"]:
				t.Errorf("got %v", got)
			}
		})
	}
}
