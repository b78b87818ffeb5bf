//go:build !linux

package process

import "os"

// PeerIdentity returns "": this platform provides no certain identity.
func PeerIdentity(*os.File) string { return "" }

// HostChecker returns a function that returns false: the hosts are unknown on this platform.
func HostChecker(*os.File) func(pid int) bool { return func(int) bool { return false } }
