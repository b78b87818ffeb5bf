//go:build !unix

package catalog

// nonBlocking is not needed on systems without FIFOs in folders.
const nonBlocking = 0
