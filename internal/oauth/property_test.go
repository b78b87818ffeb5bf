package oauth_test

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/oauth"
)

// TestDigestsDiffer: different lists of parts have different digests, however they are split.
func TestDigestsDiffer(t *testing.T) {
	parts := rapid.SliceOfN(rapid.StringMatching(`[ab|\x00]{0,3}`), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		a, b := parts.Draw(t, "a"), parts.Draw(t, "b")
		assert.Equal(t, oauth.Digest(a...) == oauth.Digest(b...), slices.Equal(a, b), "%q %q", a, b)
	})
}
