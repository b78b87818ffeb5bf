package childtest

import (
	"fmt"
	"os"
	"strings"
)

// Gone reports whether a process has ended, though nobody may have waited for it.
func Gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(b), ") ")
	return err != nil || strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X")
}
