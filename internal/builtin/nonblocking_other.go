//go:build !unix

package builtin

// These are not needed on systems where FIFOs and devices are not files.
const (
	nonBlocking     = 0
	directoryOnly   = 0
	directorySuffix = ""
)
