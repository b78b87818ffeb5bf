package sanitize_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// copyOfTexts is MapTexts as a complete copy.
func copyOfTexts(value any, f func(string) string) any {
	switch of := value.(type) {
	case string:
		return f(of)
	case map[string]any:
		kept := map[string]any{}
		for name, item := range of {
			kept[f(name)] = copyOfTexts(item, f)
		}
		return kept
	case []any:
		kept := make([]any, len(of))
		for i, item := range of {
			kept[i] = copyOfTexts(item, f)
		}
		return kept
	}
	return value
}

// TestMapTexts checks that sharing unchanged parts gives what a complete copy gives, and that the
// original stays as it is.
func TestMapTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		var draw func(depth int) any
		draw = func(depth int) any {
			switch rapid.IntRange(0, 3+depth).Draw(t, "kind") {
			case 0:
				object := map[string]any{}
				for range rapid.IntRange(0, 4).Draw(t, "members") {
					object[text.Draw(t, "name")] = draw(depth + 1)
				}
				return object
			case 1:
				list := []any{}
				for range rapid.IntRange(0, 4).Draw(t, "elements") {
					list = append(list, draw(depth+1))
				}
				return list
			case 2:
				return true
			}
			return text.Draw(t, "text")
		}
		value := draw(0)
		before, err := json.Marshal(value)
		assert.NilError(t, err)
		// Each text becomes at most one other, so that no two names become one.
		swap := strings.NewReplacer("a", "b", "b", "a", "c", "x").Replace
		got, want := sanitize.MapTexts(value, swap), copyOfTexts(value, swap)
		assert.Assert(t, reflect.DeepEqual(got, want), "%s %v %v", before, got, want)
		after, err := json.Marshal(value)
		assert.NilError(t, err, "%s %s", before, after)
		assert.Equal(t, string(after), string(before), "%s %s", before, after)
	})
}
