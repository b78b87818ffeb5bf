//go:build !unix

package own

// nonBlocking is not needed where FIFOs are not files.
const nonBlocking = 0
