package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
	"gotest.tools/v3/assert"
)

// confinedMark is the environment variable of the confined process.
const confinedMark = "AAI_TEST_CONFINED"

// TestOnlyItsOwnThreads: when confined, Go can signal its own threads, and no other process.
func TestOnlyItsOwnThreads(t *testing.T) {
	if os.Getenv(confinedMark) != "" {
		runtime.LockOSThread()
		if err := confine(5); err != nil {
			fmt.Println("not confined:", err)
			os.Exit(1)
		}
		own := unix.Tgkill(unix.Getpid(), unix.Gettid(), 0)
		other := unix.Tgkill(unix.Getppid(), unix.Getppid(), 0)
		fmt.Println("own:", own, "other:", errors.Is(other, unix.EPERM))
		os.Exit(0)
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOnlyItsOwnThreads$")
	c.Env = []string{confinedMark + "=1"}
	out, err := c.CombinedOutput()
	want := "own: <nil> other: true\n"
	assert.NilError(t, err, "%q", out)
	assert.Equal(t, string(out), want, "%q", out)
}
