package sanitize_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// TestSecretSetIsBounded: added secrets and the last of requests stay, and old proofs are dropped.
func TestSecretSetIsBounded(t *testing.T) {
	var s sanitize.SecretSet
	for i := range 100 {
		s.Add(fmt.Sprintf("line-of-a-key-%04d", i))
	}
	for i := range 1000 {
		request := &http.Request{URL: new(url.URL), Header: http.Header{"Authorization": {"Bearer the-token-of-the-app"}, "Dpop": {fmt.Sprintf("proof-number-%04d", i)}}}
		s.AddRequest(nil, "", request)
	}
	got := s.Redact("line-of-a-key-0000 the-token-of-the-app proof-number-0999 proof-number-0001 other")
	assert.Check(t, is.Equal(got, "[secret] [secret] [secret] proof-number-0001 other"))
}

// TestSecretSetOmitsFragments: a text with a part of a long key is omitted.
func TestSecretSetOmitsFragments(t *testing.T) {
	var s sanitize.SecretSet
	key := strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz", 20)
	s.Add(key)
	assert.Check(t, is.Equal(s.Redact("it begins with "+key[5:40]), sanitize.Omitted))
}

// TestSecretSetLines: each long line of a key is a secret too, and short values are none.
func TestSecretSetLines(t *testing.T) {
	var s sanitize.SecretSet
	s.Add("-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n", "on", "12345")
	for text, want := range map[string]string{
		"a MIIEvQIBADANBgkq b": "a [secret] b", "it is on, 12345": "it is on, 12345", "cut: MIIEvQIB…": "cut: [secret]…",
	} {
		assert.Check(t, is.Equal(s.Redact(text), want), "%q", text)
	}
	assert.Assert(t, s.IsIn([]byte("\x00h\x00k\x00i\x00G\x009\x00w\x000\x00B\x00A\x00Q\x00E\x00F\x00A\x00A\x00S\x00C")), "UTF-16 is not searched")
	assert.Assert(t, !s.IsIn([]byte("nothing")), "UTF-16 is not searched")
	got := fmt.Sprint(s.RedactValue(map[string]any{"a": []any{"hkiG9w0BAQEFAASC", 7}}))
	assert.Check(t, !strings.Contains(got, "hki"), got)
}
