//go:build !unix

package builtin

// The flags for opening files have no effect on systems where FIFOs and devices are not files.
const (
	nonBlocking     = 0
	directoryOnly   = 0
	directorySuffix = ""
)
