package schema

import (
	"slices"
	"strings"
	"testing"
)

// TestCountsOfTokens: messages show a number of tokens, but no value that could be a token.
func TestCountsOfTokens(t *testing.T) {
	source := []byte(`{"type":"object","required":["max_tokens"],"properties":{
		"max_tokens":{"type":"integer","maximum":10},"tokens":{"type":"array"},"otp_tokens":{"type":"integer","maximum":10}}}`)
	facts, err := new(Reader).Read(source)
	s, secret := facts.Schema, facts.SecretNames
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(secret, []string{"otp_tokens", "tokens"}) {
		t.Errorf("secret are %q", secret)
	}
	for args, want := range map[string]string{"max_tokens": "got 4711", "otp_tokens": "(not shown)"} {
		_, err := s.Check(map[string]any{"max_tokens": int64(5), args: int64(4711)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	if _, err := s.Check(map[string]any{"max_tokens": "4711"}); err == nil || !strings.Contains(err.Error(), "4711") {
		t.Errorf("a number in writing: %v", err)
	}
	if _, err := s.Check(map[string]any{"max_tokens": "hunter2"}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}
