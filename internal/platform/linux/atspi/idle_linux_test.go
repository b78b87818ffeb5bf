package atspi

import (
	"os/exec"
	"strconv"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestIsAsleep checks that a process is idle while it waits, but not while a direct or indirect child
// works.
func TestIsAsleep(t *testing.T) {
	t.Parallel()
	for script, idle := range map[string]bool{
		"sleep 600; :":        true,
		"while :; do :; done": false,
		"sh -c 'sh -c \"while :; do :; done\"; :'; :": false,
	} {
		c := exec.CommandContext(t.Context(), "setsid", "sh", "-c", script)
		assert.NilError(t, c.Start())
		t.Cleanup(func() {
			_ = exec.Command("kill", "--", "-"+strconv.Itoa(c.Process.Pid)).Run()
			_ = c.Wait()
		})
		pid := c.Process.Pid
		for end := time.Now().Add(10 * time.Second); isAsleep(pid) != idle; time.Sleep(5 * time.Millisecond) {
			assert.Assert(t, !time.Now().After(end), "%q: idle is %v", script, !idle)
		}
		before := busyTime(pid)
		for range 20 { // it must stay idle
			assert.Equal(t, isAsleep(pid), idle, "%q %v", script, !idle)
		}
		assert.Check(t, !idle || busyTime(pid) == before, "%q: it worked", script)
		for end := time.Now().Add(10 * time.Second); !idle && busyTime(pid) == before; time.Sleep(5 * time.Millisecond) {
			assert.Assert(t, !time.Now().After(end), "%q: it never worked", script)
		}
	}
	assert.Check(t, !isAsleep(1<<30), "a process that does not exist is not known to be idle")
}
