package oauth_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/oauth"
)

// TestDigestsDiffer: no two lists of parts have one digest, however they are cut.
func TestDigestsDiffer(t *testing.T) {
	parts := rapid.SliceOfN(rapid.StringMatching(`[ab|\x00]{0,3}`), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		a, b := parts.Draw(t, "a"), parts.Draw(t, "b")
		if same := oauth.Digest(a...) == oauth.Digest(b...); same != slices.Equal(a, b) {
			t.Fatalf("%q and %q: %v", a, b, same)
		}
	})
}
