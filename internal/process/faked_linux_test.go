package process_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/process"
)

// inNamespace starts a shell script as root of a user and mount namespace, which then executes
// the program, and returns its process id.
func inNamespace(t *testing.T, script, program string) int {
	t.Helper()
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", "set -e\n"+script, "sh", t.TempDir())
	var said strings.Builder
	cmd.Stderr = &said
	assert.NilError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	late := time.After(time.Minute)
	for process.Executable(cmd.Process.Pid) != program {
		select {
		case <-late:
			t.Fatalf("it runs %s", process.Executable(cmd.Process.Pid))
		case err := <-ended:
			t.Fatalf("%v: %s", err, said.String())
		case <-time.After(5 * time.Millisecond):
		}
	}
	return cmd.Process.Pid
}

// TestFakedFlatpak: a root with the file of Flatpak's is no app of it.
func TestFakedFlatpak(t *testing.T) {
	for _, program := range []string{"/app/agent", "/usr/bin/sleep"} {
		pid := inNamespace(t, `cd "$1"; mount -t tmpfs none .; cd "$1"
mkdir app usr old; mount --rbind /usr usr; ln -s usr/bin usr/lib usr/lib64 .
cp /usr/bin/sleep app/agent
printf '[Application]\nname=com.example.Agent\n' >.flatpak-info
pivot_root . old
exec `+program+` 1000`, program)
		assert.Check(t, is.Equal(process.FlatpakID(pid), ""), program)
		assert.Check(t, !process.SharesMountNamespace(pid), "it has the folders of this process")
	}
}

// TestRunsFile: a path in another mount namespace is not the path here.
func TestRunsFile(t *testing.T) {
	pid := inNamespace(t, `cp /usr/bin/sleep "$1/sleep"; mount --bind "$1/sleep" /usr/bin/sleep; exec /usr/bin/sleep 1000`, "/usr/bin/sleep")
	assert.Check(t, !process.RunsFile(pid, "/usr/bin/sleep"), "a program of its own passes for the system's")
	pid = inNamespace(t, `exec /usr/bin/sleep 1000`, "/usr/bin/sleep")
	assert.Check(t, process.RunsFile(pid, "/usr/bin/sleep"), "the system's program is not known any more")
}
