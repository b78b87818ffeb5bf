package sanitize

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
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
		if got := redactOne(c.text, c.secret); got != c.want {
			t.Errorf("%q without %q is %q, want %q", c.text, c.secret, got, c.want)
		}
	}
}

// A hidden value does not show, however it is written.
func TestHiddenDoesNotShow(t *testing.T) {
	h := Hide("hunter2")
	b, err := json.Marshal(map[string]any{"a": h})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(b), fmt.Sprint(h), fmt.Sprintf("%v %+v %#v %s %q", h, h, h, h, h)} {
		if strings.Contains(text, "hunter2") || !strings.Contains(text, Redacted) {
			t.Error(text)
		}
	}
	for value, want := range map[any]string{"a": "a", 1.5: "1.5", true: "true", nil: "null"} {
		if got := string(Hide(value).Bytes()); got != want {
			t.Errorf("%v: %s", value, got)
		}
	}
	if b := Hide(func() {}).Bytes(); b != nil {
		t.Errorf("%s", b)
	}
}
