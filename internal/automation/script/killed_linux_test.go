package script

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestNothingOutlivesTheGateway: child processes end with the gateway, however it dies.
func TestNothingOutlivesTheGateway(t *testing.T) {
	gateway := exec.CommandContext(t.Context(), "/proc/self/exe", gatewayMark)
	assert.NilError(t, gateway.Start())
	var kids []int
	for len(kids) == 0 || lastWord(kids[0]) != childMark || !usesProcessor(kids[0]) {
		time.Sleep(5 * time.Millisecond)
		kids = children(t, gateway.Process.Pid)
	}
	assert.NilError(t, gateway.Process.Kill())
	_ = gateway.Wait()
	for !testkit.HasExited(kids[0]) {
		time.Sleep(5 * time.Millisecond) // the test's timeout ends it
	}
}

// lastWord returns the last argument of a process.
func lastWord(pid int) string {
	b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	words := strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
	return words[len(words)-1]
}

// usesProcessor reports whether a process has used more processor time than its start takes.
func usesProcessor(pid int) bool {
	b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, after, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(after)
	if len(fields) < 12 {
		return false
	}
	ticks, _ := strconv.Atoi(fields[11])
	return ticks > 20
}

// TestTheChildIsConfined: the child has few permissions and inherits nothing.
func TestTheChildIsConfined(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "hidden-key")
	w := newWorld(t)
	_ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) // inherited by the test
	failed := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := w.do(ctx, `call("org.example.notes", "hang")`, nil)
		failed <- err
	}()
	<-w.began
	kids := children(t, os.Getpid())
	assert.Assert(t, is.Len(kids, 1))
	at := filepath.Join("/proc", strconv.Itoa(kids[0]))
	environ, err := os.ReadFile(filepath.Join(at, "environ"))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(environ, 0))
	cwd, _ := os.Readlink(filepath.Join(at, "cwd"))
	assert.Check(t, is.Equal(cwd, "/"))
	open, _ := filepath.Glob(filepath.Join(at, "fd", "*"))
	for _, fd := range open {
		what, _ := os.Readlink(fd)
		n := filepath.Base(fd)
		assert.Check(t, is.Equal((n <= "2"), strings.HasPrefix(what, "pipe:")), "%s %s", n, what)
		assert.Check(t, n <= "2" || strings.HasPrefix(what, "anon_inode:") || strings.HasPrefix(what, "/sys/fs/cgroup/"), "it has %s open: %s", n, what)
	}
	status, _ := os.ReadFile(filepath.Join(at, "status"))
	for _, line := range []string{"NoNewPrivs:\t1\n", "Seccomp:\t2\n"} {
		assert.Check(t, is.Contains(string(status), line), "its status lacks %q", line)
	}
	cancel()
	assert.Check(t, (<-failed) != nil, "it ended well")
}

// children returns the running children of this process.
func children(t testing.TB, of int) []int {
	t.Helper()
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(of) + "/task/*/children")
	var pids []int
	for _, task := range tasks {
		b, _ := os.ReadFile(task)
		for _, word := range strings.Fields(string(b)) {
			pid, _ := strconv.Atoi(word)
			pids = append(pids, pid)
		}
	}
	return pids
}
