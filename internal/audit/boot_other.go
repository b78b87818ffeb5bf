//go:build !linux && !darwin

package audit

// bootID returns zero: Windows has no boot ID, and none is known for other systems.
func bootID() [16]byte { return [16]byte{} }
