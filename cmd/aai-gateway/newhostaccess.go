//go:build !benchmarks

package main

// newHostAccess returns the host access of the program.
func newHostAccess() hostAccess { return realHostAccess() }
