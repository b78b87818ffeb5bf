package sanitize

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestShortSecrets: a short secret is only removed as a separate word; within words, the rest
// would reveal it.
func TestShortSecrets(t *testing.T) {
	for _, c := range []struct{ text, secret, want string }{
		{`nothing matches "role:textbox"`, "x", `nothing matches "role:textbox"`},
		{`the text "x" was refused: x`, "x", `the text "[secret]" was refused: [secret]`},
		{"x", "x", "[secret]"},
		{"xx x2 x", "x", "xx x2 [secret]"},
		{"the pin is a1234b", "1234", "the pin is a[secret]b"},
		{"äxä ä", "ä", "äxä [secret]"},
	} {
		assert.Check(t, is.Equal(redactOne(c.text, c.secret), c.want), "%q %q", c.text, c.secret)
	}
}

// A hidden value does not show, however it is written.
func TestHiddenDoesNotShow(t *testing.T) {
	h := Hide("hunter2")
	b, err := json.Marshal(map[string]any{"a": h})
	assert.NilError(t, err)
	for _, text := range []string{string(b), fmt.Sprint(h), fmt.Sprintf("%v %+v %#v %s %q", h, h, h, h, h)} {
		assert.Assert(t, !strings.Contains(text, "hunter2"), text)
		assert.Assert(t, is.Contains(text, Redacted))
	}
	for value, want := range map[any]string{"a": "a", 1.5: "1.5", true: "true", nil: "null"} {
		assert.Check(t, is.Equal(string(Hide(value).Bytes()), want), value)
	}
	b = Hide(func() {}).Bytes()
	assert.Check(t, b == nil, b)
}
