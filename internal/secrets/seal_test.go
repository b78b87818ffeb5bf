package secrets

import (
	"bytes"
	"path/filepath"
	"testing"
)

// TestWhatOthersKeepIsSealed checks that Seal uses the vault's key and binds to one ID.
func TestWhatOthersKeepIsSealed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secrets")
	if _, err := openVault(path).Open(t.Context(), "a", []byte("x")); err == nil {
		t.Error("opened without a vault")
	}
	box, err := openVault(path).Seal(t.Context(), "a", []byte("hunter2"))
	if err != nil || bytes.Contains(box, []byte("hunter2")) {
		t.Fatalf("%q, %v", box, err)
	}
	v := openVault(path)
	if content, err := v.Open(t.Context(), "a", box); err != nil || string(content) != "hunter2" {
		t.Errorf("%q, %v", content, err)
	}
	if _, err := v.Open(t.Context(), "b", box); err == nil {
		t.Error("opened as another")
	}
	for i := range box {
		other := bytes.Clone(box)
		other[i] ^= 1
		if _, err := v.Open(t.Context(), "a", other); err == nil {
			t.Errorf("opened with byte %d changed", i)
		}
	}
	if _, err := openVault(filepath.Join(t.TempDir(), "secrets")).Seal(t.Context(), "", nil); err == nil {
		t.Error("sealed without an id")
	}
}
