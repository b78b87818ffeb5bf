//go:build unix

package script

import (
	"os"
	"syscall"
)

// killed reports whether the system has ended the process, as it does when that has used
// its time of the processor.
func killed(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGXCPU || status.Signal() == syscall.SIGKILL)
}
