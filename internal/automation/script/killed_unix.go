//go:build unix

package script

import (
	"os"
	"syscall"
)

// killed reports whether the system killed the process, as it does when the processor time is used
// up.
func killed(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGXCPU || status.Signal() == syscall.SIGKILL)
}
