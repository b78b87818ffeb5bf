//go:build unix

package secrets

import (
	"os"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// TestRecallSeesTheMode checks that a cached record is refused while other users may
// access it, and read again afterwards.
func TestRecallSeesTheMode(t *testing.T) {
	v := newVault(t)
	put(t, v, "a", "first")
	path := theRecord(t, v)
	for _, mode := range []os.FileMode{0o640, 0o604, 0o602, 0o660} {
		makeOld(t, path)
		has(t, v, "a", "first")
		assert.Assert(t, isRemembered(v, path), "a file that is settled is not remembered")
		assert.NilError(t, os.Chmod(path, mode))
		if b, err := v.Get(t.Context(), "a"); err == nil {
			t.Errorf("%v: %q", mode, b)
		} else {
			refuses(t, err, aai.AutomationFailed)
		}
		assert.NilError(t, os.Chmod(path, 0o600))
		has(t, v, "a", "first")
	}
}
