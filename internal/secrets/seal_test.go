package secrets

import (
	"bytes"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// TestWhatOthersKeepIsSealed checks that Seal uses the vault's key and binds to one ID.
func TestWhatOthersKeepIsSealed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secrets")
	if _, err := openVault(path).Open(t.Context(), "a", []byte("x")); err == nil {
		t.Error("opened without a vault")
	}
	box, err := openVault(path).Seal(t.Context(), "a", []byte("hunter2"))
	assert.NilError(t, err, "%q", box)
	assert.Assert(t, !bytes.Contains(box, []byte("hunter2")), "%q", box)
	v := openVault(path)
	content, err := v.Open(t.Context(), "a", box)
	assert.NilError(t, err, "%q", content)
	assert.Equal(t, string(content), "hunter2", "%q", content)
	_, err = v.Open(t.Context(), "b", box)
	assert.Check(t, err != nil, "opened as another")
	for i := range box {
		other := bytes.Clone(box)
		other[i] ^= 1
		_, err := v.Open(t.Context(), "a", other)
		assert.Check(t, err != nil, "opened with byte %d changed", i)
	}
	_, err = openVault(filepath.Join(t.TempDir(), "secrets")).Seal(t.Context(), "", nil)
	assert.Check(t, err != nil, "sealed without an id")
}
