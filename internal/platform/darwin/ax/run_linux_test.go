//go:build !axdouble

package ax_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// TestAgainstDouble compiles the double of macOS and runs the tests that are built with the tag axdouble.
func TestAgainstDouble(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("gcc"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("gcc is missing")
		}
		t.Skip("gcc is missing: it compiles the double of macOS")
	}
	library := filepath.Join(t.TempDir(), "axdouble.so")
	sources, err := filepath.Glob("testdata/*.c")
	assert.NilError(t, err)
	out, err := exec.CommandContext(t.Context(), "gcc", append([]string{"-shared", "-fPIC", "-O1", "-o", library, "-lpthread"}, sources...)...).CombinedOutput()
	assert.NilError(t, err, "%s", out)
	cmd := exec.CommandContext(t.Context(), "go", "test", "-tags", "axdouble", "-count=1", "-timeout=300s", ".", "../quartz")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "AAI_AXDOUBLE="+library)
	out, err = cmd.CombinedOutput()
	assert.NilError(t, err, "%s", out)
	assert.Equal(t, bytes.Count(out, []byte("ok ")), 2, "not all tests ran: %s", out)
}
