//go:build unix

package oauth

import (
	"os/exec"
	"runtime"
	"syscall"
)

// browserCommand returns the program that opens an address on macOS, or on a freedesktop system.
func browserCommand(address string) (name string, args []string) {
	if runtime.GOOS == "darwin" {
		return "open", []string{address}
	}
	return "xdg-open", []string{address}
}

// detachGroup protects the browser from interrupts of the gateway.
func detachGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
