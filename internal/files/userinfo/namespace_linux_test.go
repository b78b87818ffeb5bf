package userinfo

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

// TestRootOfANamespace: root of a user namespace is not the computer's root.
func TestRootOfANamespace(t *testing.T) {
	const within = "TEST_ROOT_OF_A_NAMESPACE"
	if os.Getenv(within) != "" {
		if err := checkInitialRoot(); os.Geteuid() != 0 || err == nil {
			t.Errorf("user %d counts as the computer's root: %v", os.Geteuid(), err)
		}
		return
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestRootOfANamespace$")
	cmd.Env = append(os.Environ(), within+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	assert.Check(t, err, out)
}
