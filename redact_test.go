package aai

import "testing"

// TestShortSecrets: a short secret is taken out where it stands by itself; out of
// the midst of words it would be told by what is left of them.
func TestShortSecrets(t *testing.T) {
	for _, c := range []struct{ text, secret, want string }{
		{`nothing matches "role:textbox"`, "x", `nothing matches "role:textbox"`},
		{`the text "x" was refused: x`, "x", `the text "[secret]" was refused: [secret]`},
		{"x", "x", "[secret]"},
		{"xx x2 x", "x", "xx x2 [secret]"},
		{"the pin is a1234b", "1234", "the pin is a[secret]b"},
		{"äxä ä", "ä", "äxä [secret]"},
	} {
		if got := without(c.text, c.secret); got != c.want {
			t.Errorf("%q without %q is %q, want %q", c.text, c.secret, got, c.want)
		}
	}
}
