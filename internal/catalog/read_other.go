//go:build !unix

package catalog

// nonBlocking is not needed where folders hold no FIFOs.
const nonBlocking = 0
