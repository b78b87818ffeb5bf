package main_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// mcpIdleMemory waits until a gateway that has listed its tools holds little of its program in memory.
// The start needs far more.
func mcpIdleMemory(t *testing.T, b programPath) {
	const most = 16 << 10 // kB; a busy machine reads some of it again
	p := b.home(t, nil).start(t).open()
	for path := fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid); ; time.Sleep(20 * time.Millisecond) {
		status, err := os.ReadFile(path)
		assert.NilError(t, err)
		_, rest, _ := strings.Cut(string(status), "RssFile:")
		var mapped int
		_, err = fmt.Sscanf(rest, "%d kB", &mapped)
		assert.NilError(t, err)
		if mapped < most {
			return // the test's timeout ends the wait
		}
	}
}
