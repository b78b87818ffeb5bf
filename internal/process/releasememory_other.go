//go:build !linux

package process

import "runtime/debug"

// ReleaseMemory releases free heap.
func ReleaseMemory() { debug.FreeOSMemory() }
