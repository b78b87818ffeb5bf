//go:build !benchmarks

package main

// here is what the program stands on.
func here() grounds { return computer() }
