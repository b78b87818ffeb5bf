//go:build !unix

package own

// These are not needed where FIFOs and devices are not files.
const (
	nonBlocking = 0
	onlyFolder  = 0
	asFolder    = ""
)
