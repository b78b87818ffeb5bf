//go:build !unix

package projectfile

// nonBlocking is zero, because FIFOs are not files on Windows.
const nonBlocking = 0
