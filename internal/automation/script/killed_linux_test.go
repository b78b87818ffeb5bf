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

	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestNothingOutlivesTheGateway: child processes end with the gateway, however it dies.
func TestNothingOutlivesTheGateway(t *testing.T) {
	gateway := exec.CommandContext(t.Context(), "/proc/self/exe", gatewayMark)
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	var kids []int
	for len(kids) == 0 || lastWord(kids[0]) != childMark || !usesProcessor(kids[0]) {
		time.Sleep(5 * time.Millisecond)
		kids = children(t, gateway.Process.Pid)
	}
	if err := gateway.Process.Kill(); err != nil {
		t.Fatal(err)
	}
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
	if len(kids) != 1 {
		t.Fatalf("children: %v", kids)
	}
	at := filepath.Join("/proc", strconv.Itoa(kids[0]))
	if environ, err := os.ReadFile(filepath.Join(at, "environ")); err != nil || len(environ) > 0 {
		t.Errorf("its environment is %q, %v", environ, err)
	}
	if cwd, _ := os.Readlink(filepath.Join(at, "cwd")); cwd != "/" {
		t.Errorf("it is in %s", cwd)
	}
	open, _ := filepath.Glob(filepath.Join(at, "fd", "*"))
	for _, fd := range open {
		what, _ := os.Readlink(fd)
		if n := filepath.Base(fd); (n <= "2") != strings.HasPrefix(what, "pipe:") || n > "2" && !strings.HasPrefix(what, "anon_inode:") && !strings.HasPrefix(what, "/sys/fs/cgroup/") {
			t.Errorf("it has %s open: %s", n, what)
		}
	}
	status, _ := os.ReadFile(filepath.Join(at, "status"))
	for _, line := range []string{"NoNewPrivs:\t1\n", "Seccomp:\t2\n"} {
		if !strings.Contains(string(status), line) {
			t.Errorf("its status lacks %q", line)
		}
	}
	cancel()
	if err := <-failed; err == nil {
		t.Error("it ended well")
	}
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
