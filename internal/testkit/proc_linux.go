package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ProcessesWithEnv returns the folders in /proc of all processes with the text in their environment.
func ProcessesWithEnv(t TB, text string) (folders []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatalf("%v", err)
	}
	return slices.DeleteFunc(all, func(folder string) bool {
		environ, err := os.ReadFile(filepath.Join(folder, "environ"))
		return err != nil || !strings.Contains(string(environ), text) // ended, or owned by another user
	})
}

// HasExited reports whether a process has ended, also before its parent has waited for it.
func HasExited(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(b), ") ")
	return err != nil || strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X")
}
