//go:build !benchmarks

package main

// newHostAccess is what the program stands on.
func newHostAccess() hostAccess { return realHostAccess() }
