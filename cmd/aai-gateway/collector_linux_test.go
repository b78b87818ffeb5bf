package main_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// mcpIdleMemory waits until a gateway that has listed its tools holds little of its program in memory.
// The start needs far more.
func mcpIdleMemory(t *testing.T, b programPath) {
	const most = 16 << 10 // kB; a busy machine reads some of it again
	p := b.home(t, nil).start(t).open()
	for path := fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid); ; time.Sleep(20 * time.Millisecond) {
		status, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(status), "RssFile:")
		var mapped int
		if _, err := fmt.Sscanf(rest, "%d kB", &mapped); err != nil {
			t.Fatal(err)
		}
		if mapped < most {
			return // the test's timeout ends the wait
		}
	}
}
