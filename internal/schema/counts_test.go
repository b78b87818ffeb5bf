package schema

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestCountsOfTokens: messages show a number of tokens, but no value that could be a token.
func TestCountsOfTokens(t *testing.T) {
	source := []byte(`{"type":"object","required":["max_tokens"],"properties":{
		"max_tokens":{"type":"integer","maximum":10},"tokens":{"type":"array"},"otp_tokens":{"type":"integer","maximum":10}}}`)
	facts, err := new(Reader).Read(source)
	s, secret := facts.Schema, facts.SecretNames
	assert.NilError(t, err)
	assert.Check(t, slices.Equal(secret, []string{"otp_tokens", "tokens"}), "secret are %q", secret)
	for args, want := range map[string]string{"max_tokens": "got 4711", "otp_tokens": "(not shown)"} {
		_, err := s.Check(map[string]any{"max_tokens": int64(5), args: int64(4711)})
		assert.Check(t, is.ErrorContains(err, want), args)
	}
	_, err = s.Check(map[string]any{"max_tokens": "4711"})
	assert.Check(t, is.ErrorContains(err, "4711"), "a number in writing: %v", err)
	_, err = s.Check(map[string]any{"max_tokens": "hunter2"})
	assert.Assert(t, err != nil, err)
	assert.Assert(t, !strings.Contains(err.Error(), "hunter2"), err)
}
