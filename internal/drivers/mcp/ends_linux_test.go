package mcp_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"aai/internal/drivers/mcp"
)

// A server ends when nobody has used it for a while, whatever it would rather do, with all
// that it has started; and with its gateway.
func TestServersEnd(t *testing.T) {
	for name, idle := range map[string]time.Duration{"idle": 50 * time.Millisecond, "closed": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *mcp.Config) { c.Idle = idle })
			file := filepath.Join(w.folder, "pids")
			app := w.hostile(t, "stays", file)
			w.start(t, app)
			var self, child, daemon int
			b, err := os.ReadFile(file)
			if _, scan := fmt.Sscanf(string(b), "%d %d %d", &self, &child, &daemon); err != nil || scan != nil {
				t.Fatal(err, scan)
			}
			if name == "closed" {
				if syscall.Kill(self, 0) != nil || syscall.Kill(child, 0) != nil || gone(daemon) {
					t.Error("it does not run")
				}
				w.close(t)
			}
			for _, pid := range []int{self, child, daemon} {
				eventually(t, "the process ends", func() bool { return gone(pid) })
			}
		})
	}
}

// Whatever the gateway dies of, nothing of a server is left.
func TestServersEndWithAKilledGateway(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pids")
	gateway := exec.Command(self, asGateway, file)
	out, err := gateway.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "started <nil>\n" {
		t.Error(line, err)
	}
	b, err := os.ReadFile(file)
	var server, child, daemon int
	if _, scan := fmt.Sscanf(string(b), "%d %d %d", &server, &child, &daemon); err != nil || scan != nil || gone(server) || gone(child) || gone(daemon) {
		t.Errorf("%s %v %v", b, err, scan)
	}
	_ = gateway.Process.Kill()
	_ = gateway.Wait()
	for _, pid := range []int{server, child, daemon} {
		eventually(t, "the process ends", func() bool { return gone(pid) })
	}
}

// gone reports whether a process has ended, though nobody may have heard of it.
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(b), ") ")
	return err != nil || strings.HasPrefix(state, "Z")
}
