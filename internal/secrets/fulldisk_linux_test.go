package secrets

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// fullDisk is a process in a mount namespace, in which the vault's parent is a disk of 3
// MB. It prints its observations.
const fullDisk = `
set -e
mount -t tmpfs -o size=3m none "$DISK"
"$SELF" put first secret
head -c 4m /dev/zero > "$DISK/filler" 2>/dev/null || true
if "$SELF" put second "$(head -c 20000 /dev/zero | tr '\0' x)" 2>"$OUT/error"; then echo "kept on a full disk"; fi
grep -q 'no space left on device' "$OUT/error" || cat "$OUT/error"
ls "$DISK/secrets" | grep '\.new$' || true
"$SELF" get first; echo
rm "$DISK/filler"
"$SELF" put second "again"
"$SELF" get second; echo
`

// TestFullDisk does the same with a real full disk. It needs a namespace; a user other
// than root gets one as the root of a user namespace.
func TestFullDisk(t *testing.T) {
	disk, out := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	assert.NilError(t, err)
	flags := []string{"--mount"}
	if os.Geteuid() != 0 {
		flags = append(flags, "--user", "--map-root-user")
	}
	cmd := exec.CommandContext(t.Context(), "unshare", append(flags, "sh", "-c", fullDisk)...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "SELF=" + self, "DISK=" + disk, "OUT=" + out,
		"KEYCHAIN_TEST_FOLDER=" + filepath.Join(disk, "secrets"), allowInsecureEnv, "XDG_RUNTIME_DIR=/nonexistent",
	}
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	want := "secret\nagain\n"
	assert.NilError(t, err)
	assert.Equal(t, said.String(), want)
}
