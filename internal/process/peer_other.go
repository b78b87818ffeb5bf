//go:build !linux && !windows

package process

import "os"

// PeerIdentity returns "": this platform provides no certain identity.
func PeerIdentity(*os.File) string { return "" }

// HostChecker returns a function that reports whether a process hosts this one, as a parent or as the
// program at the other end of its input. On this platform that is unknown, and it returns false.
func HostChecker(*os.File) func(pid int) bool { return func(int) bool { return false } }
